"""Latency against the user's score: the Pareto front, the points of the chart and their table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ctm_gui.compare.matrix import VariantMatrix
from ctm_gui.widgets.grid import Grid, number_column, text_column
from ctm_gui.widgets.ordering import BoolArray, FloatArray, number_keys
from predictor.core.units import LatencyUnit
from predictor.presentation.columns import latency_title
from predictor.presentation.wording import (
    NOTHING,
    batch_of,
    in_unit,
    interval_in_unit,
    latency_text,
    number,
    plain_number,
    shown,
)

SCORE = "score"  # key of the column that is edited
_PADDING = 0.12
_BUDGET_REACH = 1.5
_LOG_SPAN = 8.0

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TradeOff:
    """M models on one target: latency against score; NaN where there is none.

    Attributes:
        labels: names of the models as shown.
        values: latency in ``unit``, float64 [M].
        lows, highs: 80 % interval in ``unit``, float64 [M].
        latency_ms: the same latency in ms, float64 [M].
        scores: float64 [M].
        front: mask of the models on the Pareto front, bool [M].
        unit: of the values.
        budget: in ``unit``; None where there is none or batches differ.
        score_name: title of the scores.
        higher_is_better: of the scores.
    """

    labels: tuple[str, ...]
    values: FloatArray
    lows: FloatArray
    highs: FloatArray
    latency_ms: FloatArray
    scores: FloatArray
    front: BoolArray
    unit: LatencyUnit
    budget: float | None
    budget_ms: float | None
    score_name: str
    higher_is_better: bool

    @property
    def is_placed(self) -> BoolArray:
        """True for models with both numbers, bool [M]."""
        return ~np.isnan(self.values + self.scores)

    def front_path(self) -> tuple[FloatArray, FloatArray]:
        """Return the front as a line of steps: values and scores, fastest first."""
        order = np.flatnonzero(self.front)
        order = order[np.argsort(self.latency_ms[order], kind="stable")]
        # Up to the next better model, the score stays that of the last one.
        values = np.repeat(self.values[order], 2)[1:]
        return values, np.repeat(self.scores[order], 2)[:-1]


def trade_off(
    matrix: VariantMatrix,
    target: int,
    scores: Sequence[float | None],
    *,
    score_name: str,
    higher_is_better: bool,
    unit: LatencyUnit,
    budget_ms: float | None,
) -> TradeOff:
    """Place the models of a matrix on one target."""
    predictions = matrix.on_target(target)
    # A lower limit has no place: what it leaves out may take any time.
    counted_ms = [None if p.is_lower_limit else p.latency_ms for p in predictions]
    latency_ms = number_keys(counted_ms)
    batches = [batch_of(p.configuration) for p in predictions]
    ends = [interval_in_unit(p, unit) for p in predictions]
    score_keys = number_keys(scores)
    return TradeOff(
        labels=tuple(shown(compared.label) for compared in matrix.models),
        values=number_keys(
            [
                in_unit(latency_ms, unit, batch)
                for latency_ms, batch in zip(counted_ms, batches, strict=True)
            ]
        ),
        lows=number_keys([low for low, _ in ends]),
        highs=number_keys([high for _, high in ends]),
        latency_ms=latency_ms,
        scores=score_keys,
        front=front(latency_ms, score_keys if higher_is_better else -score_keys),
        unit=unit,
        budget=in_unit(budget_ms, unit, batches[0]) if len(set(batches)) == 1 else None,
        budget_ms=budget_ms,
        score_name=score_name,
        higher_is_better=higher_is_better,
    )


def front(latency_ms: FloatArray, goodness: FloatArray) -> BoolArray:
    """Return the mask of the Pareto front: no other point is as fast and good, and better in one.

    Args:
        latency_ms: float64 [M] with NaN.
        goodness: float64 [M] with NaN, higher is better.

    Returns:
        bool [M]; False where a number is missing. Equal points are all on the front.
    """
    is_best = np.zeros(latency_ms.size, dtype=np.bool_)
    placed = np.flatnonzero(~np.isnan(latency_ms + goodness))
    # Fastest first, at equal latency the best first: a point is on the front where it is better
    # than every one before it.
    order = placed[np.lexsort((-goodness[placed], latency_ms[placed]))]
    best, at_ms = -math.inf, math.nan
    for index in order.tolist():
        equal = goodness[index] == best and latency_ms[index] == at_ms
        if goodness[index] > best or equal:
            is_best[index] = True
            best, at_ms = float(goodness[index]), float(latency_ms[index])
    return is_best


def trade_off_sentence(points: TradeOff) -> str:
    """Return the number of models on the front, and the best within the budget, in a sentence."""
    placed = points.is_placed
    missing = int(np.isnan(points.scores).sum())
    if not placed.any():
        return "Type a score for each model in the table: its accuracy, say."
    dominated = int(placed.sum() - points.front.sum())
    parts = [f"{int(points.front.sum())} on the front, {dominated} dominated"]
    if missing:
        parts.append(f"{missing} without a score")
    best = _best_within(points)
    if points.budget_ms is not None:
        budget = f"{number(points.budget_ms)} ms"
        parts.append(
            f"none meets {budget}"
            if best is None
            else f"best within {budget}: {_named(points, best)}"
        )
    return "; ".join(parts)


def _best_within(points: TradeOff) -> int | None:
    if points.budget_ms is None:
        return None
    inside = np.flatnonzero(points.front & (points.latency_ms <= points.budget_ms))
    if not inside.size:
        return None
    scores = points.scores[inside]
    return int(inside[np.argmax(scores) if points.higher_is_better else np.argmin(scores)])


def _named(points: TradeOff, model: int) -> str:
    latency = latency_text(float(points.latency_ms[model]), LatencyUnit.MS)
    return f"{points.labels[model]} ({number(float(points.scores[model]))}, {latency})"


def point_details(points: TradeOff, model: int) -> str:
    """Return the lines that hovering over a point shows, as plain text."""
    place = "on the front" if points.front[model] else "dominated: another is as fast and as good"
    return "\n".join(
        [
            points.labels[model],
            f"{points.score_name}: {number(float(points.scores[model]))}",
            f"{number(float(points.values[model]))} {points.unit}",
            place,
        ]
    )


def axis_ranges(points: TradeOff, *, log: bool) -> tuple[Range, Range]:
    """Return the ends of both axes with some room; powers of ten where latency is logarithmic."""
    placed = points.is_placed
    marks = np.concatenate([points.values[placed], points.lows[placed], points.highs[placed]])
    marks = marks[~np.isnan(marks)]
    if points.budget is not None and marks.size and points.budget <= _BUDGET_REACH * marks.max():
        marks = np.append(marks, points.budget)
    if log:
        marks = np.log10(marks[marks > 0])
    across = _padded(marks, lower_limit=None if log else 0.0)
    return across, _padded(points.scores[placed], lower_limit=None)


def prefers_log_axis(points: TradeOff) -> bool:
    """Return whether the slowest model is so far from the fastest that the others crowd."""
    positive = points.values[points.is_placed & (points.values > 0)]
    return positive.size > 1 and bool(positive.max() > _LOG_SPAN * positive.min())


def _padded(marks: FloatArray, lower_limit: float | None) -> Range:
    if not marks.size:
        return 0.0, 1.0
    low, high = float(marks.min()), float(marks.max())
    span = high - low or max(abs(high) * _PADDING, 1e-3 if math.isfinite(high) else 1.0)
    start = low - _PADDING * span
    return (start if lower_limit is None else max(lower_limit, start)), high + _PADDING * span


class ScoresGrid(Grid):
    """The models with their editable scores, and their place."""

    def __init__(self, points: TradeOff) -> None:
        self.points, models = points, range(len(points.labels))
        super().__init__(
            len(models),
            [
                text_column("model", "Model", points.labels),
                replace(
                    number_column(
                        SCORE, points.score_name, points.scores, "Type a number; empty for none."
                    ),
                    typed=lambda row: plain_number(float(points.scores[row])),
                ),
                number_column("latency", latency_title(points.unit), points.values),
                text_column("front", "Front", [_place(points, model) for model in models]),
            ],
        )


def _place(points: TradeOff, model: int) -> str:
    if not points.is_placed[model]:
        return NOTHING
    return "on the front" if points.front[model] else "dominated"
