"""The operators of two models side by side: which two, and where the time goes by target."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Signal

from ctm_gui.presenters.follower import ComparisonFollower
from ctm_gui.presenters.prediction_run import ComparedModel, Comparison
from ctm_gui.tasks.serial import SerialWorker, TaskContext
from predictor.core.records import Prediction, Target
from predictor.services.prediction.operator_difference import (
    OperatorDifference,
    TimesMoved,
    operator_difference,
    times_moved_on,
)
from predictor.services.prediction.predict import KnownTargets

_PART_S = 0.2  # how long a part of the targets may take before what is there is shown
NOTHING_YET = "Open two models to see which of their operators differ."


@dataclass(frozen=True, slots=True, eq=False)
class ModelDifference:
    """Two models and their operators side by side.

    Attributes:
        first: the model that is compared with.
        second: the other one.
        difference: their operators.
        targets: T targets.
        predictions: of both models, by target.
        times: where the time goes on the first of the targets, as far as it is worked out; None
            where a model has no number.
        signatures: what the user measured on the targets.
    """

    first: ComparedModel
    second: ComparedModel
    difference: OperatorDifference
    targets: tuple[Target, ...]
    predictions: tuple[tuple[Prediction, Prediction], ...]
    times: tuple[TimesMoved | None, ...] = ()
    signatures: KnownTargets = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether the times on every target are worked out."""
        return len(self.times) == len(self.targets)

    def times_on(self, target: int) -> TimesMoved:
        """Return where the time goes on a target; not known times where there are none (yet)."""
        times = self.times[target] if 0 <= target < len(self.times) else None
        if times is not None:
            return times
        nothing = np.full(len(self.difference), np.nan)
        return TimesMoved(nothing, nothing, self.difference.change)


class DifferencePresenter(ComparisonFollower):
    """Chooses two models of a comparison and works out what differs.

    ``choices_changed`` says that the models or the choice are others; ``difference_changed`` that
    ``difference`` and ``message`` are.
    """

    choices_changed = Signal()
    difference_changed = Signal()

    def __init__(self, worker: SerialWorker, parent: QObject | None = None) -> None:
        super().__init__(worker, parent)
        self._chosen: tuple[int, int] | None = None
        self._matched: tuple[ComparedModel, ComparedModel, OperatorDifference] | None = None
        self.difference: ModelDifference | None = None
        self.message = NOTHING_YET

    @property
    def models(self) -> tuple[ComparedModel, ...]:
        """The models to choose from."""
        return self._comparison.models

    @property
    def choice(self) -> tuple[int, int]:
        """Indices of the two models; the first two where the chosen ones are gone."""
        ids = [compared.entry_id for compared in self.models]
        if self._chosen is None or not set(self._chosen) <= set(ids):
            return 0, 1
        return ids.index(self._chosen[0]), ids.index(self._chosen[1])

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
            self._show(None, NOTHING_YET)
            return
        self._work_out(partial(_find, self._comparison, self.choice, self._matched))

    def _on_result(self, difference: ModelDifference) -> None:
        self._matched = difference.first, difference.second, difference.difference
        self._show(difference, "")
        if not difference.is_complete:
            # A task of its own: predictions that are asked for meanwhile do not wait.
            self._work_out(partial(_with_more_times, difference))

    def _work_out(self, work: Callable[[TaskContext], ModelDifference]) -> None:
        self._submit(work, self._on_result, lambda error: self._show(None, str(error)))

    def _show(self, difference: ModelDifference | None, message: str) -> None:
        self._task = None
        self.difference = difference
        self.message = message
        self.difference_changed.emit()


def _find(
    comparison: Comparison,
    choice: tuple[int, int],
    matched: tuple[ComparedModel, ComparedModel, OperatorDifference] | None,
    context: TaskContext,
) -> ModelDifference:
    """Match the operators, unless they were just now, and explain the models on first targets."""
    first, second = (comparison.models[index] for index in choice)
    if matched is not None and (matched[0].model, matched[1].model) == (first.model, second.model):
        operators = matched[2]
    else:
        operators = operator_difference(first.model, second.model)
    count, rows = len(comparison.targets), comparison.rows
    predictions = tuple(
        (rows[choice[0] * count + t].prediction, rows[choice[1] * count + t].prediction)
        for t in range(count)
    )
    difference = ModelDifference(
        first, second, operators, comparison.targets, predictions, signatures=comparison.signatures
    )
    return _with_more_times(difference, context)


def _with_more_times(difference: ModelDifference, context: TaskContext) -> ModelDifference:
    """Work out where the time goes on some targets more."""
    started, times = time.perf_counter(), list(difference.times)
    while len(times) < len(difference.targets):
        context.token.check()
        place = len(times)
        models = difference.first.model, difference.second.model
        pair = difference.predictions[place]
        target = difference.targets[place]
        times.append(
            times_moved_on(
                difference.difference, target, models, pair, signatures=difference.signatures
            )
        )
        if time.perf_counter() - started > _PART_S:
            break
    return replace(difference, times=tuple(times))
