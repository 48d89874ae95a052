"""Medians, their intervals, and when blocks agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .settings import Settings


def percentile(ordered: Sequence[int], share: float) -> int:
    """Return ``sorted[floor(n * share)]``: the one definition of a percentile, the median too."""
    # 100 * 0.29 is 28.999999999999996 in binary.
    return ordered[min(len(ordered) - 1, math.floor(len(ordered) * share + 1e-9))]


def median_interval(ordered: Sequence[int]) -> tuple[int, int]:
    """Return the 95 % interval of the median from order statistics.

    Ranks of the binomial distribution with p = 1/2 in its normal approximation, rounded outwards.
    """
    low = max(0, math.floor(len(ordered) / 2 - 0.98 * math.sqrt(len(ordered))) - 1)
    return ordered[low], ordered[len(ordered) - 1 - low]


def is_narrow(samples: Sequence[int], share: float) -> bool:
    """Return whether the median's interval lies within ``share`` of the median."""
    ordered = sorted(samples)
    middle = percentile(ordered, 0.5)
    low, high = median_interval(ordered)
    return max(high - middle, middle - low) <= share * middle


def is_settled(durations: Sequence[int], share: float) -> bool:
    """Return whether the medians of the last two quarters differ by no more than ``share``."""
    part = max(2, len(durations) // 4)
    if len(durations) < 2 * part:
        return False
    last = percentile(sorted(durations[-part:]), 0.5)
    before = percentile(sorted(durations[-2 * part : -part]), 0.5)
    return abs(last - before) <= share * min(last, before)


def nearest_pair(medians: Sequence[int]) -> tuple[int, int]:
    """Return the two blocks whose medians differ least; the first of equal pairs."""
    pairs = [(i, j) for j in range(len(medians)) for i in range(j)]
    return min(pairs, key=lambda pair: difference([medians[index] for index in pair]))


def difference(medians: Sequence[float]) -> float:
    """Return how much the largest is over the smallest, as a share of the smallest."""
    return (max(medians) - min(medians)) / min(medians)


def summary(blocks: Sequence[dict[str, Any]], settings: Settings) -> dict[str, Any]:
    """Return verdict and median of a network's blocks.

    ``steady``: two blocks agree and their median's interval is narrow. ``noisy``: they agree and it
    is not, or other work disturbed them. ``inconclusive``: no two agree, and there is no median.
    A single block of the protocol agrees with itself.
    """
    medians = [block["median_ns"] for block in blocks]
    pair: Sequence[int] = nearest_pair(medians) if len(medians) > 1 else ()
    if settings.blocks == 1:
        pair = (0,)
    gap = difference([medians[index] for index in pair]) if pair else None
    if gap is None or gap > settings.agreement:
        return {"verdict": "inconclusive", "median_ms": None, "agreeing": [], "difference": gap}
    used = [blocks[index] for index in pair]
    samples = sorted(sample for block in used for sample in block["samples_ns"])
    steady = is_narrow(samples, settings.interval) and not any(b["contended"] for b in used)
    return {
        "verdict": "steady" if steady else "noisy",
        "median_ms": percentile(samples, 0.5) / 1e6,
        "agreeing": list(pair),
        "difference": gap,
    }
