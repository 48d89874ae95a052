"""Why one model takes its time on one target: the choice, its operators, what would change it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Signal

from ctm_gui.prediction.comparison import Comparison
from ctm_gui.prediction.explained import Costs, Explained, costs_of, explain_pair
from ctm_gui.prediction.followers import PairFollower
from ctm_gui.tasks.serial import SerialWorker
from ctm_gui.widgets.ordering import IndexArray
from predictor.core.records import Device, RunId, TargetId
from predictor.presentation.wording import number, shown
from predictor.services.prediction.explain import OperatorTable
from predictor.services.prediction.node_data import write_node_data
from predictor.services.prediction.sensitivity import (
    Alternative,
    Sensitivity,
    change_words,
    sensitivity_of,
)
from predictor.services.prediction.timeline import write_trace

_PURPOSE = "to see where the time goes."
WORKING = "Working out where the time goes…"


class ExplanationPresenter(PairFollower):
    """Follows a comparison and explains one of its pairs; works only while it is looked at.

    ``choices_changed`` is emitted when models, targets or the choice change; ``table_changed`` when
    ``explained``, its ``device`` and ``message`` do; ``sensitivity_changed`` when ``sensitivity``
    does, which comes a little after its table, and ``costs_changed`` when ``costs`` on all targets
    do, which come last. ``done`` gives a sentence about a finished action,
    ``failed`` the CtmError of a failed one.

    Args:
        worker: the thread that predictions are made on.
        parent: owner.
    """

    choices_changed = Signal()
    table_changed = Signal()
    sensitivity_changed = Signal()
    costs_changed = Signal()
    done = Signal(str)
    failed = Signal(object)

    def __init__(self, worker: SerialWorker, parent: QObject | None = None) -> None:
        super().__init__(worker, parent)
        self.explained: Explained | None = None
        self.sensitivity: Sensitivity | None = None
        self.costs: Costs | None = None
        self.device: Device | None = None
        self.message = f"{self._comparison.missing} {_PURPOSE}"
        self.selected: IndexArray = np.zeros(0, dtype=np.intp)
        self.current: int | None = None

    @property
    def table(self) -> OperatorTable | None:
        """The operators of the pair that is explained."""
        return None if self.explained is None else self.explained.table

    def set_comparison(self, comparison: Comparison) -> None:
        """Follow a new comparison; the chosen model and device stay chosen where they are in it."""
        super().set_comparison(comparison)
        self.choices_changed.emit()

    def choose_model(self, entry_id: int) -> None:
        """Explain another model of the shelf, on the same target."""
        self._choose(entry_id, self._chosen[1] if self._chosen else None)

    def choose_device(self, device_id: str) -> None:
        """Explain the same model on another device."""
        # No target has these facts: the first of the device stands for it.
        any_of_device = RunId(TargetId(device_id, "", "", 0))
        self._choose(self._chosen[0] if self._chosen else 0, any_of_device)

    def select(self, operators: IndexArray, current: int | None) -> None:
        """Select operators of the table, intp [K]; ``current`` is the one with the cursor."""
        self.selected, self.current = operators, current

    def write_node_data(self, path: Path) -> None:
        """Write the table's latencies and shares as node data of Model Explorer, off-thread."""
        table = self.table
        if table is not None:
            self._write(lambda: write_node_data(table, path))

    def write_trace(self, path: Path) -> None:
        """Write the timeline as trace events, off-thread."""
        pair = self.explained
        if pair is not None:
            self._write(lambda: (write_trace(pair.table, path, pair.title),))

    def _write(self, write: Callable[[], tuple[Path, ...]]) -> None:
        self._worker.submit(
            lambda _: write(),
            on_result=lambda files: self.done.emit(
                "Wrote " + " and ".join(shown(str(file)) for file in files)
            ),
            on_error=self.failed.emit,
        )

    def _choose(self, entry_id: int, target: RunId | None) -> bool:
        is_other = super()._choose(entry_id, target)
        if is_other:
            self.choices_changed.emit()
        return is_other

    def _begin(self) -> None:
        choice = self.choice
        if choice is None:
            self._show(None, f"{self._comparison.missing} {_PURPOSE}")
            return
        compared, target = self._comparison.pair(*choice)
        if compared.problem:
            self._show(None, compared.problem)
            return
        self.message = WORKING
        # Read now: the comparison may be another one when the worker comes to it.
        device, signatures = target.device, self._comparison.signatures
        measurements = self._comparison.measurements
        pair_predictions = self._comparison.predictions_of(choice[0])
        prediction = pair_predictions[choice[1]]
        # Times of a call at another batch are not those of these operators.
        targets, predictions = zip(
            *(
                (other, predicted)
                for other, predicted in zip(self._comparison.targets, pair_predictions, strict=True)
                if other.configuration.batch == target.configuration.batch
            ),
            strict=True,
        )
        further = [candidate for candidate in targets if candidate is not target]

        def show(pair: Explained) -> None:
            self._show(pair, "", device)
            self._task.start(
                lambda _: sensitivity_of(
                    compared.model, target, signatures=signatures, measurements=measurements
                ).scaled(prediction.scale),
                show_sensitivity,
                # A target of which only measurements are known has nothing to vary.
                lambda _: show_sensitivity(None),
            )

        def show_sensitivity(sensitivity: Sensitivity | None) -> None:
            self._show_sensitivity(sensitivity)
            self._task.start(
                lambda task: costs_of(compared.model, targets, predictions, signatures, task.token),
                self._show_costs,
                lambda _: self._show_costs(None),
            )

        self._task.start(
            lambda _: explain_pair(compared.model, target, further, prediction, signatures),
            show,
            lambda error: self._show(None, str(error)),
        )

    def _let_go(self) -> None:
        if self.explained is not None:
            self._show(None, WORKING)

    def _show(self, pair: Explained | None, message: str, device: Device | None = None) -> None:
        self.explained, self.device = pair, device
        # Rows of the table before mean other operators now.
        self.selected, self.current = np.zeros(0, dtype=np.intp), None
        self.message = message
        self.table_changed.emit()
        self._show_sensitivity(None)
        self._show_costs(None)

    def _show_sensitivity(self, sensitivity: Sensitivity | None) -> None:
        self.sensitivity = sensitivity
        self.sensitivity_changed.emit()

    def _show_costs(self, costs: Costs | None) -> None:
        self.costs = costs
        self.costs_changed.emit()


def sensitivity_details(sensitivity: Sensitivity) -> str:
    """Return the lines that hovering over the sentence on a prediction's sensitivity shows."""
    facts = [
        f"{item.label} ({number(item.value, 5)}{f' {item.unit}' if item.unit else ''}) +10 %: "
        f"{change_words(item.more)}"
        for item in sensitivity.facts
    ]
    precisions = dict.fromkeys(item.configuration.precision for item in sensitivity.alternatives)
    notes = [item.explanation for item in precisions if item.explanation]
    return "\n".join([*facts, *map(_alternative, sensitivity.alternatives), *notes])


def _alternative(alternative: Alternative) -> str:
    text = f"{alternative.change}: {change_words(alternative.latency_factor)}"
    low, high = alternative.low80_factor, alternative.high80_factor
    if low is not None and high is not None:
        ends = (change_words(end) for end in (low, high))
        text += f" (80 %: {' to '.join(ends)})"
    return text + (", does not fit in memory" if alternative.fits_memory is False else "")
