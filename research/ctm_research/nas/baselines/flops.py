"""#FLOPs: latency as a power of the multiply-accumulates, fitted on the device's samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.method import Predicted, Probes
from ctm_research.nas.spaces.space import Architectures, DeviceFacts
from ctm_research.nas.spaces.structure import STRUCTURE_NAMES
from ctm_research.nas.spaces.view import TrainView

_MACS = STRUCTURE_NAMES.index("MACs")


@dataclass(frozen=True, slots=True)
class Flops:
    """The method ``flops``."""

    name: str = "flops"

    def train(self, view: TrainView, seed: int) -> TrainedFlops:
        """Count; there is nothing to learn from other devices."""
        del seed
        return TrainedFlops(log_macs(view.architectures))


@dataclass(frozen=True, slots=True, eq=False)
class TrainedFlops:
    """Knows float64 [A], the logarithms of the MACs."""

    log_macs: NDArray[np.float64]

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedFlops:
        """Fit slope and intercept of log-latency; a slope needs samples of different MACs."""
        del device, seed
        seen, measured = self.log_macs[probes.architectures], probes.log_latency()
        centred = seen - seen.mean()
        spread = float(centred @ centred)
        slope = float(centred @ measured) / spread if spread > 0 else 0.0
        return AdaptedFlops(self.log_macs, slope, float(measured.mean() - slope * seen.mean()))


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedFlops:
    """A line in logarithms."""

    log_macs: NDArray[np.float64]
    slope: float
    intercept: float

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Follow the line."""
        return Predicted(np.exp(self.intercept + self.slope * self.log_macs[architectures]))


def log_macs(architectures: Architectures) -> NDArray[np.float64]:
    """Return float64 [A], logarithms of the multiply-accumulates."""
    return np.log(architectures.structure[:, _MACS])
