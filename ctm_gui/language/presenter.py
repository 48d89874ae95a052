"""The open language models: their run, what was measured; results and curves of devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui.language.state import LanguageEntry, LanguageResults, LanguageState
from ctm_gui.models.list_model import LanguageRow
from ctm_gui.targets.choice import TargetSelection
from ctm_gui.tasks.serial import OneTask, SerialWorker
from ctm_gui.tasks.store_client import OwnMeasurements, StoreClient, StoreRunner
from ctm_gui.undo import push_change
from predictor.core.records import Device
from predictor.core.text import plural
from predictor.presentation.wording import number, shown
from predictor.services.generation.document import size_of
from predictor.services.generation.records import Generation, GenerationRequest, MeasuredRate
from predictor.services.serving.records import LanguageRun, Limits, Serving

if TYPE_CHECKING:
    from ctm_gui.language.curves import Along, Curve
    from ctm_gui.language.work import LanguageWork
    from predictor.services.history.history import History
    from predictor.services.models.language import LanguageModel

NOTHING_YET = (
    "Drop the config.json of a language model from Hugging Face on this window, its GGUF file, or "
    "its decoder in ONNX: tokens a second and memory of the ticked devices are shown here."
)
NO_DEVICE = "Tick a device to see how fast it generates."
WORKING = "Working out tokens a second…"


class LanguagePresenter(StoreClient):
    """The open language models on the ticked devices; works while they are looked at.

    One of them is shown on the page of language models. ``state_changed`` is emitted when ``state``
    is another, or another model is shown; ``results_changed`` when ``by_path`` is,
    ``curves_changed`` when ``curves`` and ``serving`` are.

    Attributes:
        measured: the user's rates by the device's id, as the store keeps them.
        by_path: results of each open model by its path.
        current_path: path of the model that is shown, empty where none is open.

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
        self.current_path = ""
        self._remembered_path = ""
        self.measured: Mapping[str, MeasuredRate] = {}
        self.by_path: Mapping[str, LanguageResults] = {}
        self._missing = NOTHING_YET
        self.curves: Sequence[Curve] = ()
        self.serving: Serving | None = None
        selection.changed.connect(self._refresh)
        user_measurements.changed.connect(self._refresh)

    @property
    def settled(self) -> bool:
        """Whether results and curves are those of the present state."""
        return not (self._task.busy or self._curves_task.busy or self.busy)

    @property
    def entry(self) -> LanguageEntry | None:
        """The model that is shown; None where none is open."""
        return self.state.entry(self.current_path)

    @property
    def request(self) -> GenerationRequest:
        """The run of the model that is shown."""
        entry = self.entry
        return self.state.run if entry is None else self.state.request(entry)

    @property
    def results(self) -> Sequence[Generation]:
        """The model that is shown on the ticked devices."""
        results = self.by_path.get(self.current_path)
        return results.results if results else ()

    @property
    def message(self) -> str:
        """Why there are no results of the model that is shown, in a sentence."""
        results = self.by_path.get(self.current_path)
        return results.message if results else self._missing or WORKING

    @property
    def size(self) -> str:
        """Name and size of the model that is shown, in words."""
        entry = self.entry
        if entry is None:
            return ""
        architecture = entry.model.architecture
        context = f"context of {architecture.max_context:,} tokens"
        return f"{shown(self.state.labels[entry.path])}: {size_of(architecture)}, {context}"

    @property
    def rows(self) -> list[LanguageRow]:
        """The open models as rows of the list of models."""
        labels = self.state.labels
        return [
            LanguageRow(entry.path, shown(labels[entry.path]), size_of(entry.model.architecture))
            for entry in self.state.entries
        ]

    def work(self, devices: Sequence[Device] | None = None) -> LanguageWork:
        """Return what the open models are predicted from; on the ticked devices by default."""
        from ctm_gui.language.work import LanguageWork

        return LanguageWork(
            state=self.state,
            devices=self._devices() if devices is None else devices,
            rates=tuple(self.measured.values()),
            probings=self._user_measurements.signatures.measured,
        )

    def runs(self) -> Callable[[], tuple[LanguageRun, ...]]:
        """Return work that predicts the present run of each model for a report."""
        return self.work().runs if self._devices() else tuple

    def open(self, model: LanguageModel) -> None:
        """Open a model in the formats of its file, and show it; one of its path gives way to it."""
        self._push(f"Open {shown(model.architecture.name)}", self.state.opened(model))
        self.show(model.path)

    def close_models(self, paths: Sequence[str]) -> None:
        """Close open models; undo brings them back."""
        count = plural(len(paths), "language model")
        what = shown(self.state.labels[paths[0]]) if len(paths) == 1 else count
        self._push(f"Close {what}", self.state.closed(paths))

    def show(self, path: str) -> None:
        """Show another of the open models, which is no step to take back."""
        if path != self.current_path and self.state.entry(path) is not None:
            self.current_path = path
            self.state_changed.emit()
            self.results_changed.emit()

    def show_label(self, label: str) -> None:
        """Show the open model of a label."""
        for path, name in self.state.labels.items():
            if name == label:
                self.show(path)

    def restore(self, state: LanguageState, current_path: str) -> None:
        """Take run and load of the last session, whose models follow."""
        self._remembered_path = current_path
        self._set(replace(state, entries=self.state.entries))

    def restore_model(self, entry: LanguageEntry) -> None:
        """Open a model of the last session, which is no step to take back."""
        is_shown = entry.path == self._remembered_path or not self.current_path
        self._set(self.state.joined(entry), entry.path if is_shown else self.current_path)

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
        """Predict another run of all models; its formats are of the model that is shown.

        Args:
            request: the run.
            words: of the undo step.
            typed: names the field that was typed into, see ``UndoStep``.
        """
        if request != self.request:
            self._push(words, self.state.with_run(self.current_path, request), typed)

    def ask_load(self, rate_per_s: float | None, limits: Limits, words: str) -> None:
        """Look at another load; None at none."""
        state = replace(self.state, rate_per_s=rate_per_s, limits=limits)
        if state != self.state:
            self._push(words, state)

    def set_measured(self, device: Device, tokens_per_s: float | None) -> None:
        """Take a rate that the user measured in the present run; None forgets that of a device."""
        entry, before = self.entry, self.measured.get(device.id)
        if entry is None:
            return
        rate = None
        words = f"Forget What Was Measured on {shown(device.name)}"
        if tokens_per_s is not None:
            usual = next((row for row in self.results if row.device.id == device.id), None)
            # The usual one may differ later.
            request = replace(
                self.request,
                weights=usual.weights if usual else entry.weights,
                runtime=usual.runtime if usual else self.request.runtime,
            )
            rate = MeasuredRate(device, tokens_per_s, entry.model.architecture, request)
            words = f"Measured {number(tokens_per_s)} Tokens/s on {shown(device.name)}"
        if rate != before:
            keep = partial(self._keep, device.id)
            push_change(self._undo_stack, words, keep, rate, before, page="language")

    def show_curves(self, devices: Sequence[Device], along: Along) -> None:
        """Work out the curves of some devices along a count, of the model that is shown."""
        self._curves_task.cancel()
        entry = self.entry
        if entry is None or not devices or not self.results:
            self._on_curves(((), None))
            return
        work = partial(self.work().curves, entry, devices, along)
        self._curves_task.start(
            lambda _: work(), self._on_curves, lambda _: self._on_curves(((), None))
        )

    def set_active(self, *, active: bool) -> None:
        """Set whether results are looked at; nothing is computed for hidden ones."""
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

    def _set(self, state: LanguageState, current_path: str = "") -> None:
        before, self.state = self.state, state
        changed = [entry.path for entry in state.entries if entry not in before.entries]
        # A step that changes one model shows it: it is open again, or has other formats.
        if current_path or len(changed) == 1:
            self.current_path = current_path or changed[0]
        elif state.entry(self.current_path) is None:
            self.current_path = state.entries[-1].path if state.entries else ""
        self.state_changed.emit()
        self._refresh()

    def _devices(self) -> list[Device]:
        # A device in several configurations is one here: a language model has other runtimes.
        return list({device.id: device for device in self._selection.selected}.values())

    def _refresh(self) -> None:
        self._task.cancel()
        self._stale = not self._active
        if not self._active:
            return
        if not self.state.entries or not self._devices():
            self._show({}, NO_DEVICE if self.state.entries else NOTHING_YET)
            return
        work = self.work().results
        self._task.start(lambda _: work(), self._show, lambda error: self._show({}, str(error)))

    def _show(self, by_path: Mapping[str, LanguageResults], missing: str = "") -> None:
        self.by_path, self._missing = by_path, missing
        self.results_changed.emit()

    def _on_curves(self, made: tuple[Sequence[Curve], Serving | None]) -> None:
        self.curves, self.serving = made
        self.curves_changed.emit()
