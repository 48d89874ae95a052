"""LitePred: a pool of predictors of train devices, of which the nearest is fine-tuned.

The predictors are nn-Meter's regressions by kind of kernel in place of 16-layer networks. The
nearest is that whose predictions of the samples diverge least from the measured ones, taken as
distributions. Which architectures are measured is the protocol's choice, not a VAE's.

Reference:
    C. Feng et al., "LitePred", NSDI 2024.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.research.nas.baselines.nn_meter import (
    AdaptedNnMeter,
    Matrix,
    TrainedNnMeter,
    kind_times,
)
from predictor.research.nas.method import Probes
from predictor.research.nas.spaces.space import DeviceFacts
from predictor.research.nas.spaces.view import TrainView

_PULL = 0.03  # of fine-tuning, the middle of nn-Meter's choices


@dataclass(frozen=True, slots=True)
class LitePred:
    """The method ``litepred``."""

    name: str = "litepred"

    def train(self, view: TrainView, seed: int) -> TrainedPool:
        """Fit the regressions of each train device."""
        del seed
        pool = []
        for device in view.devices:
            others = [each.name for each in view.devices if each.name != device.name]
            alone = view
            for other in others:
                alone = alone.without(other)
            pool.append(kind_times(alone))
        return TrainedPool(tuple(pool))


@dataclass(frozen=True, slots=True, eq=False)
class TrainedPool:
    """Times by kind of kernel of all architectures on each train device, each float64 [A, G]."""

    pool: tuple[Matrix, ...]

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedNnMeter:
        """Fine-tune the nearest member with a factor for each kind."""
        apart = [divergence(times[probes.architectures].sum(axis=1), probes) for times in self.pool]
        nearest = TrainedNnMeter(self.pool[int(np.argmin(apart))], _PULL)
        return nearest.adapt(device, probes, seed)


def divergence(predicted: NDArray[np.float64], probes: Probes) -> float:
    """Return the Kullback-Leibler divergence of predicted from measured latencies.

    The published code sorts the largest first, which must be a slip.
    """
    measured = probes.latency_ms / probes.latency_ms.sum()
    shares = np.maximum(predicted, 1e-9) / np.maximum(predicted, 1e-9).sum()
    return float((measured * np.log(measured / shares)).sum())
