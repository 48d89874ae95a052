"""The open language models, and the run that they are predicted in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from predictor.core.text import printable
from predictor.services.generation.records import Generation, GenerationRequest
from predictor.services.serving.records import Limits, Load

if TYPE_CHECKING:
    from predictor.presentation.prediction_rows import PredictionRow
    from predictor.services.models.language import LanguageModel


@dataclass(frozen=True, slots=True)
class LanguageEntry:
    """A language model that is open, and the formats that it runs in.

    Attributes:
        model: as its files describe it.
        weights: name of a format; empty for that of its file, or the usual one of the runtime.
        kv_precision: of the KV cache.
        place: orders the entries.
    """

    model: LanguageModel
    weights: str = ""
    kv_precision: str = "fp16"
    place: int = 0

    @property
    def path(self) -> str:
        """Path of its file: an entry has one that no other has."""
        return self.model.path


def common(request: GenerationRequest) -> GenerationRequest:
    """Return what a run has in common with those of other models: all but its formats."""
    usual = GenerationRequest()
    return replace(request, weights=usual.weights, kv_precision=usual.kv_precision)


@dataclass(frozen=True, slots=True)
class LanguageState:
    """All that the user chose; an undo step goes from one state to another.

    Attributes:
        entries: the open models, in the order in which they were opened.
        run: of all of them, but for the formats, which each entry has.
        rate_per_s: requests a second; None where no load is looked at.
        limits: what users bear.
    """

    entries: tuple[LanguageEntry, ...] = ()
    run: GenerationRequest = field(default_factory=GenerationRequest)
    rate_per_s: float | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def labels(self) -> dict[str, str]:
        """A name for each path that no other has: with the file's where two models share one."""
        counts = Counter(entry.model.architecture.name for entry in self.entries)
        labels: dict[str, str] = {}
        for entry in self.entries:
            name = label = entry.model.architecture.name
            if counts[name] > 1:
                label = f"{name} ({printable(Path(entry.path).name)})"
            is_used = label in labels.values()
            labels[entry.path] = f"{name} ({entry.place + 1})" if is_used else label
        return labels

    def entry(self, path: str) -> LanguageEntry | None:
        """Return the entry of a path; None where it is not open."""
        return next((entry for entry in self.entries if entry.path == path), None)

    def request(self, entry: LanguageEntry) -> GenerationRequest:
        """Return the run of an entry."""
        return replace(self.run, weights=entry.weights, kv_precision=entry.kv_precision)

    def load(self, entry: LanguageEntry) -> Load:
        """Return the load on a device; at a usual rate where none is stated."""
        run = replace(self.request(entry), batch=1, context=0)
        return Load(run=run, rate_per_s=self.rate_per_s or 1.0, limits=self.limits, requests=4000)

    def opened(self, model: LanguageModel) -> LanguageState:
        """Return the state with a model in the formats of its file; its context holds the run."""
        place = 1 + max((entry.place for entry in self.entries), default=-1)
        entry = LanguageEntry(model, model.weights, model.kv_precision, place)
        return replace(self.joined(entry), run=self.run.fitted(model.architecture.max_context))

    def joined(self, entry: LanguageEntry) -> LanguageState:
        """Return the state with an entry, in the place of one of the same path where there is."""
        same = self.entry(entry.path)
        further = [other for other in self.entries if other is not same]
        entry = entry if same is None else replace(entry, place=same.place)
        entries = sorted([*further, entry], key=lambda one: one.place)
        return replace(self, entries=tuple(entries))

    def closed(self, paths: Sequence[str]) -> LanguageState:
        """Return the state without the models of some paths."""
        return replace(self, entries=tuple(e for e in self.entries if e.path not in paths))

    def with_run(self, path: str, request: GenerationRequest) -> LanguageState:
        """Return the state with another run; its formats are those of one model alone."""
        entries = tuple(
            replace(entry, weights=request.weights, kv_precision=request.kv_precision)
            if entry.path == path
            else entry
            for entry in self.entries
        )
        return replace(self, entries=entries, run=common(request))


@dataclass(frozen=True, slots=True)
class LanguageResults:
    """One model on the ticked devices.

    Attributes:
        label: of the model.
        results: one a device.
        rows: the results as rows of the comparison, in its order.
        answer: what they come to, in a sentence.
        message: why there are none, in a sentence.
    """

    label: str
    results: Sequence[Generation] = ()
    rows: Sequence[PredictionRow] = ()
    answer: str = ""
    message: str = ""
