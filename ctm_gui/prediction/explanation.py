"""Why one model takes its time on one target: the choice, its operators, what would change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

from ctm_gui.attention.summary import AttentionSummary
from ctm_gui.operators.rows import OperatorSummary
from ctm_gui.prediction.comparison import Comparison, target_names
from ctm_gui.prediction.followers import PairFollower
from ctm_gui.tasks.serial import SerialWorker
from ctm_gui.widgets.ordering import FloatArray, IndexArray
from predictor.core.errors import InputError
from predictor.core.prediction import Prediction
from predictor.core.progress import CancelToken
from predictor.core.records import Basis, Device, RunId, Target, TargetId
from predictor.graph.model import Model
from predictor.presentation.wording import number, shown
from predictor.services.prediction.explain import OperatorTable, explain
from predictor.services.prediction.node_data import write_node_data
from predictor.services.prediction.predict import KnownTargets
from predictor.services.prediction.roofline import Roof, Roofline, roofline_of, roofs_of
from predictor.services.prediction.sensitivity import (
    Alternative,
    Sensitivity,
    change_words,
    sensitivity_of,
)
from predictor.services.prediction.timeline import Timeline, pair_title, timeline_of, write_trace

_MAX_ROOFS: Final = 4  # targets beside the explained one: more roofs than that cannot be read
_NO_INTERVAL: Final = (np.nan, np.nan)
_MAX_COSTS: Final = 10_000_000  # of operators on targets together, 4 bytes each


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """Time of each operator on each of some targets.

    Attributes:
        names: of the T targets that have a number.
        latency_ms: float32 [T, N].
        interval: ends of each 80 % interval over the latency, float64 [T, 2]; NaN without one.
        left_out: how many further targets are not among them.
    """

    names: tuple[str, ...]
    latency_ms: NDArray[np.float32]
    interval: FloatArray
    left_out: int = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class Explained:
    """Where the time of one model goes on one target.

    Attributes:
        title: of the pair.
        model: label of the model.
        target: name of the target's device.
        device: of the target, which names its metrics and has their values.
        table: its N operators.
        timeline: the same over time.
        roofline: the same under the roofs of the target; None where its rates are not known.
        other_roofs: roofs of other targets, by the names of their devices.
        interval: ends of the 80 % interval over the latency; None without one.
        further: how many other targets there are, with roofs or without.
        measured_ms: latency of the model that was measured there; None where none was.
    """

    title: str
    model: str
    target: str
    device: Device
    table: OperatorTable
    timeline: Timeline
    roofline: Roofline | None
    other_roofs: tuple[tuple[str, tuple[Roof, ...]], ...] = ()
    interval: tuple[float, float] | None = None
    further: int = 0
    measured_ms: float | None = None

    @cached_property
    def operators(self) -> OperatorSummary:
        """The operators with what their table sums up and sorts by."""
        return OperatorSummary(self.table)

    @cached_property
    def attention(self) -> AttentionSummary | None:
        """The attention of the operators; None where it is not known."""
        if self.table.attention is None or not self.table.attention.metrics:
            return None
        return AttentionSummary(self.table, self.device, self.operators.name_ranks)

    def read(self) -> None:
        """Work out what views ask at their first look, off the window's thread."""
        operators, attention = self.operators, self.attention
        _ = self.table.bounds, self.table.types, self.roofline and self.roofline.reached
        _ = operators.type_times, operators.is_free, operators.name_ranks, operators.search_texts
        _ = operators.peak, self.timeline.levels
        if attention is not None:
            _ = attention.types, attention.operators.to_peaks, attention.operators.from_peaks


def explain_pair(
    model: Model,
    target: Target,
    other_targets: Sequence[Target],
    prediction: Prediction,
    signatures: KnownTargets,
) -> Explained:
    """Explain one pair.

    Args:
        model: the model.
        target: the target.
        other_targets: further targets, whose roofs are compared.
        prediction: of the pair.
        signatures: the user's measurements on targets.

    Raises:
        InputError: the target has no number for the model.
    """
    table = explain(model, target, measured=signatures).scaled(prediction.scale)
    name, *other_names = target_names([target, *other_targets])
    roofline = None
    # The engine may know more than the facts state: what was measured.
    with suppress(InputError):
        roofline = roofline_of(model, target, table)
    pair = Explained(
        title=pair_title(prediction.model, target),
        model=prediction.model,
        target=name,
        device=target.device,
        table=table,
        timeline=timeline_of(table),
        roofline=roofline,
        other_roofs=tuple(islice(_other_roofs(model, other_targets, other_names), _MAX_ROOFS)),
        interval=_interval(prediction),
        further=len(other_targets),
        measured_ms=prediction.latency_ms if prediction.basis is Basis.MEASURED else None,
    )
    pair.read()
    return pair


