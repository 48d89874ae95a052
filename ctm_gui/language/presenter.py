"""The state of the Language tab: model, run, what was measured; results and curves of devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui.targets.choice import TargetSelection
from ctm_gui.tasks.serial import OneTask, SerialWorker
from ctm_gui.tasks.store_client import OwnMeasurements, StoreClient, StoreRunner
from ctm_gui.undo import push_change
from predictor.core.errors import CtmError
from predictor.core.records import Device
from predictor.presentation.wording import number, shown
from predictor.services.generation.records import (
    Generation,
    GenerationRequest,
    MeasuredRate,
)
from predictor.services.serving.records import LanguageRun, Limits, Load, Serving

if TYPE_CHECKING:
    from ctm_gui.language.curves import Along, Curve
    from predictor.services.generation.probes import DecodeProbe
    from predictor.services.history.history import History
    from predictor.services.models.language import LanguageModel

NOTHING_YET = (
    "Drop the config.json of a language model from Hugging Face on this window, its GGUF file, or "
    "its decoder in ONNX: tokens a second and memory of the ticked devices are shown here."
)
NO_DEVICE = "Tick a device to see how fast it generates."
WORKING = "Working out tokens a second…"


@dataclass(frozen=True, slots=True)
class LanguageState:
    """All that the user chose; an undo step goes from one state to another.

    Attributes:
        model: that is open; None at first.
        request: the run.
        rate_per_s: requests a second; None where no load is looked at.
        limits: what users bear.
    """

    model: LanguageModel | None = None
    request: GenerationRequest = field(default_factory=GenerationRequest)
    rate_per_s: float | None = None
    limits: Limits = field(default_factory=Limits)

    @property
    def load(self) -> Load:
        """The load on a device; a usual rate where none is stated."""
        run = replace(self.request, batch=1, context=0)
        return Load(run=run, rate_per_s=self.rate_per_s or 1.0, limits=self.limits, requests=4000)


class LanguagePresenter(StoreClient):
    """One language model on the ticked devices; works while its tab is looked at.

    ``state_changed`` is emitted when ``state`` is another, ``results_changed`` when ``results`` and
    ``message`` are, ``curves_changed`` when ``curves`` and ``serving`` are.

    Attributes:
        measured: the user's rates by the device's id, as the store keeps them.

    Args:
        run: runs work with the open store.
        selection: the ticked devices.
        user_measurements: the user's measurements, of which probes count.
        worker: the thread that predictions are made on.
        undo_stack: gets a step for each choice of the user's.
        parent: owner.
    """

    state_changed = Signal()
    results_changed = Signal()
    curves_changed = Signal()

    def __init__(
        self,
        run: StoreRunner,
        selection: TargetSelection,
        user_measurements: OwnMeasurements,
        worker: SerialWorker,
        undo_stack: QUndoStack,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(run, parent)
        self._selection, self._user_measurements = selection, user_measurements
        self._undo_stack = undo_stack
        self._task, self._curves_task = OneTask(worker), OneTask(worker)
        self._active, self._stale = False, True
        self.state = LanguageState()
        self.measured: Mapping[str, MeasuredRate] = {}
        self.results: Sequence[Generation] = ()
        self.message = NOTHING_YET
        self.curves: Sequence[Curve] = ()
        self.serving: Serving | None = None
        selection.changed.connect(self._refresh)
        user_measurements.changed.connect(self._refresh)

    @property
    def settled(self) -> bool:
        """Whether results and curves are those of the present state."""
        return not (self._task.busy or self._curves_task.busy or self.busy)

    @property
    def size(self) -> str:
        """Name and size of the model in words."""
        if self.state.model is None:
            return ""
        architecture = self.state.model.architecture
        from predictor.services.generation.document import size_of

        context = f"context of {architecture.max_context:,} tokens"
        return f"{shown(architecture.name)}: {size_of(architecture)}, {context}"

    def run(self) -> Callable[[], LanguageRun | None]:
        """Return work that predicts the present run for a report, None without a number."""
        from predictor.services.serving.serve import Measured, serve

        model, request, devices = self.state.model, self.state.request, self._devices()
        if model is None or not devices:
            return lambda: None
        work, state = self.work_on(devices), self.state
        of_user = Measured(tuple(self.measured.values()), self._probes(devices))

        def served() -> Sequence[Serving]:
            if state.rate_per_s is None:
                return ()
            return serve(model.architecture, devices, state.load, of_user, model.stored)

        def run() -> LanguageRun | None:
            try:
                return LanguageRun(model.architecture, request, work(), served())
            except CtmError:
                return None  # the tab says why

        return run

    def open(self, model: LanguageModel) -> None:
        """Show another model, in the formats that its file has."""
        request = replace(
            self.state.request, weights=model.weights, kv_precision=model.kv_precision
        )
        fitted = request.fitted(model.architecture.max_context)
        state = replace(self.state, model=model, request=fitted)
        self._push(f"Open {shown(model.architecture.name)}", state)

    def close_model(self) -> None:
        """Close the model; undo brings it back."""
        model = self.state.model
        if model is not None:
            self._push(f"Close {shown(model.architecture.name)}", replace(self.state, model=None))

    def restore(self, state: LanguageState, model: LanguageModel) -> None:
        """Show run and load of the last session with its model, which is no step to take back."""
        self._set(replace(state, model=model))

    def read_measured(self) -> None:
        """Read the user's rates again, for the devices that there are now."""
        devices = self._selection.catalogue.by_id
        self._run(
            lambda history: history.token_rates.all(devices),
            on_result=self._show_measured,
            # A store that cannot be opened says so there.
            on_error=lambda _: None,
        )

    def ask(self, request: GenerationRequest, words: str, *, typed: str = "") -> None:
        """Predict another run.

        Args:
            request: the run.
            words: of the undo step.
            typed: names the field that was typed into, see ``UndoStep``.
        """
        if request != self.state.request:
            self._push(words, replace(self.state, request=request), typed)

    def ask_load(self, rate_per_s: float | None, limits: Limits, words: str) -> None:
        """Look at another load; None at none."""
        state = replace(self.state, rate_per_s=rate_per_s, limits=limits)
        if state != self.state:
            self._push(words, state)

    def set_measured(self, device: Device, tokens_per_s: float | None) -> None:
        """Take a rate that the user measured in the present run; None forgets that of a device."""
        model, before = self.state.model, self.measured.get(device.id)
        if model is None:
            return
        rate = None
        words = f"Forget What Was Measured on {shown(device.name)}"
        if tokens_per_s is not None:
            usual = next((entry for entry in self.results if entry.device.id == device.id), None)
            # The usual one may differ later.
            request = replace(
                self.state.request,
                weights=usual.weights if usual else self.state.request.weights,
                runtime=usual.runtime if usual else self.state.request.runtime,
            )
            rate = MeasuredRate(device, tokens_per_s, model.architecture, request)
            words = f"Measured {number(tokens_per_s)} Tokens/s on {shown(device.name)}"
        if rate != before:
            keep = partial(self._keep, device.id)
            push_change(self._undo_stack, words, keep, rate, before, page="language")

    def show_curves(self, devices: Sequence[Device], along: Along) -> None:
        """Work out the curves of some devices along a count."""
        from ctm_gui.language.curves import Along, curve_of, rate_curve
        from predictor.services.serving.serve import Measured, serve

        self._curves_task.cancel()
        model = self.state.model
        if model is None or not devices or not self.results:
            self._on_curves(((), None))
            return
        state = self.state
        measured, probes = tuple(self.measured.values()), self._probes(devices)

        def curve(device: Device) -> Curve | None:
            if along is Along.RATE:
                return rate_curve(model, device, state.load, measured, probes)
            return curve_of(model, device, state.request, along, measured, probes)

        def work() -> tuple[tuple[Curve, ...], Serving | None]:
            made = tuple(line for line in map(curve, devices) if line is not None)
            if state.rate_per_s is None:
                return made, None
            of_user = Measured(measured, probes)
            (serving,) = serve(model.architecture, devices[:1], state.load, of_user, model.stored)
            return made, serving

        self._curves_task.start(
            lambda _: work(), self._on_curves, lambda _: self._on_curves(((), None))
        )

    def set_active(self, *, active: bool) -> None:
        """Set whether the tab is looked at; nothing is computed for a hidden one."""
        self._active = active
        if active and self._stale:
            self._refresh()

    def _push(self, words: str, state: LanguageState, typed: str = "") -> None:
        typed = typed and f"language {typed}"
        push_change(self._undo_stack, words, self._set, state, self.state, typed, "language")

    def _keep(self, device_id: str, rate: MeasuredRate | None) -> None:
        """Keep the rate of a device, here at once and in the store; None forgets it."""
        further = {key: entry for key, entry in self.measured.items() if key != device_id}
        self._show_measured(further if rate is None else {**further, device_id: rate})
        devices = self._selection.catalogue.by_id

        def work(history: History) -> Mapping[str, MeasuredRate]:
            if rate is None:
                history.token_rates.forget(device_id)
            else:
                history.token_rates.keep(rate)
            return history.token_rates.all(devices)

        self._submit(work, self._show_measured)

    def _show_measured(self, measured: Mapping[str, MeasuredRate]) -> None:
        if measured != self.measured:
            self.measured = measured
            self._refresh()

    def _set(self, state: LanguageState) -> None:
        self.state = state
        self.state_changed.emit()
        self._refresh()

    def _devices(self) -> list[Device]:
        # A device in several configurations is one here: a language model has other runtimes.
        return list({device.id: device for device in self._selection.selected}.values())

    def _probes(self, devices: Sequence[Device]) -> list[DecodeProbe]:
        from predictor.services.generation.probes import decode_probes

        return decode_probes(self._user_measurements.signatures.measured, devices)

    def work_on(self, devices: Sequence[Device]) -> Callable[[], list[Generation]]:
        """Return work that predicts the run on devices; there is a model."""
        from predictor.services.generation.generate import generate

        model = self.state.model
        assert model is not None  # noqa: S101  # callers looked
        measured, probes = tuple(self.measured.values()), self._probes(devices)
        return partial(
            generate,
            model.architecture,
            devices,
            self.state.request,
            measured,
            probes,
            model.stored,
        )

    def _refresh(self) -> None:
        self._task.cancel()
        self._stale = not self._active
        if not self._active:
            return
        devices = self._devices()
        if self.state.model is None or not devices:
            self._show((), NO_DEVICE if self.state.model else NOTHING_YET)
            return
        work = self.work_on(devices)
        self._task.start(
            lambda _: work(),
            partial(self._show, message=""),
            lambda error: self._show((), str(error)),
        )

    def _show(self, results: Sequence[Generation], message: str) -> None:
        self.results, self.message = results, message
        self.results_changed.emit()

    def _on_curves(self, made: tuple[Sequence[Curve], Serving | None]) -> None:
        self.curves, self.serving = made
        self.curves_changed.emit()
