"""Geometry of plots and tables: ticks of axes, widths side by side, the nearest of points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

LABEL_PX = 64.0  # of the labels of a horizontal axis
# Labels between powers of ten, the most of them first.
_STEPS = tuple(tuple(math.log10(step) for step in steps) for steps in ((2, 5), (3,)))
_FEWEST = 2  # labels, under which an axis has no scale
_ALL_STEPS = tuple(math.log10(step) for step in range(2, 10))


def log_ticks(
    low: float, high: float, width_px: float, label_px: float = LABEL_PX
) -> tuple[list[float], list[float]]:
    """Return the ticks between two ends, so that labels do not touch one another.

    Args:
        low: log10 of the axis's left end.
        high: log10 of its right end.
        width_px: its length in pixels.
        label_px: from one label to the next, at least.

    Returns:
        log10 of the ticks with a label and of those without: powers of ten, every so many where
        they are close, and 2 and 5, or 3, between them where there is room. Where fewer than two of
        them are between the ends, even steps of two digits.
    """
    if not high > low or width_px <= 0:
        return [], []
    decade_px = width_px / (high - low)
    decade_step = max(1, math.ceil(label_px / decade_px))
    steps = next(
        (step_set for step_set in _STEPS if _narrowest(step_set) * decade_px >= label_px), ()
    )
    decades = range(math.floor(low), math.ceil(high) + 1)
    labelled = [
        decade + step for decade in decades if decade % decade_step == 0 for step in (0.0, *steps)
    ]
    between = _ALL_STEPS if decade_px >= LABEL_PX else ()
    labelled = _within(labelled, low, high)
    if len(labelled) < _FEWEST:
        labelled = _even_steps(low, high, decade_px, label_px) or labelled
    has_label = set(labelled)
    bare = [
        tick
        for decade in decades
        for step in (0.0, *between)
        if (tick := decade + step) not in has_label
    ]
    return labelled, _within(bare, low, high)


def _even_steps(low: float, high: float, decade_px: float, label_px: float) -> list[float]:
    """Return log10 of equal steps between two ends; none where two labels have no room."""
    end, power = 10.0**high, 10.0 ** math.floor(high)
    for step in (0.1 * power, 0.2 * power, 0.5 * power, power):
        # Steps are the closest at the upper end.
        if step < end and math.log10(end / (end - step)) * decade_px >= label_px:
            places = range(math.ceil(10.0**low / step), math.floor(end / step) + 1)
            ticks = _within([math.log10(place * step) for place in places], low, high)
            return ticks if len(ticks) >= _FEWEST else []
    return []


def _narrowest(steps: tuple[float, ...]) -> float:
    """Return the narrowest gap between labels at these parts of a decade, in decades."""
    return min(after - before for before, after in pairwise((0.0, *steps, 1.0)))


def _within(ticks: list[float], low: float, high: float) -> list[float]:
    return [tick for tick in ticks if low <= tick <= high]


def linear_ticks(high: float, max_steps: int) -> list[float]:
    """Return round values from 0 to ``high`` in steps of 1, 2 or 5, at most ``max_steps`` + 1.

    Args:
        high: the axis's right end, over 0.
        max_steps: steps at most.
    """
    raw = high / max(max_steps, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    # The margin accepts a step that rounding has put just under ``raw``.
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    return [place * step for place in range(math.floor(high / step * (1 + 1e-9)) + 1)]


def shared_widths(
    natural: Sequence[float], room: float, minimum: float | Sequence[float]
) -> list[float]:
    """Return widths that fit in ``room``: the widest give way first, none under ``minimum``.

    Args:
        natural: the width of each at its full content, in pixels.
        room: the available width, in pixels.
        minimum: the width under which none is pressed, unless it is naturally narrower; or that of
            each.

    Returns:
        One width each, none wider than its natural width; their sum is over ``room`` only where
        ``minimum`` leaves no choice.
    """
    left, widths = room, list(natural)
    leasts = minimum if isinstance(minimum, Sequence) else [minimum] * len(widths)
    # From the narrowest on, each takes what it would like or an equal part of what is left.
    by_width = sorted(range(len(natural)), key=lambda index: natural[index])
    for place, index in enumerate(by_width):
        fair = max(left / (len(by_width) - place), leasts[index])
        widths[index] = min(natural[index], fair)
        left -= widths[index]
    return widths


def logs(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the log10 of values; NaN for what is not over zero."""
    numbers = np.asarray(values, dtype=np.float64)
    return np.log10(numbers, out=np.full(numbers.shape, np.nan), where=numbers > 0)


def nearest_point(
    points: npt.NDArray[np.float64], at: tuple[float, float], reach: float
) -> int | None:
    """Return the nearest of points (float64 [M, 2], NaN for none) within ``reach``, else None."""
    if not points.size:
        return None
    distance = np.hypot(points[:, 0] - at[0], points[:, 1] - at[1])
    # nanargmin raises where all are NaN.
    if np.isnan(distance).all():
        return None
    nearest = int(np.nanargmin(distance))
    return nearest if distance[nearest] <= reach else None
