"""Ticks of a logarithmic axis."""

from __future__ import annotations

import math

_LABEL_PX = 64.0
_STEPS = tuple(math.log10(step) for step in (2, 5))
_ALL_STEPS = tuple(math.log10(step) for step in range(2, 10))


def log_ticks(low: float, high: float, width_px: float) -> tuple[list[float], list[float]]:
    """Return the ticks between two ends, so that labels do not touch one another.

    Args:
        low: log10 of the axis's left end.
        high: log10 of its right end.
        width_px: its length in pixels.

    Returns:
        log10 of the ticks with a label and of those without: powers of ten, every so many where
        they are close, and 2 and 5 between them where there is room.
    """
    if not high > low or width_px <= 0:
        return [], []
    decade_px = width_px / (high - low)
    every = max(1, math.ceil(_LABEL_PX / decade_px))
    # From 5 to 10 it is 0.3 decades: the narrowest gap between labels.
    steps = _STEPS if 0.3 * decade_px >= _LABEL_PX else ()
    decades = range(math.floor(low), math.ceil(high) + 1)
    labelled = [
        decade + step for decade in decades if decade % every == 0 for step in (0.0, *steps)
    ]
    between = _ALL_STEPS if decade_px >= _LABEL_PX else ()
    known = set(labelled)
    bare = [
        tick
        for decade in decades
        for step in (0.0, *between)
        if (tick := decade + step) not in known
    ]
    return _within(labelled, low, high), _within(bare, low, high)


def _within(ticks: list[float], low: float, high: float) -> list[float]:
    return [tick for tick in ticks if low <= tick <= high]
