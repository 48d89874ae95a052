"""Probes that say most about a linear model of log-latency.

For y = x^T w + noise with Gaussian prior and noise, a probe's information about w depends on its
features x and not on the measured latency: a plan can be made before anything is measured.
See V. Fedorov, "Theory of Optimal Experiments", 1972.

- D-optimal: the volume of the posterior of w. A probe divides it by sqrt(1 + v(x) / noise), where
  v(x) is the posterior variance of x^T w: the greedy choice is the largest posterior variance.
- I-optimal: the posterior variance of x^T w, averaged over the pool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from predictor.core.errors import InputError
from predictor.probing.selection.interface import (
    Floats,
    Measure,
    Pool,
    Selection,
    check_budget,
    measured,
)


@dataclass(frozen=True, slots=True)
class DesignSelector:
    """Greedy optimal design on standardised features with an intercept.

    Attributes:
        name: of the design, for errors.
        choose: takes features [N, F], the noise variance, k and the rows that are chosen already;
            returns k distinct rows, these first.
        noise_variance: of a measurement, in units of a weight's prior variance.
    """

    name: str
    choose: Callable[[Floats, float, int, Sequence[int]], tuple[int, ...]]
    noise_variance: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.noise_variance) and self.noise_variance > 0):
            raise InputError(
                "noise variance of probes", f"it is {self.noise_variance}", "give a number above 0"
            )

    def select(
        self, pool: Pool, k: int, measure: Measure | None = None, seed: int = 0
    ) -> Selection:
        """Choose and measure; see :class:`Selector`. Nothing is random: the seed has no effect."""
        del seed
        check_budget(pool, k)
        indices = self.rest(pool, k, (), ()).indices
        return Selection(indices, measured(measure, indices) if measure else ())

    def rest(
        self, pool: Pool, k: int, first: Sequence[int], latency_ms: Sequence[float], seed: int = 0
    ) -> Selection:
        """Choose what follows; see :class:`Selector`."""
        del latency_ms, seed
        features = standardised(pool.needed_features(self.name))
        return Selection(self.choose(features, self.noise_variance, k, first))


def standardised(features: Floats) -> Floats:
    """Return the features [N, F] with mean 0 and variance 1, and a column of ones: [N, 1 + F].

    A feature that is the same for all networks becomes 0: it does not distinguish them.
    """
    centred = features - features.mean(axis=0)
    spread = centred.std(axis=0)
    constant = spread <= 1e-12 * np.abs(features).max(axis=0)
    scaled = np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))
    return np.column_stack([np.ones(len(features)), scaled])


def largest_variances(
    features: Floats, noise_variance: float, k: int, first: Sequence[int] = ()
) -> tuple[int, ...]:
    """Choose rows up to ``k``, each the one of largest posterior variance; the first of equal ones.

    Args:
        features: float64 [N, F]; the prior covariance of rows i and j is their product.
        noise_variance: of a measurement, above 0.
        k: rows altogether, at most N.
        first: rows that are chosen already.
    """
    # Row i is S x_i with the posterior covariance S of the weights.
    projected = _conditioned(features, noise_variance, first)
    chosen = list(first)
    while len(chosen) < k:
        variance = (projected * features).sum(axis=1)
        best = _first_best(variance, chosen)
        direction = projected[best].copy()
        share = _share(features, direction, variance[best] + noise_variance)
        projected -= share[:, None] * direction
        chosen.append(best)
    return tuple(chosen)


def smallest_mean_variance(
    features: Floats, noise_variance: float, k: int, first: Sequence[int] = ()
) -> tuple[int, ...]:
    """Choose rows up to ``k``, each the one that leaves the smallest mean posterior variance.

    Measuring row b lowers the variance of row i by its squared covariance with b over b's variance
    and noise. The mean of the squared covariances is (S x_b)^T C (S x_b) with the second moments C
    of the features.

    Args:
        features: float64 [N, F]; the prior covariance of rows i and j is their product.
        noise_variance: of a measurement, above 0.
        k: rows altogether, at most N; the first of equal ones is chosen.
        first: rows that are chosen already.
    """
    moments = features.T @ features / len(features)
    projected = _conditioned(features, noise_variance, first)
    weighed = projected @ moments
    chosen = list(first)
    while len(chosen) < k:
        variance = (projected * features).sum(axis=1)
        gain = (weighed * projected).sum(axis=1) / (variance + noise_variance)
        best = _first_best(gain, chosen)
        direction = projected[best].copy()
        share = _share(features, direction, variance[best] + noise_variance)
        projected -= share[:, None] * direction
        weighed -= share[:, None] * (moments @ direction)
        chosen.append(best)
    return tuple(chosen)


def _conditioned(features: Floats, noise_variance: float, chosen: Sequence[int]) -> Floats:
    """Return row i as S x_i, with the covariance S of the weights after measuring ``chosen``."""
    if not chosen:
        return features.copy()
    measured = features[list(chosen)]
    covariance = measured @ measured.T + noise_variance * np.eye(len(measured))
    # A system of the measured rows, not of the F features: probes are few.
    rest: Floats = features - features @ measured.T @ np.linalg.solve(covariance, measured)
    return rest


def _first_best(values: Floats, chosen: list[int]) -> int:
    still_open = values.copy()
    still_open[chosen] = -np.inf
    return int(np.argmax(still_open))


def _share(features: Floats, direction: Floats, total_variance: float) -> Floats:
    """Return each row's covariance with the measured one, over the variance of its reading."""
    share: Floats = (features * direction).sum(axis=1) / total_variance
    return share


D_OPTIMAL: Final = DesignSelector("D-optimal", largest_variances)
# It prefers networks typical of the pool where D-optimal prefers the extremes, which matters most
# when probes are few.
I_OPTIMAL: Final = DesignSelector("I-optimal", smallest_mean_variance)
