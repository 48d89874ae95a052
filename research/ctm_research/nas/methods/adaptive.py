"""Probes one after another: the next one is chosen by the latencies of the last ones.

On a device that repeats itself well each probe can tell something new. On a noisy one probes must
ask for what matters most again and again, until the noise averages out. How noisy a device is shows
only on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.probing.selection.information import smallest_mean_variance
from predictor.probing.selection.interface import (
    Measure,
    Pool,
    Selection,
    check_budget,
    measured,
)


@dataclass(frozen=True, slots=True)
class AdaptiveSelector:
    """I-optimal design whose noise is estimated anew before each probe.

    The pool's features are taken as they are: the product of two rows is the prior covariance of
    two log-latencies. Without a device all probes are planned with ``planned_noise``.

    Attributes:
        noise_level: estimate of the noise by samples: from their features float64 [k, F] and
            log-latencies float64 [k], its standard deviation.
        planned_noise: standard deviation of a measured log-latency before anything is measured.
        least_noise: lower limit of an estimate: a few samples can fit by chance.
        first: probes that are chosen before the first estimate.
        offset: prior standard deviation of a new device's log-latency.
    """

    noise_level: Callable[[NDArray[np.float64], NDArray[np.float64]], float]
    planned_noise: float = 0.06
    least_noise: float = 0.02
    first: int = 3
    offset: float = 3.0

    def select(
        self, pool: Pool, k: int, measure: Measure | None = None, seed: int = 0
    ) -> Selection:
        """Choose and measure; see :class:`Selector`. Nothing is random: the seed has no effect."""
        del seed
        check_budget(pool, k)
        features = pool.needed_features("adaptive")
        # A constant column is the prior of the level: its square is the variance of the offset.
        design = np.column_stack([np.full(len(features), self.offset), features])
        if measure is None:
            return Selection(smallest_mean_variance(design, self.planned_noise**2, k))
        begin = min(self.first, k)
        chosen = smallest_mean_variance(design, self.planned_noise**2, begin)
        latency_ms = measured(measure, chosen)
        while len(chosen) < k:
            noise = self._noise(features[list(chosen)], np.log(latency_ms))
            chosen = smallest_mean_variance(design, noise**2, len(chosen) + 1, chosen)
            latency_ms += measured(measure, chosen[-1:])
        return Selection(chosen, latency_ms)

    def _noise(self, seen: NDArray[np.float64], log_latency: NDArray[np.float64]) -> float:
        return max(self.noise_level(seen, log_latency), self.least_noise)
