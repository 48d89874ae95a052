"""Whether one method beats another by more than chance, over the same trainings and draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def signed_rank_test(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test for paired samples.

    The distribution is exact, given the ranks: every sign is as likely as the other. Zeros are
    left out, equal sizes share their mean rank.

    Args:
        differences: float64 [n], first method minus second.

    Reference:
        F. Wilcoxon, "Individual comparisons by ranking methods", 1945.
    """
    kept = differences[differences != 0]
    if not len(kept):
        return 1.0
    # Mean ranks of ties are halves; doubled, they index the array of sums.
    doubled = _doubled_ranks(np.abs(kept))
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:  # share of sign patterns by their sum of positive ranks
        shifted = np.zeros_like(ways)
        shifted[rank:] = ways[: len(ways) - rank]
        ways = (ways + shifted) / 2
    positive = int(doubled[kept > 0].sum())
    tail = min(ways[: positive + 1].sum(), ways[positive:].sum())
    return float(min(1.0, 2 * tail))


def _doubled_ranks(sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return twice the mean ranks, which are whole numbers."""
    _, place, count = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    doubled: NDArray[np.int64] = (2 * last - count + 1)[place]
    return doubled


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values corrected for their number.

    Reference:
        S. Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    total = len(p_values)
    corrected = [0.0] * total
    largest = 0.0
    for rank, index in enumerate(sorted(range(total), key=lambda i: p_values[i])):
        # Holm's step-down: no corrected value is below one that was more significant.
        largest = max(largest, min(1.0, (total - rank) * p_values[index]))
        corrected[index] = largest
    return corrected
