"""Percentiles and variation of samples, and quantiles of the standard normal distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

MIN_RUNS: Final[dict[float, int]] = {0.90: 64, 0.95: 130, 0.99: 662}
"""Runs under which a percentile says nothing: the early-stopping criterion of MLPerf Inference
(V. Reddi et al., "MLPerf Inference Benchmark", ISCA 2020; rules, appendix on early stopping)."""

# Quantiles of the standard normal distribution: an 80 % interval ends at those of 10 % and 90 %.
Z80: Final = 1.2815515655446004
Z95: Final = 1.959963984540054


def percentile(ordered: Sequence[int], share: float) -> int:
    """Return ``sorted[floor(n * share)]``; the median is the one of 0.5.

    Args:
        ordered: at least one value, in ascending order.
        share: 0 to 1; 1 is the largest value.
    """
    # 100 * 0.29 is 28.999999999999996 in binary.
    return ordered[min(len(ordered) - 1, math.floor(len(ordered) * share + 1e-9))]


def supported_percentiles(ordered: Sequence[int]) -> dict[float, int]:
    """Return the percentiles that so many runs support."""
    return {
        share: percentile(ordered, share)
        for share, min_runs in MIN_RUNS.items()
        if len(ordered) >= min_runs
    }


def coefficient_of_variation(samples: Sequence[int]) -> float:
    """Return the standard deviation over the mean; 0 for one sample.

    Args:
        samples: at least one, above 0.
    """
    mean = sum(samples) / len(samples)
    variance = sum((sample - mean) ** 2 for sample in samples) / len(samples)
    return float(variance**0.5 / mean)
