"""Beliefs of an engine about networks on a target.

An engine with intervals gives the shared part of its predictions' errors
(``PredictionTable.shared_error``). From that follows how much narrower intervals become once some
networks are measured, whatever their latencies will be: the variance of a normal distribution that
is conditioned does not depend on the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predictor.core.percentiles import Z80
from predictor.cost.engine import PredictionTable
from predictor.probing.selection.interface import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Joint log-normal belief about N networks on one target.

    Attributes:
        latency_ms: float64 [N], P50.
        features: float64 [N, F]; the product of two rows is the covariance of the errors of two
            log-latencies.
        noise: float64 [N], standard deviation of the part of an error that no other network has.
    """

    latency_ms: Floats
    features: Floats
    noise: Floats

    @classmethod
    def of(cls, table: PredictionTable, column: int = 0) -> Belief | None:
        """Return a table's belief about one target; None where it has no intervals or a gap."""
        if table.shared_error is None:
            return None
        # Of a log-normal: its 90th percentile lies Z80 standard deviations above the median.
        spread = np.log(table.high80_ms[:, column] / table.latency_ms[:, column]) / Z80
        if not np.isfinite(spread).all():
            return None
        shared = table.shared_error[:, column].astype(np.float64)
        # Dot products are correlations: 1 minus a vector's own is the share that is not shared. Its
        # float32 rounding may pass 1.
        residual = np.maximum(1.0 - (shared**2).sum(axis=1), 0.0)
        return cls(
            table.latency_ms[:, column], shared * spread[:, None], spread * np.sqrt(residual)
        )

    def take(self, rows: Sequence[int]) -> Belief:
        """Return the belief about some of the networks."""
        indices = list(rows)
        return Belief(self.latency_ms[indices], self.features[indices], self.noise[indices])

    @property
    def spread(self) -> Floats:
        """Standard deviation of each log-latency, float64 [N]."""
        spread: Floats = np.sqrt((self.features**2).sum(axis=1) + self.noise**2)
        return spread

    def drawn(self, seed: int) -> Floats:
        """Draw latencies in ms as they might be measured, float64 [N]."""
        generator = np.random.default_rng(seed)
        shared = self.features @ generator.standard_normal(self.features.shape[1])
        residual = self.noise * generator.standard_normal(len(self.noise))
        drawn: Floats = self.latency_ms * np.exp(shared + residual)
        return drawn
