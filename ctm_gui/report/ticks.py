"""Ticks of a linear axis."""

from __future__ import annotations

import math


def linear_ticks(high: float, most: int) -> list[float]:
    """Return round values from 0 to ``high``, at most ``most`` + 1 of them: steps of 1, 2 or 5.

    Args:
        high: the axis's right end, over 0.
        most: steps at most.
    """
    raw = high / max(most, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    return [place * step for place in range(math.floor(high / step * (1 + 1e-9)) + 1)]
