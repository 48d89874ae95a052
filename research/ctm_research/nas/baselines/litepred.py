"""LitePred: a pool of predictors of train devices, of which the nearest is fine-tuned.

The predictors are nn-Meter's regressions by kind of kernel in place of 16-layer networks. The
nearest is that whose predictions of the samples diverge least from the measured ones, taken as
distributions. Which architectures are measured is the protocol's choice, not a VAE's.

Reference:
    C. Feng et al., "LitePred", NSDI 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.baselines.held_out import best_setting
from ctm_research.nas.baselines.nn_meter import (
    PULLS,
    AdaptedNnMeter,
    Matrix,
    TrainedNnMeter,
    kind_times,
)
from ctm_research.nas.method import Probes
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView


@dataclass(frozen=True, slots=True)
class LitePred:
    """The method ``litepred``."""

    name: str = "litepred"

    def train(self, view: TrainView, seed: int) -> TrainedPool:
        """Fit the pool; the pull of fine-tuning is chosen on train devices left out."""
        pull = best_setting(view, seed, PULLS, lambda rest, _: fitted_pool(rest), TrainedPool)
        return TrainedPool(fitted_pool(view), pull)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedPool:
    """Regressions of each train device.

    Attributes:
        pool: times by kind of kernel of all architectures, float64 [A, G] for each train device.
        pull: weight that draws the factors of a test device to one common factor.
    """

    pool: tuple[Matrix, ...]
    pull: float

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedNnMeter:
        """Fine-tune the nearest member with a factor for each kind."""
        apart = [divergence(times[probes.architectures].sum(axis=1), probes) for times in self.pool]
        nearest = TrainedNnMeter(self.pool[int(np.argmin(apart))], self.pull)
        return nearest.adapt(device, probes, seed)


def fitted_pool(view: TrainView) -> tuple[Matrix, ...]:
    """Return times by kind of kernel, float64 [A, G], on each train device."""
    names = [device.name for device in view.devices]
    alone = [
        reduce(TrainView.without, (other for other in names if other != name), view)
        for name in names
    ]
    return tuple(map(kind_times, alone))


def divergence(predicted: NDArray[np.float64], probes: Probes) -> float:
    """Return the Kullback-Leibler divergence of predicted from measured latencies.

    The published code sorts the largest first, which must be a slip.
    """
    measured = probes.latency_ms / probes.latency_ms.sum()
    shares = np.maximum(predicted, 1e-9) / np.maximum(predicted, 1e-9).sum()
    return float((measured * np.log(measured / shares)).sum())
