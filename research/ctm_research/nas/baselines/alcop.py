"""ALCOP's lesson: boosted trees that learn analytic latencies first, then the train devices.

Reference:
    G. Huang et al., "ALCOP", MLSys 2023.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from ctm_research.nas.baselines.held_out import best_setting
from ctm_research.nas.method import Predicted, Probes
from ctm_research.nas.spaces.kernels import KernelTable
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView

_MACS_PER_BYTE: Final = 10.0  # ridge of the analytic device, usual for processors and GPUs
_LAUNCH_MACS: Final = 1e6  # that a launch takes as long as
_RIDGES: Final = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the slope around one


@dataclass(frozen=True, slots=True)
class Alcop:
    """The method ``alcop``."""

    name: str = "alcop"

    def train(self, view: TrainView, seed: int) -> TrainedTrees:
        """Train on the roofline of all architectures, then on the mean train device.

        The ridge of a test device's slope is chosen on train devices left out.
        """
        table = view.architectures.kernels
        inputs = np.log1p(np.column_stack([view.architectures.structure, table.counts]))
        before = _trees(seed).fit(inputs, roofline(table)).predict(inputs)

        def refined(view: TrainView, seed: int) -> NDArray[np.float64]:
            log_latency = view.log_latency()
            mean = (log_latency - log_latency.mean(axis=0)).mean(axis=1)
            centred = before - before[view.rows].mean()
            left = mean - centred[view.rows]
            trees = _trees(seed).fit(inputs[view.rows], left)
            both: NDArray[np.float64] = centred + trees.predict(inputs)
            return both

        ridge = best_setting(view, seed, _RIDGES, refined, TrainedTrees)
        return TrainedTrees(refined(view, seed), ridge)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedTrees:
    """Trained trees: their latencies of all architectures, and a setting of the adaptation.

    Attributes:
        log_latency: float64 [A], of all architectures on the mean train device.
        ridge: weight that draws the slope of a test device to one.
    """

    log_latency: NDArray[np.float64]
    ridge: float

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedTrees:
        """Fit slope and offset."""
        del device, seed
        seen, measured = self.log_latency[probes.architectures], probes.log_latency()
        centred = seen - seen.mean()
        scale = float(self.log_latency.std()) ** 2
        gain = float(centred @ (measured - measured.mean() - centred))
        slope = 1 + gain / (float(centred @ centred) + self.ridge * scale)
        return AdaptedTrees(measured.mean() + slope * (self.log_latency - seen.mean()))


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedTrees:
    """Float64 [A], log-latency of all architectures on the device."""

    log_latency: NDArray[np.float64]

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Look up the latencies."""
        return Predicted(np.exp(self.log_latency[architectures]))


def roofline(table: KernelTable) -> NDArray[np.float64]:
    """Return ln of the time of each graph on an analytic device, in MACs, float64 [A]."""
    moved = table.column("bytes_read") + table.column("bytes_written")
    moved = moved + table.column("weight_bytes")
    each = np.maximum(table.column("macs"), _MACS_PER_BYTE * moved) + _LAUNCH_MACS
    whole: NDArray[np.float64] = np.log(table.total(each))
    return whole


def _trees(seed: int) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(max_iter=100, random_state=seed)
