"""What the estimate knows of targets, and its latencies of a graph on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.target_fit import TargetFit
from predictor.core.records import Target
from predictor.cost.rates.typical import Rates
from predictor.engine.operator_factors import Contexts

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TargetEstimates:
    """What the estimate knows of T targets before any graph.

    Attributes:
        targets: T targets.
        rates: of them, without gaps.
        usual: float64 [T, len(KINDS), len(TERMS)], factors of the class on the terms.
        factors: float64 [T, len(KINDS), len(TERMS)], with what measurements add.
        ahead: bool [T], whether starts run ahead.
        context: int64 [T], place of each in ``contexts``.
        contexts: C of them, for the factors of single operators.
        variance: float64 [T], of the level in ln.
        unknown: float64 [T], part of the variance of a shape that is left.
        fits: to the user's measurements, by place.
        wide: float64 [2, T], half the 80 % and the 95 % interval over the standard deviation.
        evidence: in words, T of them.
        doubts: in words, empty for none.
        class_chips: that the class of each was checked on, see ``Prediction``.
    """

    targets: Sequence[Target]
    rates: Rates
    usual: Floats
    factors: Floats
    ahead: NDArray[np.bool_]
    context: NDArray[np.int64]
    contexts: Contexts
    variance: Floats
    unknown: Floats
    fits: Mapping[int, TargetFit]
    wide: Floats
    evidence: Sequence[str]
    doubts: Sequence[str]
    class_chips: Sequence[int | None]

    def take(self, places: NDArray[np.integer]) -> TargetEstimates:
        """Return what is known of some of the targets; their contexts stay numbered as here."""
        chosen = places.tolist()
        return TargetEstimates(
            targets=[self.targets[place] for place in chosen],
            rates=self.rates.take(places),
            usual=self.usual[places],
            factors=self.factors[places],
            ahead=self.ahead[places],
            context=self.context[places],
            contexts=self.contexts,
            variance=self.variance[places],
            unknown=self.unknown[places],
            fits={at: self.fits[place] for at, place in enumerate(chosen) if place in self.fits},
            wide=self.wide[:, places],
            evidence=[self.evidence[place] for place in chosen],
            doubts=[self.doubts[place] for place in chosen],
            class_chips=[self.class_chips[place] for place in chosen],
        )


@dataclass(frozen=True, slots=True, eq=False)
class GraphEstimates:
    """Latency of one graph on T targets.

    Attributes:
        latency_ms: float64 [T].
        deviation: float64 [T], standard deviation of ln(latency).
        shared: float64 [T, 1 + P], see ``PredictionTable.shared_error``.
    """

    latency_ms: Floats
    deviation: Floats
    shared: Floats


@dataclass(frozen=True, slots=True, eq=False)
class UserFit:
    """A target that the user measured.

    Attributes:
        target: the target.
        graphs: number of measured graphs.
        fit: to them.
    """

    target: Target
    graphs: int
    fit: TargetFit
