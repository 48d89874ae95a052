"""Differences between two models' operators, and where the time between them goes on a target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from predictor.core.prediction import Prediction
from predictor.core.records import Target
from predictor.cost.engine import NOTHING_MEASURED
from predictor.graph.matching import match_operators
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import DTYPES
from predictor.services.models.operator_facts import OperatorFacts, operator_facts
from predictor.services.prediction.explain import explain
from predictor.services.prediction.predict import KnownTargets

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
_NONE = -1


class Change(StrEnum):
    """Fate of an operator from the first model to the second."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    SAME = "same"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OperatorDifference:
    """R rows: every operator of both models, a matched pair in one row.

    The rows follow the second model in topological order; a removed operator stands where it was.

    Attributes:
        before: operators of the first model.
        after: operators of the second model.
        first: index into ``before``, -1 where the operator was added, intp [R].
        second: index into ``after``, -1 where it was removed, intp [R].
        change: fate of the operator, R of them.
        what: the changed facts in words, else empty, R of them.
    """

    before: OperatorFacts
    after: OperatorFacts
    first: Indices
    second: Indices
    change: tuple[Change, ...]
    what: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.change)

    def rows_of(self, change: Change) -> Indices:
        """Return the rows of one kind of change, intp [K]."""
        return np.flatnonzero(np.array([kind is change for kind in self.change], dtype=np.bool_))

    def time_changes(self, before_ms: Floats, after_ms: Floats) -> TimeChanges:
        """Return the times of all rows on one target.

        Args:
            before_ms: time of each operator of the first model, float64 [N1].
            after_ms: time of each operator of the second model, float64 [N2].
        """
        return TimeChanges(
            _times_at(before_ms, self.first), _times_at(after_ms, self.second), self.change
        )


@dataclass(frozen=True, slots=True, eq=False)
class TimeChanges:
    """The time of each row of a difference on one target; an operator that is absent takes none.

    Attributes:
        before_ms: in the first model, float64 [R]; sums to its latency.
        after_ms: in the second model, float64 [R]; sums to its latency.
        change: fate of each operator.
    """

    before_ms: Floats
    after_ms: Floats
    change: tuple[Change, ...]

    @property
    def change_ms(self) -> Floats:
        """Time that each takes longer in the second model, float64 [R]."""
        longer_ms: Floats = self.after_ms - self.before_ms
        return longer_ms

    def change_of(self, change: Change) -> float:
        """Return the ms that all rows of a kind take longer in the second model."""
        return float(self.change_ms[[kind is change for kind in self.change]].sum())


def operator_difference(first: Model, second: Model) -> OperatorDifference:
    """Match the operators of two models and name the changes."""
    pairs = match_operators(first.graph, second.graph)
    rows = list(_rows(pairs, len(first.graph), len(second.graph)))
    changes = [_change(first.graph, second.graph, i, j) for i, j in rows]
    # reshape: an empty list of pairs would be one-dimensional.
    indices = np.array(rows, dtype=np.intp).reshape(-1, 2)
    return OperatorDifference(
        before=operator_facts(first),
        after=operator_facts(second),
        first=indices[:, 0],
        second=indices[:, 1],
        change=tuple(change for change, _ in changes),
        what=tuple(what for _, what in changes),
    )


def time_changes_on(
    difference: OperatorDifference,
    target: Target,
    models: tuple[Model, Model],
    predictions: tuple[Prediction, Prediction],
    engine: str = "",
    measured: KnownTargets = NOTHING_MEASURED,
) -> TimeChanges | None:
    """Return the times of two models' operators on a target; None where one has no number.

    The times of a model sum to the latency of its prediction: where that was measured, the
    engine's times of the operators are scaled to it.
    """
    times = []
    for model, prediction in zip(models, predictions, strict=True):
        if prediction.latency_ms is None:
            return None
        operator_ms = explain(model, target, engine, measured).latency_ms
        total = float(operator_ms.sum())
        times.append(operator_ms * (prediction.latency_ms / total) if total > 0 else operator_ms)
    return difference.time_changes(*times)


def _rows(pairs: list[tuple[int, int]], first: int, second: int) -> Iterator[tuple[int, int]]:
    """Give every operator once: the second model's in order, removed ones after their neighbour."""
    partner = {j: i for i, j in pairs}
    matched = {i for i, _ in pairs}
    yield from _removed_from(0, first, matched)
    for j in range(second):
        i = partner.get(j, _NONE)
        yield i, j
        if i != _NONE:
            yield from _removed_from(i + 1, first, matched)


def _removed_from(start: int, count: int, matched: set[int]) -> Iterator[tuple[int, int]]:
    """Give the removed operators from ``start`` up to the next matched one."""
    for i in range(start, count):
        if i in matched:
            return
        yield i, _NONE


def _change(first: OperatorGraph, second: OperatorGraph, i: int, j: int) -> tuple[Change, str]:
    if i == _NONE:
        return Change.ADDED, ""
    if j == _NONE:
        return Change.REMOVED, ""
    what = ", ".join(_facts_changed(first, second, i, j))
    return (Change.CHANGED if what else Change.SAME), what


def _facts_changed(first: OperatorGraph, second: OperatorGraph, i: int, j: int) -> Iterator[str]:
    if first.op_types[i] != second.op_types[j]:
        yield "type"
    if first.output_shape(i) != second.output_shape(j):
        yield "shape"
    if _precision(first, i) != _precision(second, j):
        yield "precision"
    if first.attributes[i] != second.attributes[j]:
        # The attributes hold the window; "kernel" says more where it is among the changes.
        same_window = (first.window[i] == second.window[j]).all()
        yield "attributes" if same_window else "kernel"
    # More work for the same output and attributes: another input, such as more channels.
    elif first.macs[i] != second.macs[j] and first.output_shape(i) == second.output_shape(j):
        yield "inputs"


def _precision(graph: OperatorGraph, index: int) -> tuple[str, bool]:
    return DTYPES[graph.dtype[index]], bool(graph.flags[index] & OperatorFlag.QUANTISED)


def _times_at(times_ms: Floats, indices: Indices) -> Floats:
    """Return the times at ``indices``, 0 where an index is -1."""
    # Index -1 is the last entry, which is the 0 put there.
    padded = np.append(times_ms, 0.0)
    return padded[indices]
