"""The open models on the device that is being typed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from ctm_gui.devices.form import DeviceForm
from ctm_gui.prediction.comparison import Comparison
from ctm_gui.tasks.serial import OneTask, SerialWorker
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.records import Device
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import batch_of, latency_text, model_name

_TYPING_MS = 150
_MODELS_NAMED = 3


class LivePrediction(QObject):
    """Predicts while a form is edited; ``changed`` is emitted when ``words`` are others.

    Args:
        options: the unit.
        form: of the device.
        comparing: returns the work that compares the open models on devices.
        worker: of predictions.
        parent: owner.
    """

    changed = Signal()

    def __init__(
        self,
        options: ViewOptions,
        form: DeviceForm,
        comparing: Callable[[tuple[Device, ...]], Callable[[], Comparison]],
        worker: SerialWorker,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.words = ""
        self._form, self._comparing, self._worker = form, comparing, worker
        self._options, self._comparison = options, Comparison()
        self._task = OneTask(worker)
        self._is_active = False
        self._timer = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._timer.timeout.connect(self._predict)
        for edited in (form.changed, form.device_changed):
            edited.connect(self._follow)
        options.unit_changed.connect(self._show_words)

    def set_active(self, *, active: bool) -> None:
        """Predict while somebody looks."""
        self._is_active = active
        if active:
            self._follow()
        else:
            self._timer.stop()

    def _follow(self) -> None:
        if self._is_active:
            self._timer.start()

    def _predict(self) -> None:
        if self._worker.closed:
            return  # the program ends
        self._task.cancel()
        entry = self._form.check.entry
        if entry is None or not self._form.key:
            self._show(Comparison())
            return
        work = self._comparing((entry.device,))
        # The form says what is wrong with it, and Compare what is wrong with a prediction.
        self._task.start(lambda _: work(), self._show, lambda _: self._show(Comparison()))

    def _show(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._show_words()

    def _show_words(self) -> None:
        words = live_words(self._comparison, self._options.unit)
        if words != self.words:
            self.words = words
            self.changed.emit()


def live_words(comparison: Comparison, unit: LatencyUnit) -> str:
    """Return the latency of each model in a line; empty where there is no number."""
    rows = comparison.rows
    # A device without facts has no number: what it lacks stands beside.
    if all(row.prediction.latency_ms is None for row in rows):
        return ""
    parts = []
    for row in rows[:_MODELS_NAMED]:
        batch = batch_of(row.prediction.configuration)
        latency = latency_text(row.prediction.latency_ms, unit, batch)
        parts.append(f"{model_name(row.model_label)} {latency}")
    more = len(rows) - _MODELS_NAMED
    return " · ".join([*parts, f"{more} more"] if more > 0 else parts)
