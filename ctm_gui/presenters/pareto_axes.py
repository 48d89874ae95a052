"""The axes of the plot of latency against score, and which point lies where."""

from __future__ import annotations

import math

import numpy as np

from ctm_gui.presenters.ordering import FloatArray
from ctm_gui.presenters.pareto import TradeOff

_PADDING = 0.12
_BUDGET_REACH = 1.5
_LOG_SPAN = 8.0

Range = tuple[float, float]


def axis_ranges(found: TradeOff, *, log: bool) -> tuple[Range, Range]:
    """Return the ends of both axes with some room; powers of ten where latency is logarithmic."""
    placed = found.is_placed
    marks = np.concatenate([found.values[placed], found.lows[placed], found.highs[placed]])
    marks = marks[~np.isnan(marks)]
    if found.budget is not None and marks.size and found.budget <= _BUDGET_REACH * marks.max():
        marks = np.append(marks, found.budget)
    if log:
        marks = np.log10(marks[marks > 0])
    across = _padded(marks, least=None if log else 0.0)
    return across, _padded(found.scores[placed], least=None)


def prefers_log_axis(found: TradeOff) -> bool:
    """Return whether the slowest model is so far from the fastest that the others crowd."""
    known = found.values[found.is_placed & (found.values > 0)]
    return known.size > 1 and bool(known.max() > _LOG_SPAN * known.min())


def nearest_point(points: FloatArray, at: Range, reach: float) -> int | None:
    """Return the nearest of points (float64 [M, 2], NaN for none) within ``reach``, else None."""
    if not points.size:
        return None
    distance = np.hypot(points[:, 0] - at[0], points[:, 1] - at[1])
    if np.isnan(distance).all():
        return None
    nearest = int(np.nanargmin(distance))
    return nearest if distance[nearest] <= reach else None


def _padded(marks: FloatArray, least: float | None) -> Range:
    if not marks.size:
        return 0.0, 1.0
    low, high = float(marks.min()), float(marks.max())
    span = high - low or max(abs(high) * _PADDING, 1e-3 if math.isfinite(high) else 1.0)
    start = low - _PADDING * span
    return (start if least is None else max(least, start)), high + _PADDING * span
