"""Probes that say most about the weights of a linear model of log-latency.

For y = x^T w + noise with Gaussian prior and noise, measuring x divides the volume of the
posterior's ellipsoid by sqrt(1 + v(x) / noise), where v(x) is the posterior variance of x^T w. So
the greedy D-optimal choice is the network whose posterior variance is largest. It does not depend
on the latencies: a plan can be made before anything is measured. See V. Fedorov, "Theory of
Optimal Experiments", 1972. The two selectors differ in the prior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.probing.selection.interface import Measure, Pool, Selection, check_budget, measured


@dataclass(frozen=True, slots=True)
class DOptimalSelector:
    """Greedy D-optimal design on standardised features with an intercept.

    Attributes:
        noise_variance: of a measurement, in units of a weight's prior variance, which is 1. A small
            value goes for the extremes of every direction, a large one repeats the strongest.
    """

    noise_variance: float = 0.1

    def __post_init__(self) -> None:
        _check_noise(self.noise_variance)

    def select(
        self, pool: Pool, k: int, measure: Measure | None = None, seed: int = 0
    ) -> Selection:
        """Choose and measure; see :class:`Selector`. Nothing is random: the seed has no effect."""
        del seed
        check_budget(pool, k)
        features = standardised(pool.needed_features("D-optimal"))
        indices = largest_variances(features, self.noise_variance, k)
        return Selection(indices, measured(measure, indices) if measure else ())


@dataclass(frozen=True, slots=True)
class PosteriorVarianceSelector:
    """Largest posterior variance under a given prior, for the features of a trained model.

    The pool's features are taken as they are: a row x_i of F numbers such that the prior covariance
    of the log-latencies of networks i and j is x_i^T x_j. For a Bayesian linear model with the
    prior covariance S S^T of its weights these are its features times S.

    Attributes:
        noise_variance: of one measured log-latency. The default is the square of 3 %.
    """

    noise_variance: float = 0.03**2

    def __post_init__(self) -> None:
        _check_noise(self.noise_variance)

    def select(
        self, pool: Pool, k: int, measure: Measure | None = None, seed: int = 0
    ) -> Selection:
        """Choose and measure; see :class:`Selector`. Nothing is random: the seed has no effect."""
        del seed
        check_budget(pool, k)
        features = pool.needed_features("posterior variance")
        indices = largest_variances(features, self.noise_variance, k)
        return Selection(indices, measured(measure, indices) if measure else ())


def standardised(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the features [N, F] with mean 0 and variance 1, and a column of ones: [N, 1 + F].

    A feature that is the same for all networks becomes 0: it tells them not apart.
    """
    centred = features - features.mean(axis=0)
    spread = centred.std(axis=0)
    constant = spread <= 1e-12 * np.abs(features).max(axis=0)
    scaled = np.where(constant, 0.0, centred / np.where(constant, 1.0, spread))
    return np.column_stack([np.ones(len(features)), scaled])


def largest_variances(
    features: NDArray[np.float64], noise_variance: float, k: int
) -> tuple[int, ...]:
    """Choose ``k`` rows, each the one of largest posterior variance; the first of equal ones.

    Args:
        features: float64 [N, F]; the prior covariance of rows i and j is their product.
        noise_variance: of a measurement, above 0.
        k: rows to choose, at most N.
    """
    variance = (features * features).sum(axis=1)
    open_variance = variance.copy()
    factors = np.zeros((k, len(features)))
    chosen: list[int] = []
    for step in range(k):
        best = int(np.argmax(open_variance))
        chosen.append(best)
        covariance = (features * features[best]).sum(axis=1)
        for factor in factors[:step]:
            covariance -= factor * factor[best]
        factors[step] = covariance / np.sqrt(variance[best] + noise_variance)
        variance = np.maximum(variance - factors[step] ** 2, 0.0)
        open_variance = variance.copy()
        open_variance[chosen] = -np.inf
    return tuple(chosen)


def _check_noise(noise_variance: float) -> None:
    if not (np.isfinite(noise_variance) and noise_variance > 0):
        raise InputError(
            "noise variance of probes", f"it is {noise_variance}", "give a number above 0"
        )
