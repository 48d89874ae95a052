"""The state of the window of a language model: its run, the results by device, curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Signal

from ctm_gui.targets.choice import TargetSelection
from ctm_gui.widgets.grid import Grid, number_column, text_column
from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.core.units import GIB
from predictor.core.wording import memory_text, shown
from predictor.services.generation.document import size_of
from predictor.services.generation.generate import (
    Generation,
    GenerationRequest,
    Interval,
    generate,
)
from predictor.services.models.language import LanguageModel

_POINTS: Final = 24
_MOST_BATCH: Final = 64


class Along(StrEnum):
    """What a curve goes along."""

    CONTEXT = "context"
    PROMPT = "prompt"
    BATCH = "batch"


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Numbers of one device along one count of the run.

    Attributes:
        along: the count.
        at: its values, float64 [P].
        median, low, high: of tokens a second, along the prompt of ms to the first token,
            float64 [P].
    """

    along: Along
    at: npt.NDArray[np.float64]
    median: npt.NDArray[np.float64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]


class GenerationPresenter(QObject):
    """One language model on the ticked devices.

    ``changed`` is emitted when the results are others, ``opened`` when the model is.

    Args:
        selection: the ticked devices.
        parent: owner.
    """

    changed = Signal()
    opened = Signal()

    def __init__(self, selection: TargetSelection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self.model: LanguageModel | None = None
        self.request = GenerationRequest()
        self.results: Sequence[Generation] = ()
        self.problem = ""
        selection.changed.connect(self._predict)

    @property
    def size(self) -> str:
        """Name and size of the model in words."""
        if self.model is None:
            return ""
        architecture = self.model.architecture
        context = f"context of {architecture.max_context:,} tokens"
        return f"{shown(architecture.name)}: {size_of(architecture)}, {context}"

    def open(self, model: LanguageModel) -> None:
        """Show another model, in the format that its file has."""
        self.model = model
        weights = model.recognised.weights if model.recognised else ""
        self.request = replace(self.request, weights=weights)
        self.opened.emit()
        self._predict()

    def ask(self, request: GenerationRequest) -> None:
        """Predict another run."""
        if request != self.request:
            self.request = request
            self._predict()

    def curve(self, device: Device, along: Along) -> Curve | None:
        """Return the numbers of a device along a count; None where it has none."""
        if self.model is None:
            return None
        architecture, request = self.model.architecture, self.request
        most = architecture.max_context
        if along is Along.BATCH:
            counts = [n for n in range(1, _MOST_BATCH + 1) if n & (n - 1) == 0]
            runs = [replace(request, batch=n) for n in counts]
        elif along is Along.PROMPT:
            counts = _steps(most - request.new)
            runs = [replace(request, prompt=n, context=0) for n in counts]
        else:
            counts = _steps(most)
            runs = [replace(request, context=n, prompt=1, new=1) for n in counts]
        try:
            points = [generate(architecture, [device], run)[0] for run in runs]
        except InputError:
            return None
        times = [p.first_token if along is Along.PROMPT else p.token for p in points]
        known = [time for time in times if time is not None]
        if len(known) < len(times):
            return None
        return _curve(along, counts, known, [run.batch for run in runs])

    def _predict(self) -> None:
        self.results, self.problem = (), ""
        if self.model is not None:
            devices = self._selection.selected
            try:
                self.results = generate(self.model.architecture, devices, self.request)
            except InputError as error:
                self.problem = str(error)
            if not devices:
                self.problem = "Tick a device to see how fast it generates."
        self.changed.emit()


def _steps(most: int) -> list[int]:
    """Return counts up to ``most``, each some larger than the one before."""
    counts = np.geomspace(1, max(most, 1), _POINTS).round().astype(int)
    return sorted(set(counts.tolist()))


def _curve(
    along: Along, counts: Sequence[int], times: Sequence[Interval], batches: Sequence[int]
) -> Curve:
    low, median, high = (
        np.array([getattr(time, name) for time in times]) for name in ("low", "median", "high")
    )
    at = np.array(counts, np.float64)
    if along is Along.PROMPT:
        return Curve(along, at, median, low, high)
    tokens = 1000 * np.array(batches, np.float64)
    return Curve(along, at, tokens / median, tokens / high, tokens / low)


def generation_grid(results: Sequence[Generation]) -> Grid:
    """Return a row a device."""
    first = [each.first_token for each in results]
    token = [each.token for each in results]
    rates = [each.decode_tokens_per_s for each in results]
    batch = [each.request.batch for each in results]
    slow, fast, most = (
        [
            None if time is None else 1000 * n / getattr(time, name)
            for time, n in zip(token, batch, strict=True)
        ]
        for name in ("high", "low", "bound")
    )
    return Grid(
        len(results),
        [
            text_column("device", "Device", [shown(each.device.name) for each in results]),
            text_column("runtime", "Runtime", [each.runtime or "—" for each in results]),
            text_column("weights", "Weights", [each.weights for each in results]),
            number_column(
                "first",
                "First (ms)",
                [None if each is None else each.median for each in first],
                "Time from the prompt to the first token.",
            ),
            number_column("tokens", "Tokens/s", rates, "New tokens a second of all sequences."),
            number_column("slow", "at least", slow, "Lower end of the 80 % interval."),
            number_column("fast", "at most", fast, "Upper end of the 80 % interval."),
            number_column("bound", "Bound", most, "Tokens a second that physics allows."),
            number_column("memory", "Memory (GiB)", [e.memory.total / GIB for e in results]),
            text_column("fits", "Fits", [memory_text(each.fits) for each in results]),
            number_column(
                "context",
                "Context",
                [each.longest_context for each in results],
                "Longest context of a sequence that the memory holds, in tokens.",
                lambda value: "—" if value is None else f"{value:,.0f}",
            ),
        ],
    )


def details(each: Generation) -> str:
    """Return what a row rests on, a sentence a line."""
    if each.token is None or each.first_token is None:
        return each.problem
    lines = [
        f"Prompt bound by {each.first_token.binds}, tokens bound by {each.token.binds}.",
        f"{each.basis}: {each.evidence}.",
    ]
    if each.usable is not None:
        lines.append(f"Memory that it may take: {each.usable.assumption}.")
    if each.fits is False:
        lines.append("It does not fit: the rates are those that it would have if it did.")
    return "\n".join(lines)