def costs_of(
    model: Model,
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    signatures: KnownTargets,
    cancel: CancelToken,
) -> Costs:
    """Return the time of each operator on every target.

    Args:
        model: the model.
        targets: the targets.
        predictions: of the model on each of them.
        signatures: the user's measurements on targets.
        cancel: asked before each target.

    Raises:
        CancelledError: a stop was asked for.
    """
    able = [
        place for place, prediction in enumerate(predictions) if prediction.latency_ms is not None
    ]
    explained_places = able[: max(1, _MAX_COSTS // max(len(model.graph.names), 1))]
    names = target_names(targets)
    costs = []
    for place in explained_places:
        cancel.check()
        # A target of which only measurements are known has no parts.
        with suppress(InputError):
            table = explain(model, targets[place], measured=signatures)
            latency_ms = (table.latency_ms * predictions[place].scale).astype(np.float32)
            costs.append((names[place], latency_ms, _interval(predictions[place]) or _NO_INTERVAL))
    count = len(model.graph.names)
    return Costs(
        tuple(name for name, _, _ in costs),
        np.array([prediction for _, prediction, _ in costs], dtype=np.float32).reshape(-1, count),
        np.array([ends for _, _, ends in costs], dtype=np.float64).reshape(-1, 2),
        len(able) - len(explained_places),
    )


def _other_roofs(
    model: Model, targets: Sequence[Target], names: Sequence[str]
) -> Iterator[tuple[str, tuple[Roof, ...]]]:
    for target, name in zip(targets, names, strict=True):
        # The link to the host alone is no memory to compare with.
        if target.device.metric("dram_bw_gbps") is not None:
            # A target that cannot run the configuration has no roofs for it.
            with suppress(InputError):
                yield name, roofs_of(model, target)


def _interval(prediction: Prediction) -> tuple[float, float] | None:
    latency, low, high = prediction.latency_ms, prediction.low80_ms, prediction.high80_ms
    return None if not latency or low is None or high is None else (low / latency, high / latency)


_PURPOSE = "to see where the time goes."
WORKING = "Working out where the time goes…"


class ExplanationPresenter(PairFollower):
    """Follows a comparison and explains one of its pairs; works only while it is looked at.

    ``choices_changed`` is emitted when models, targets or the choice change; ``table_changed`` when
    ``explained`` and ``message`` do; ``sensitivity_changed`` when ``sensitivity`` does, which
    comes a little after its table, and ``costs_changed`` when ``costs`` on all targets do, which
    come last; ``selection_changed`` when ``selected`` operators do, by the user. ``done`` gives a
    sentence about a finished action, ``failed`` the CtmError of a failed one.

    Args:
        worker: the thread that predictions are made on.
        parent: owner.
    """

    choices_changed = Signal()
    table_changed = Signal()
    sensitivity_changed = Signal()
    costs_changed = Signal()
    selection_changed = Signal()
    done = Signal(str)
    failed = Signal(object)

    def __init__(self, worker: SerialWorker, parent: QObject | None = None) -> None:
        super().__init__(worker, parent)
        self.explained: Explained | None = None
        self.sensitivity: Sensitivity | None = None
        self.costs: Costs | None = None
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

    def choose_device(self, device_id: str) -> None:
        """Explain the same model on another device."""
        # No target has these facts: the first of the device stands for it.
        any_of_device = RunId(TargetId(device_id, "", "", 0))
        self._choose(self._chosen[0] if self._chosen else 0, any_of_device)

    def select(self, operators: IndexArray, current: int | None) -> None:
        """Select operators of the table, intp [K]; ``current`` is the one with the cursor."""
        if self.current != current or not np.array_equal(self.selected, operators):
            self.selected, self.current = operators, current
            self.selection_changed.emit()

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
        signatures = self._comparison.signatures
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
            self._show(pair, "")
            self._task.start(
                lambda _: sensitivity_of(
                    compared.model, target, measured=signatures, measurements=measurements
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

    def _show(self, pair: Explained | None, message: str) -> None:
        self.explained = pair
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


def sensitivity_sentence(sensitivity: Sensitivity, explained: Explained) -> str:
    """Return what would make a model faster on a target, as one sentence with its subject."""
    if not sensitivity.sentence:
        return ""
    pair = f"{shown(explained.model)} on {shown(explained.target)}"
    return sensitivity.sentence.replace("To make it faster", f"To make {pair} faster", 1)


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
