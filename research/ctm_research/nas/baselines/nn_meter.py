"""nn-Meter: a regression for each kind of kernel, summed over the kernels of a network.

The published tool measures kernels one by one on each device. Here only whole networks were
measured, so the regressions of a train device are fitted to sums. A test device takes the mean
train device's kernel times, with a factor for each kind of kernel that its samples fit.

Reference:
    L. Zhang et al., "nn-Meter: Towards accurate latency prediction of deep-learning model
    inference on diverse edge devices", MobiSys 2021.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.baselines.held_out import best_setting
from ctm_research.nas.method import Predicted, Probes
from ctm_research.nas.spaces.kernels import KernelTable
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView
from predictor.graph.operators import OPERATOR_CODE

_RIDGE: Final = 1e-3  # of the regressions, per train architecture
PULLS: Final = (0.003, 0.01, 0.03, 0.1, 0.3)  # weights that draw factors to one
_LEAST_SHARE: Final = 0.05  # of the mean sample; a sum of fitted times can come out at or below 0

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NnMeter:
    """The method ``nn-meter``."""

    name: str = "nn-meter"

    def train(self, view: TrainView, seed: int) -> TrainedNnMeter:
        """Fit the regressions; the pull of the factors is chosen on train devices left out."""
        pull = best_setting(view, seed, PULLS, lambda rest, _: kind_times(rest), TrainedNnMeter)
        return TrainedNnMeter(kind_times(view), pull)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedNnMeter:
    """Times by kind of kernel, on the mean train device.

    Attributes:
        times: float64 [A, G], of each architecture; a mean network takes 1 in sum.
        pull: weight that draws the factors of a test device to one common factor.
    """

    times: Matrix
    pull: float

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedNnMeter:
        """Fit a factor for each kind, in relative errors."""
        del device, seed
        scale = float(np.median(probes.latency_ms / self.times[probes.architectures].sum(axis=1)))
        scaled = scale * self.times
        # Divided by the measurement: the fit minimises relative errors, which the score counts.
        relative = scaled[probes.architectures] / probes.latency_ms[:, None]
        missing = 1 - relative.sum(axis=1)
        gram = relative.T @ relative + self.pull * np.eye(relative.shape[1])
        factors = 1 + np.linalg.solve(gram, relative.T @ missing)
        least = _LEAST_SHARE * float(probes.latency_ms.mean())
        return AdaptedNnMeter(np.maximum(scaled @ factors, least))


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedNnMeter:
    """Knows float64 [A], latencies of all architectures in ms."""

    latency_ms: Matrix

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Look up the sums."""
        return Predicted(self.latency_ms[architectures])


def kind_times(view: TrainView) -> Matrix:
    """Return float64 [A, G], times by kind of kernel on the mean train device.

    Each train device's latencies count relative to their mean.
    """
    parts = _regressors(view.architectures.kernels)  # G of [A, 4]
    joined = np.concatenate(parts, axis=1)
    # MACs and launches differ by orders of magnitude; the ridge must weigh them alike.
    size = np.abs(joined[view.rows]).max(axis=0)
    scaled = joined / np.where(size > 0, size, 1)
    seen = scaled[view.rows]
    target = (view.latency_ms / view.latency_ms.mean(axis=0)).mean(axis=1)
    gram = seen.T @ seen / len(seen) + _RIDGE * np.eye(seen.shape[1])
    weights = np.linalg.solve(gram, seen.T @ target / len(seen))
    contributions = scaled * weights  # [A, 4 G]
    times: Matrix = contributions.reshape(len(scaled), len(parts), -1).sum(axis=2)
    return times


def _regressors(table: KernelTable) -> list[Matrix]:
    """Return, for each kind, the sums over its kernels of the terms of a kernel's time."""
    about = np.column_stack(
        [
            np.ones(len(table.kernels)),
            table.column("macs"),
            table.column("bytes_read") + table.column("bytes_written"),
            table.column("weight_bytes"),
        ]
    )
    return [table.total(about * kind[:, None]) for kind in kinds(table)]


def kinds(table: KernelTable) -> list[NDArray[np.bool_]]:
    """Return bool [K] masks of the kinds of kernels that the space has; every kernel has one."""
    convolution = table.column("op_code") == OPERATOR_CODE["Conv"]
    grouped, window = table.column("groups") > 1, table.column("window")
    masks = [
        convolution & (window == 1) & ~grouped,
        convolution & (window == 1) & grouped,
        convolution & (window > 1) & ~grouped,
        *(convolution & (window == size) & grouped for size in np.unique(window[window > 1])),
        *(
            ~convolution & (table.column("op_code") == c)
            for c in np.unique(table.column("op_code"))
        ),
    ]
    return [mask for mask in masks if mask.any()]
