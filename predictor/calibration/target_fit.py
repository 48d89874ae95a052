"""Deviation of one target from its estimate, inferred from its own measurements.

The time of a graph is exp(level) times that of the P parts exp(shape_p) t_p of the estimate
together, kinds of operators x terms (:mod:`predictor.cost.overlap`), times exp(e . c) for the
composition c of its products in R directions (:mod:`predictor.calibration.product_kinds`). Level,
shape and the effects e are normal before anything is measured; the posterior is found by
Gauss-Newton steps of ln(time), in which a measurement far off counts little (Student's t).

The effects are the last R numbers of a shape. A fit without directions has R = 0.

Reference:
    C. Bishop, "Pattern Recognition and Machine Learning", 2006, sections 2.3.3 and 2.3.7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from predictor.core.arrays import Floats
from predictor.cost.operator_kinds import KINDS
from predictor.cost.overlap import overlapped
from predictor.cost.physics import TERMS

PARTS: Final = len(KINDS) * len(TERMS)
_STEPS: Final = 5
_TAILS: Final = 4.0  # degrees of freedom of Student's t
_UNKNOWN_LEVEL: Final = 3.0  # standard deviation in ln of a level of which nothing is known


@dataclass(frozen=True, slots=True)
class ShapeScales:
    """Standard deviations of the parts of a shape in ln, and of a network about its target.

    Attributes:
        term: of all parts of one term.
        kind: of all parts of one kind of operator.
        pair: of one part.
        network: of the time of one network, beyond level and shape.
    """

    term: float
    kind: float
    pair: float
    network: float

    def covariance(self) -> Floats:
        """Return the covariance of a shape, float64 [P, P]."""
        kinds, terms = np.divmod(np.arange(PARTS), len(TERMS))
        alike = self.term**2 * (terms[:, None] == terms) + self.kind**2 * (kinds[:, None] == kinds)
        covariance: Floats = alike + self.pair**2 * np.eye(PARTS)
        return covariance


# The likeliest on silicon left out in inner folds.
SHAPE: Final = ShapeScales(0.3, 0.3, 0.3, 0.15)


@dataclass(frozen=True, eq=False)
class TargetFit:
    """Normal distribution of a target's level and shape.

    Attributes:
        mean: float64 [1 + P + R].
        covariance: float64 [1 + P + R, 1 + P + R].
        ahead: whether starts run ahead on the target.
    """

    mean: Floats
    covariance: Floats
    ahead: bool = False

    @classmethod
    def prior(
        cls,
        level: float = 0.0,
        variance: float = _UNKNOWN_LEVEL**2,
        shape: Floats | None = None,
        shape_variance: float = 1.0,
        *,
        covariance: Floats | None = None,
        ahead: bool = False,
    ) -> TargetFit:
        """Return the prior of a target without measurements.

        Args:
            level: mean of the level.
            variance: of the level.
            shape: mean of the shape, [P + R]; 0 where None.
            shape_variance: part of the variance of a shape that is left.
            covariance: of the shape before anything is measured, [P + R, P + R]; None for the
                usual one, without directions.
            ahead: whether starts run ahead on the target.
        """
        usual = SHAPE.covariance() if covariance is None else covariance
        mean = np.concatenate([[level], np.zeros(len(usual)) if shape is None else shape])
        joint = np.zeros((len(mean), len(mean)))
        joint[0, 0] = variance
        joint[1:, 1:] = shape_variance * usual
        return cls(mean, joint, ahead)

    def measured(
        self, parts_ms: Floats, latency_ms: Floats, composition: Floats | None = None
    ) -> TargetFit:
        """Return the posterior after measurements of k graphs.

        Args:
            parts_ms: float64 [k, P], of the estimate without level and shape.
            latency_ms: float64 [k].
            composition: float64 [k, R], of their products; 0 where None.
        """
        mean, logs = self.mean, np.log(latency_ms)
        for step in range(_STEPS):
            slope, expected = self._linear(parts_ms, composition, mean)
            residual = logs - expected
            # At first all weigh the same: a value far from a wrong prior is no outlier.
            squared = residual**2 if step else SHAPE.network**2
            noise = (_TAILS * SHAPE.network**2 + squared) / (_TAILS + 1)
            crossed = slope @ self.covariance  # [k, 1 + P + R]
            total = crossed @ slope.T + noise * np.eye(len(residual))
            gain = np.linalg.solve(total, crossed).T
            mean = self.mean + gain @ (residual + slope @ (mean - self.mean))
        covariance = self.covariance - gain @ crossed
        covariance = (covariance + covariance.T) / 2
        return replace(self, mean=mean, covariance=covariance)

    @cached_property
    def root(self) -> Floats:
        """Root of the covariance, float64 [1 + P + R, 1 + P + R]: it is root @ root.T."""
        return np.asarray(np.linalg.cholesky(self.covariance), np.float64)

    def predicted(
        self, parts_ms: Floats, composition: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return ln(time in ms) of k graphs and its variance but for their own, [k] each.

        Args:
            parts_ms: float64 [k, P], of the estimate without level and shape.
            composition: float64 [k, R], of their products; 0 where None.
        """
        slope, logs = self._linear(parts_ms, composition, self.mean)
        return logs, np.einsum("kp,pq,kq->k", slope, self.covariance, slope)

    def _linear(
        self, parts_ms: Floats, composition: Floats | None, mean: Floats
    ) -> tuple[Floats, Floats]:
        """Return the derivative of ln(time) by level and shape, and ln(time), [k]."""
        shape, effects = np.split(mean[1:], [PARTS])
        total, shares = overlapped(parts_ms * np.exp(shape), self.ahead)
        one = np.ones((len(shares), 1))
        along = np.zeros((len(shares), len(effects))) if composition is None else composition
        slope = np.concatenate([one, shares, along], axis=1)
        return slope, np.log(total) + mean[0] + along @ effects
