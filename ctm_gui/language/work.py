"""Predictions, curves and reports of the open language models, off the window's thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ctm_gui.language.curves import Along, Curve, curve_of, rate_curve
from ctm_gui.language.rows import answer
from ctm_gui.language.state import LanguageEntry, LanguageResults, LanguageState
from ctm_gui.language.token_rows import token_rows
from predictor.core.errors import CtmError, InputError
from predictor.core.records import Device, TargetId
from predictor.cost.engine import TargetMeasurements
from predictor.services.generation.generate import generate
from predictor.services.generation.probes import DecodeProbe, decode_probes
from predictor.services.generation.records import Generation, MeasuredRate
from predictor.services.models.language import LanguageModel
from predictor.services.serving.records import LanguageRun, Serving
from predictor.services.serving.serve import Measured, serve


@dataclass(frozen=True, eq=False, kw_only=True)
class LanguageWork:
    """The open models with all that their numbers follow from, as they are now.

    Attributes:
        state: models, run and load.
        devices: of whom there may be probes.
        rates: tokens a second that the user measured.
        probings: what was probed by target.
    """

    state: LanguageState
    devices: Sequence[Device]
    rates: tuple[MeasuredRate, ...]
    probings: Mapping[TargetId, TargetMeasurements]

    @cached_property
    def _probes(self) -> list[DecodeProbe]:
        return decode_probes(self.probings, self.devices)

    def generated(self, entry: LanguageEntry) -> list[Generation]:
        """Return a model on the devices.

        Raises:
            InputError: its context does not hold the run.
        """
        model, request = self._named(entry), self.state.request(entry)
        return generate(
            model.architecture, self.devices, request, self.rates, self._probes, model.stored
        )

    def labelled(self, label: str) -> Callable[[], list[Generation]]:
        """Return the work of ``generated`` for the model of a label, which is open."""
        path = next(path for path, name in self.state.labels.items() if name == label)
        (entry,) = (entry for entry in self.state.entries if entry.path == path)
        return partial(self.generated, entry)

    def results(self) -> dict[str, LanguageResults]:
        """Return each model on the devices by its path; the reason where there is no number."""
        made: dict[str, LanguageResults] = {}
        for entry in self.state.entries:
            label = self.state.labels[entry.path]
            try:
                results = self.generated(entry)
            except InputError as error:
                made[entry.path] = LanguageResults(label, message=str(error))
                continue
            rows, words = token_rows(results), answer(results)
            made[entry.path] = LanguageResults(label, results, rows, words)
        return made

    def runs(self) -> tuple[LanguageRun, ...]:
        """Return the runs for a report; a model without a number is left out."""
        made = (self._run(entry) for entry in self.state.entries)
        return tuple(run for run in made if run is not None)

    def curves(
        self, entry: LanguageEntry, devices: Sequence[Device], along: Along
    ) -> tuple[tuple[Curve, ...], Serving | None]:
        """Return curves of a model on devices, and how the first one serves the load.

        Raises:
            InputError: the load is out of range.
        """
        lines = (self._curve(entry, device, along) for device in devices)
        served = self._served(entry, devices[:1])
        return tuple(line for line in lines if line is not None), (served[0] if served else None)

    def _run(self, entry: LanguageEntry) -> LanguageRun | None:
        architecture, request = self._named(entry).architecture, self.state.request(entry)
        try:
            served = self._served(entry, self.devices)
            return LanguageRun(architecture, request, self.generated(entry), served)
        except CtmError:
            return None  # its page says why

    def _curve(self, entry: LanguageEntry, device: Device, along: Along) -> Curve | None:
        if along is Along.RATE:
            load = self.state.load(entry)
            return rate_curve(entry.model, device, load, self.rates, self._probes)
        request = self.state.request(entry)
        return curve_of(entry.model, device, request, along, self.rates, self._probes)

    def _served(self, entry: LanguageEntry, devices: Sequence[Device]) -> Sequence[Serving]:
        if self.state.rate_per_s is None:
            return ()
        of_user = Measured(self.rates, self._probes)
        model, load = self._named(entry), self.state.load(entry)
        return serve(model.architecture, devices, load, of_user, model.stored)

    def _named(self, entry: LanguageEntry) -> LanguageModel:
        """Return a model under the name that no other one has."""
        name = self.state.labels[entry.path]
        return replace(entry.model, architecture=replace(entry.model.architecture, name=name))
