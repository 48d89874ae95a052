"""The interface of a system, and the level that those without an adaptation of their own take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ctm_research.evaluation.judge.engines import FittedEngine, Predicted
from ctm_research.evaluation.judge.groups import Floats
from ctm_research.evaluation.judge.judged import Judged, Rows
from ctm_research.evaluation.systems.field import Field


class System(Protocol):
    """A latency predictor that can be trained in a fold.

    What it fits is asked with the measured networks of each target: none of them at k = 0.
    """

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Train on measurements of a fold; no other latency may be read."""


@dataclass(frozen=True, slots=True, eq=False)
class Levelled:
    """Predictions of all measurements, moved to the level of the measured networks of a target.

    Attributes:
        judged: the corpus.
        log_ms: float64 [M], predicted ln(latency in ms); NaN where there is none.
    """

    judged: Judged
    log_ms: Floats

    def predict(self, rows: Rows, measured: Mapping[int, Rows]) -> Predicted:
        """Return the predictions plus the median of what the measured networks are off by."""
        shift = np.zeros(len(self.judged.targets))
        for target, own in measured.items():
            apart = self.judged.log_latency[own] - self.log_ms[own]
            shift[target] = np.nanmedian(apart) if np.isfinite(apart).any() else np.nan
        moved = self.log_ms[rows] + shift[self.judged.target[rows]]
        return Predicted(moved, np.full(len(rows), np.nan))


def in_rows(judged: Judged, rows: Rows, log_ms: Floats) -> Floats:
    """Return float64 [M], values of some measurements and NaN of the others."""
    whole = np.full(len(judged.log_latency), np.nan)
    whole[rows] = log_ms
    return whole
