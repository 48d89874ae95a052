"""Percentiles of simulated times."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

WARM_UP = 0.1
"""Share of the first jobs that percentiles leave out: the queue starts empty."""


class Percentiles(NamedTuple):
    """Times that half, 90 % and 99 % of the jobs stay within, in the unit of the samples."""

    p50: float
    p90: float
    p99: float


def percentiles(samples: NDArray[np.float64]) -> Percentiles | None:
    """Return the percentiles of samples in any order, float64 [N]; None of none."""
    if not len(samples):
        return None
    return Percentiles(*np.quantile(samples, (0.5, 0.9, 0.99), method="inverted_cdf").tolist())


def settled(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the samples after the warm-up, in the order of arrival."""
    return samples[int(WARM_UP * len(samples)) :]
