"""Estimates of targets: factors and variances before any graph, and latencies of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.evidence import Keys
from predictor.calibration.target_fit import TargetFit
from predictor.core.arrays import Bools, Floats, Integers
from predictor.core.records import Target
from predictor.cost.rates.typical import Rates
from predictor.engine.operator_factors import Contexts

ARRAYS: Final = ("usual", "factors", "effects", "ahead", "context", "klass", "variance", "unknown")
"""Arrays of :class:`TargetEstimates` with a row for each target."""

_LISTS: Final = ("targets", "evidence", "doubts", "class_chips")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TargetEstimates:
    """Rates, factors and variances of T targets, the same for every graph.

    Attributes:
        targets: T targets.
        rates: of them, without gaps.
        usual: float64 [T, len(KINDS), len(TERMS)], factors of the class on the terms.
        factors: float64 [T, len(KINDS), len(TERMS)], with what measurements add.
        effects: float64 [T, R], of the compositions of networks in ln.
        ahead: bool [T], whether starts run ahead.
        context: int64 [T], place of each in ``contexts``.
        contexts: C of them, for the factors of single operators.
        klass: int64 [T], place of the class of each among those in which networks deviate; that
            after the last one where nothing of the silicon was measured.
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
    effects: Floats
    ahead: Bools
    context: Integers
    contexts: Contexts
    klass: Integers
    variance: Floats
    unknown: Floats
    fits: Mapping[int, TargetFit]
    wide: Floats
    evidence: Sequence[str]
    doubts: Sequence[str]
    class_chips: Sequence[int | None]

    def take(self, places: NDArray[np.integer]) -> TargetEstimates:
        """Return the estimates of some of the targets; their contexts stay numbered as here."""
        chosen = places.tolist()
        lists: dict[str, Any] = {
            name: [getattr(self, name)[place] for place in chosen] for name in _LISTS
        }
        arrays: dict[str, Any] = {name: getattr(self, name)[places] for name in ARRAYS}
        return replace(
            self,
            rates=self.rates.take(places),
            fits={at: self.fits[place] for at, place in enumerate(chosen) if place in self.fits},
            wide=self.wide[:, places],
            **lists,
            **arrays,
        )


@dataclass(frozen=True, slots=True, eq=False)
class GraphEstimates:
    """Latency of one graph on T targets.

    Attributes:
        latency_ms: float64 [T].
        deviation: float64 [T], standard deviation of ln(latency).
        shared: float64 [T, 1 + P + R], see ``PredictionTable.shared_error``.
    """

    latency_ms: Floats
    deviation: Floats
    shared: Floats


@dataclass(frozen=True, slots=True, eq=False)
class UserFit:
    """A target that the user measured.

    Attributes:
        keys: of the target in the evidence.
        networks: number of measured ones; 0 where a matrix product alone stands for them.
        fit: to them.
    """

    keys: Keys
    networks: int
    fit: TargetFit

    @property
    def key(self) -> tuple[str, ...]:
        """The keys of the target but its silicon."""
        return self.keys.targets()[0]
