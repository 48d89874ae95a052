"""The least that a predictor must beat: every architecture takes the median of the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.method import Predicted, Probes
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView


@dataclass(frozen=True, slots=True)
class Constant:
    """The method ``constant``."""

    name: str = "constant"

    def train(self, view: TrainView, seed: int) -> TrainedConstant:
        """Learn nothing."""
        del view, seed
        return TrainedConstant()


@dataclass(frozen=True, slots=True)
class TrainedConstant:
    """Knows nothing."""

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedConstant:
        """Take the median of the samples."""
        del device, seed
        return AdaptedConstant(float(np.median(probes.latency_ms)))


@dataclass(frozen=True, slots=True)
class AdaptedConstant:
    """One number."""

    latency_ms: float

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Predict the same for all."""
        return Predicted(np.full(len(architectures), self.latency_ms))
