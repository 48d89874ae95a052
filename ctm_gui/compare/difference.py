"""The operators of two models side by side: the choice of models, and the time by target."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Signal

from ctm_gui.compare.families import first_variants
from ctm_gui.operators.rows import operator_unit
from ctm_gui.prediction.comparison import ComparedModel, Comparison, target_names
from ctm_gui.prediction.followers import ComparisonFollower
from ctm_gui.tasks.serial import SerialWorker, TaskContext
from ctm_gui.widgets.grid import Grid, number_column, search_mask, search_texts, text_column
from ctm_gui.widgets.ordering import BoolArray, IndexArray
from predictor.core.prediction import Prediction
from predictor.core.records import Target
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import NOTHING, change_text, shape_text, shown, signed
from predictor.services.models.operator_facts import OperatorFacts
from predictor.services.prediction.operator_difference import (
    Change,
    OperatorDifference,
    TimeChanges,
    operator_difference,
    time_changes_on,
)
from predictor.services.prediction.predict import KnownTargets

_PART_S = 0.2  # how long a part of the targets may take before what is there is shown
WORKING = "Setting the operators side by side…"
NOTHING_YET = "Open two models to see which of their operators differ."


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Two models at one batch with their operators side by side."""

    first: ComparedModel
    second: ComparedModel
    operators: OperatorDifference


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ModelDifference:
    """Two models and their operators side by side.

    Attributes:
        matched: the model that is compared with and the other one, by the batch of targets; at
            their own batches, 0, in any case.
        targets: T targets.
        predictions: of both models, by target.
        times: where the time goes on the first of the targets, as far as it is worked out; None
            where a model has no number.
        signatures: the user's measurements on the targets.
        are_variants: whether both models are of one family.
    """

    matched: Mapping[int, Matched]
    targets: tuple[Target, ...]
    predictions: tuple[tuple[Prediction, Prediction], ...]
    times: tuple[TimeChanges | None, ...] = ()
    signatures: KnownTargets = field(default_factory=dict)
    are_variants: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether the times on every target are worked out."""
        return len(self.times) == len(self.targets)

    def on(self, target: int) -> Matched:
        """Return the operators as they are at the batch of a target."""
        batch = self.targets[target].configuration.batch if self.targets else 0
        return self.matched[batch]

    def times_on(self, target: int) -> TimeChanges:
        """Return where the time goes on a target; not known times where there are none (yet)."""
        times = self.times[target] if 0 <= target < len(self.times) else None
        if times is not None:
            return times
        operators = self.on(target).operators
        nothing = np.full(len(operators), np.nan)
        return TimeChanges(nothing, nothing, operators.change)


class DifferencePresenter(ComparisonFollower):
    """Chooses two models of a comparison and computes their difference.

    ``choices_changed`` is emitted when the models or the choice change; ``difference_changed`` when
    ``difference`` and ``message`` do.
    """

    choices_changed = Signal()
    difference_changed = Signal()

    def __init__(self, worker: SerialWorker, parent: QObject | None = None) -> None:
        super().__init__(worker, parent)
        self._chosen: tuple[int, int] | None = None
        self._variants: tuple[tuple[str, ...], tuple[int, int] | None] = ((), None)
        self._matched: Mapping[int, Matched] = {}
        self.difference: ModelDifference | None = None
        self.message = NOTHING_YET

    @property
    def models(self) -> tuple[ComparedModel, ...]:
        """The models to choose from."""
        return self._comparison.models

    @property
    def choice(self) -> tuple[int, int]:
        """Indices of the two models; the first variants where the chosen ones are gone."""
        ids = [compared.entry_id for compared in self.models]
        if self._chosen is None or not set(self._chosen) <= set(ids):
            return self.variants or (0, 1)
        return ids.index(self._chosen[0]), ids.index(self._chosen[1])

    @property
    def variants(self) -> tuple[int, int] | None:
        """The first two models of one family, looked up once for the same models; None for none."""
        models = [compared.model for compared in self.models]
        fingerprints = tuple(model.graph.fingerprint for model in models)
        if fingerprints != self._variants[0]:
            self._variants = fingerprints, first_variants(models)
        return self._variants[1]

    def set_comparison(self, comparison: Comparison) -> None:
        """Follow a new comparison; the chosen models stay chosen where they are in it."""
        if comparison is not self._comparison:
            self._comparison = comparison
            self.choices_changed.emit()
            self._refresh()

    def choose(self, first: int, second: int) -> None:
        """Compare two other models of the comparison."""
        ids = self.models[first].entry_id, self.models[second].entry_id
        if ids != self._chosen:
            self._chosen = ids
            self.choices_changed.emit()
            self._refresh()

    def exchange(self) -> None:
        """Compare the other way round."""
        if len(self.models) > 1:
            first, second = self.choice
            self.choose(second, first)

    def _begin(self) -> None:
        if len(self.models) < 2:
            self._matched = {}
            self._show(None, NOTHING_YET)
            return
        if self.difference is None:
            self.message = WORKING
        self._work_out(partial(_find, self._comparison, self.choice, self._matched))

    def _let_go(self) -> None:
        self._matched = {}
        if self.difference is not None:
            self._show(None, "")

    def _on_result(self, difference: ModelDifference) -> None:
        self._matched = difference.matched
        self._show(difference, "")
        if not difference.is_complete:
            # A separate task: predictions do not wait for it.
            self._work_out(partial(_with_more_times, difference))

    def _work_out(self, work: Callable[[TaskContext], ModelDifference]) -> None:
        self._task.start(work, self._on_result, lambda error: self._show(None, str(error)))

    def _show(self, difference: ModelDifference | None, message: str) -> None:
        self.difference = difference
        self.message = message
        self.difference_changed.emit()


def _find(
    comparison: Comparison,
    choice: tuple[int, int],
    before: Mapping[int, Matched],
    context: TaskContext,
) -> ModelDifference:
    """Match the operators, unless they were just now, and explain the models on first targets."""
    batches = dict.fromkeys(
        (0, *(at_target.configuration.batch for at_target in comparison.targets))
    )
    matched = {}
    for batch in batches:
        first, second = (comparison.models[index].at(batch) for index in choice)
        matched[batch] = _match(first, second, before.get(batch))
    pairs = zip(*map(comparison.predictions_of, choice), strict=True)
    difference = ModelDifference(
        matched=matched,
        targets=comparison.targets,
        predictions=tuple(pairs),
        signatures=comparison.signatures,
        are_variants=first_variants([comparison.models[i].model for i in choice]) is not None,
    )
    return _with_more_times(difference, context)


def _match(first: ComparedModel, second: ComparedModel, before: Matched | None) -> Matched:
    if before and (before.first.model, before.second.model) == (first.model, second.model):
        return Matched(first, second, before.operators)
    return Matched(first, second, operator_difference(first.model, second.model))


def _with_more_times(difference: ModelDifference, context: TaskContext) -> ModelDifference:
    """Work out where the time goes on some targets more."""
    started, times = time.perf_counter(), list(difference.times)
    while len(times) < len(difference.targets):
        context.token.check()
        place = len(times)
        matched, target = difference.on(place), difference.targets[place]
        models, pair = (matched.first.model, matched.second.model), difference.predictions[place]
        times.append(
            time_changes_on(matched.operators, target, models, pair, measured=difference.signatures)
        )
        if time.perf_counter() - started > _PART_S:
            break
    return replace(difference, times=tuple(times))


TIME_CHANGE = "moved"


class TargetsGrid(Grid):
    """A row a target: the latencies of both models, and where the time between them goes."""

    def __init__(self, difference: ModelDifference, unit: LatencyUnit) -> None:
        display_unit = operator_unit(unit)
        scale = display_unit.from_ms(1.0)
        times = [difference.times_on(target) for target in range(len(difference.targets))]
        before = np.array([t.before_ms.sum() for t in times]) * scale
        after = np.array([t.after_ms.sum() for t in times]) * scale
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = after / before
        columns = [
            number_column(
                change.value,
                f"{change.value.capitalize()} ({display_unit})",
                np.array([t.change_of(change) for t in times]) * scale,
                f"Time that the {_MEANING[change]} add; the four sum to the difference.",
                signed,
            )
            for change in Change
        ]
        super().__init__(
            len(difference.targets),
            [
                text_column("device", "Device", list(map(shown, target_names(difference.targets)))),
                number_column("before", f"First ({display_unit})", before),
                number_column("after", f"Second ({display_unit})", after),
                number_column(
                    "difference", f"Difference ({display_unit})", after - before, write=signed
                ),
                number_column("change", "Change", ratio, write=change_text),
                *columns,
            ],
        )


_MEANING = {
    Change.ADDED: "operators of the second model alone",
    Change.REMOVED: "operators of the first model alone",
    Change.CHANGED: "operators that changed",
    Change.SAME: "operators that are the same",
}


class DifferenceGrid(Grid):
    """A row an operator, or a matched pair of them, with the time moved on one target."""

    def __init__(self, difference: ModelDifference, target: int, unit: LatencyUnit) -> None:
        operators = self.operators = difference.on(target).operators
        display_unit = operator_unit(unit)
        times, scale = difference.times_on(target), display_unit.from_ms(1.0)
        before, after = operators.before, operators.after
        self._names = _pairs(before.names, operators.first, after.names, operators.second)
        self._types = _pairs(before.op_types, operators.first, after.op_types, operators.second)
        shapes = _pairs(_shapes(before), operators.first, _shapes(after), operators.second)
        # An operator of one model alone has a dash on the other side, not 0 ms.
        before_ms = np.where(operators.first < 0, np.nan, times.before_ms)
        after_ms = np.where(operators.second < 0, np.nan, times.after_ms)
        super().__init__(
            len(operators),
            [
                text_column("change", "Change", [change.value for change in operators.change]),
                text_column("name", "Operator", self._names),
                number_column(
                    TIME_CHANGE,
                    f"Moved ({display_unit})",
                    times.change_ms * scale,
                    "Time in the second model less time in the first. Sorted by its size.",
                    signed,
                    by_size=True,
                ),
                number_column("before", f"First ({display_unit})", before_ms * scale),
                number_column("after", f"Second ({display_unit})", after_ms * scale),
                text_column("what", "What", [what or NOTHING for what in operators.what]),
                text_column("type", "Type", self._types),
                text_column("shape", "Output shape", shapes),
            ],
        )

    def mask(self, search: str, change: Change | None) -> BoolArray:
        """Return a mask of the rows with every word and one kind of change, bool [R]."""
        mask = np.ones(self.count, dtype=np.bool_)
        if search.strip():
            mask = search_mask(search_texts(self._names, self._types), search)
        if change is not None:
            only = np.zeros(self.count, dtype=np.bool_)
            only[self.operators.rows_of(change)] = True
            mask = mask & only
        return mask


def difference_summary(difference: ModelDifference) -> str:
    """Return one line with the numbers of added, removed and changed operators.

    It says so where the models are no variants of one network: then most of them differ.
    """
    first_match = difference.matched[0]
    counts = {change: len(first_match.operators.rows_of(change)) for change in Change}
    words = ", ".join(f"{count} {change.value}" for change, count in counts.items())
    models = f"From {shown(first_match.first.label)} to {shown(first_match.second.label)}"
    return f"{models}{'' if difference.are_variants else ', a different network'}: {words}"


def _pairs(
    before: tuple[str, ...], first: IndexArray, after: tuple[str, ...], second: IndexArray
) -> list[str]:
    """Return the text of each row: of one side, or of both where they differ."""
    texts = []
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        old, new = before[i] if i >= 0 else "", after[j] if j >= 0 else ""
        differ = i >= 0 and j >= 0 and old != new
        texts.append(f"{shown(old)} → {shown(new)}" if differ else shown(new or old))
    return texts


def _shapes(facts: OperatorFacts) -> tuple[str, ...]:
    return tuple(map(shape_text, facts.output_shapes))
