"""Points of predicted against measured: where they lie, their whiskers, their colours by basis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ctm_gui.geometry import nearest_point
from ctm_gui.presenters.ordering import FloatArray, IndexArray
from predictor.core.records import Basis
from predictor.core.units import LatencyUnit
from predictor.services.history.truth import Pair

BASES: tuple[Basis, ...] = (Basis.ANALYTIC, Basis.ZERO_SHOT, Basis.PROBED, Basis.MEASURED)
_MARGIN = 0.12  # of a decade around the points
_LEAST_SPAN = 0.6


@dataclass(frozen=True, eq=False)
class TruthChart:
    """N points, all latencies in ``unit``; a rate is per sample.

    Attributes:
        pairs: the points.
        unit: of both axes.
    """

    pairs: tuple[Pair, ...] = ()
    unit: LatencyUnit = LatencyUnit.MS

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def measured(self) -> FloatArray:
        """log10 of what was measured, float64 [N]."""
        return self._logs([pair.measured_ms for pair in self.pairs])

    @cached_property
    def predicted(self) -> FloatArray:
        """log10 of what was predicted, float64 [N]."""
        return self._logs([pair.predicted_ms for pair in self.pairs])

    @cached_property
    def whiskers(self) -> tuple[FloatArray, FloatArray]:
        """log10 of both ends of the 80 % intervals, float64 [N] each; NaN without one."""
        predictions = [pair.predicted.prediction for pair in self.pairs]
        return self._logs([p.low80_ms for p in predictions]), self._logs(
            [p.high80_ms for p in predictions]
        )

    @cached_property
    def basis(self) -> IndexArray:
        """Index into ``BASES``, intp [N]."""
        place_of = {basis: index for index, basis in enumerate(BASES)}
        places = [
            place_of.get(p.predicted.prediction.basis or Basis.ANALYTIC, 0) for p in self.pairs
        ]
        return np.array(places, dtype=np.intp)

    def bases(self) -> list[Basis]:
        """Return the bases that occur, for the legend."""
        return [BASES[index] for index in sorted(set(self.basis.tolist()))]

    def span(self) -> tuple[float, float]:
        """Return log10 of the ends of both axes, which are the same: the line is a diagonal."""
        low, high = self.whiskers
        values = np.concatenate((self.measured, self.predicted, low, high))
        values = values[np.isfinite(values)]
        if not values.size:
            return 0.0, 1.0
        start, end = float(values.min()) - _MARGIN, float(values.max()) + _MARGIN
        middle, half = (start + end) / 2, max(end - start, _LEAST_SPAN) / 2
        return middle - half, middle + half

    def nearest(self, points: FloatArray, at: tuple[float, float], reach: float) -> Pair | None:
        """Return the pair whose point is nearest to a place.

        Args:
            points: float64 [N, 2], where the points are drawn.
            at: the place.
            reach: how far it may be.
        """
        nearest = nearest_point(points, at, reach) if len(self) else None
        return None if nearest is None else self.pairs[nearest]

    def _logs(self, values_ms: Sequence[float | None]) -> FloatArray:
        def log(value_ms: float | None, batch: int) -> float:
            value = None if value_ms is None else self.unit.from_ms(value_ms, batch)
            return math.log10(value) if value and math.isfinite(value) else math.nan

        batches = [max(p.predicted.prediction.configuration.batch, 1) for p in self.pairs]
        return np.array(
            [log(value, batch) for value, batch in zip(values_ms, batches, strict=True)],
            dtype=np.float64,
        )
