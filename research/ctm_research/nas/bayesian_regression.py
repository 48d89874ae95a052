"""Bayesian linear regression of log-latency on a target's own samples.

log y = b + s x^T w + noise, with w ~ N(0, I), noise ~ N(0, n^2) and a wide prior of b around the
mean of the samples. The features x carry the prior: x_i^T x_j is the covariance that the
log-latencies of graphs i and j are expected to have on a new target, up to the scale s. Both scales
are averaged over a grid, weighed by the evidence of the samples and by a log-normal prior around
the usual values. So an answer is a mixture of normal distributions, one for each pair of scales.

Reference:
    C. Bishop, "Pattern Recognition and Machine Learning", 2006, sections 3.3 to 3.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.errors import InputError

_NEGLIGIBLE: Final = 1e-4  # of the largest weight of a mixture
_HALVINGS: Final = 20
_REACH: Final = 8  # standard deviations that the table of the normal distribution covers
_POINTS: Final = 500  # of the table, a standard deviation
_CDF: Final = np.array(
    [
        0.5 * math.erfc(-z / math.sqrt(2))
        for z in np.linspace(-_REACH, _REACH, 2 * _REACH * _POINTS + 1).tolist()
    ]
)
_RISE: Final = np.diff(_CDF)

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ScalePrior:
    """Values that a scale may take, with the prior probability of each.

    Attributes:
        values: positive, any order.
        usual: the most likely one.
        spread: standard deviation of the logarithm of the scale; infinite makes all as likely.
    """

    values: tuple[float, ...]
    usual: float = 1.0
    spread: float = float("inf")

    def __post_init__(self) -> None:
        if not self.values or min(*self.values, self.usual, self.spread) <= 0:
            raise InputError(
                "prior of a scale",
                "it has no value, or one that is not positive",
                "give positive values",
            )

    def log_density(self, value: float) -> float:
        """Return the logarithm of the prior of ``value``, up to a constant."""
        return -0.5 * (float(np.log(value / self.usual)) / self.spread) ** 2


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Posterior of n log-latencies: a mixture of P normal distributions.

    Attributes:
        weights: float64 [P], their sum 1.
        means: float64 [P, n], of ln(latency in ms).
        variances: float64 [P, n], measurement noise included.
    """

    weights: Vector
    means: Vector
    variances: Vector

    @property
    def mean(self) -> Vector:
        """Float64 [n], of ln(latency in ms)."""
        return self.weights @ self.means

    @property
    def variance(self) -> Vector:
        """Float64 [n], of the whole mixture."""
        return self.weights @ (self.variances + (self.means - self.mean) ** 2)

    def quantile(self, z: float) -> Vector:
        """Return the quantiles of the latencies in ms, float64 [n].

        Args:
            z: which, as the standard normal distribution has it: 0 is the median.
        """
        matters = self.weights > _NEGLIGIBLE * self.weights.max()
        weights = self.weights[matters] / self.weights[matters].sum()
        means, deviations = self.means[matters], np.sqrt(self.variances[matters])
        reached = means + z * deviations
        low, high = reached.min(axis=0), reached.max(axis=0)  # a mixture's lies between its parts'
        wanted = normal_cdf(np.array(z))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = weights @ normal_cdf((middle - means) / deviations) < wanted
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        latency: Vector = np.exp((low + high) / 2)
        return latency


def normal_cdf(z: Vector) -> Vector:
    """Return the standard normal distribution function, to 1e-6."""
    # The points are evenly spaced, so each is found without the search of np.interp.
    place = np.clip((z + _REACH) * _POINTS, 0, len(_RISE))
    before = np.minimum(place.astype(np.intp), len(_RISE) - 1)
    probability: Vector = _CDF[before] + (place - before) * _RISE[before]
    return probability


@dataclass(frozen=True, slots=True)
class BayesianRegression:
    """The regression before it has seen a sample.

    Attributes:
        scale: prior of s.
        noise: prior of n, in log-latency.
        intercept_variance: of log-latency around the mean of the samples.
    """

    scale: ScalePrior
    noise: ScalePrior
    intercept_variance: float = 0.25

    def predict(self, seen: Vector, log_latency: Vector, asked: Vector) -> Posterior:
        """Return the averaged posterior.

        Args:
            seen: float64 [k, F], features of the samples.
            log_latency: float64 [k], of the samples.
            asked: float64 [n, F], features of the graphs to predict.

        Raises:
            InputError: shapes do not fit, or a number is not finite.
        """
        _check(seen, log_latency, asked)
        return self._averaged(seen, log_latency, asked)

    def noise_level(self, seen: Vector, log_latency: Vector) -> float:
        """Return the estimate of n by the samples: its geometric mean over the posterior.

        Args:
            seen: float64 [k, F], features of the samples.
            log_latency: float64 [k], of the samples.

        Raises:
            InputError: as :meth:`predict`.
        """
        _check(seen, log_latency, seen)
        weights = self._averaged(seen, log_latency, seen[:0]).weights
        return float(np.exp(weights @ np.log(self._grid()[1])))

    def _grid(self) -> tuple[Vector, Vector]:
        """Return scale and noise of each pair, float64 [P]."""
        pairs = np.array(list(product(self.scale.values, self.noise.values)))
        return pairs[:, 0], pairs[:, 1]

    def _averaged(self, seen: Vector, log_latency: Vector, asked: Vector) -> Posterior:
        """Return the posterior of each pair of scales, weighed by its evidence and its prior."""
        scales, noises = self._grid()
        scale, noise = scales[:, None, None] ** 2, noises[:, None, None] ** 2
        centre = float(log_latency.mean())
        inner = scale * (seen @ seen.T) + self.intercept_variance + noise * np.eye(len(seen))
        root = np.linalg.cholesky(inner)  # [P, k, k]
        crossed = scale * (seen @ asked.T) + self.intercept_variance  # [P, k, n]
        # One solve for both right sides: numpy has no triangular solver to reuse the factor with.
        beside = np.broadcast_to((log_latency - centre)[:, None], (len(scales), len(seen), 1))
        solved = np.linalg.solve(root, np.concatenate([beside, crossed], axis=2))
        whitened, shared = solved[:, :, :1], solved[:, :, 1:]
        evidence = -0.5 * (whitened**2).sum(axis=(1, 2))
        evidence -= np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        evidence += [
            self.scale.log_density(s) + self.noise.log_density(n)
            for s, n in zip(scales, noises, strict=True)
        ]
        # Prior variance of each asked graph [P, n]; the samples take ``shared**2`` off it.
        own = scale[:, 0] * (asked**2).sum(axis=1) + self.intercept_variance + noise[:, 0]
        # Less the largest first: evidences of many samples underflow.
        weights = np.exp(evidence - evidence.max())
        return Posterior(
            weights / weights.sum(),
            centre + (whitened * shared).sum(axis=1),
            own - (shared**2).sum(axis=1),
        )


def _check(seen: Vector, log_latency: Vector, asked: Vector) -> None:
    fits = seen.ndim == asked.ndim == 2 and seen.shape[1] == asked.shape[1]
    if not (fits and log_latency.shape == (len(seen),) and len(seen)):
        raise InputError(
            "samples of a target",
            f"the shapes {seen.shape}, {log_latency.shape} and {asked.shape} do not fit",
            "give at least one sample, and as many features of each graph",
        )
    if not all(np.isfinite(part).all() for part in (seen, log_latency, asked)):
        raise InputError(
            "samples of a target", "a number is not finite", "measure latencies above 0"
        )
