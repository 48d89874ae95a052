"""ESM: a small network on counts of the choices in each stage of a super-network.

A feature combination count tells how many blocks of a unit have each combination of kernel and
expansion, where a one-hot code tells which block has it. Training architectures are balanced over
latency, not drawn alike. The published recipe then measures where the error is high; here the
samples are given.

Reference:
    "ESM: a framework for building effective surrogate models for hardware-aware neural architecture
    search", DAC 2025, arXiv 2508.01505.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ctm_research.nas.baselines.transfer import (
    DeviceNetwork,
    Recipe,
    TrainedNetwork,
    train_transferable,
)
from ctm_research.nas.spaces.space import Architectures
from ctm_research.nas.spaces.view import TrainView

# Positions of FBNet's code by stage; a cell has no stages, so each of its edges is a unit.
_FBNET_STAGES: Final = (0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6)
_WIDTH: Final = 64
_BINS: Final = 20
_SAMPLES: Final = 500  # of which the authors say that they are enough
_RECIPE: Final = Recipe(steps=1500)


@dataclass(frozen=True, slots=True)
class Esm:
    """The method ``esm``."""

    name: str = "esm"

    def train(self, view: TrainView, seed: int) -> TrainedNetwork:
        """Train on architectures that are balanced over their latency."""
        rows = balanced(view.log_latency().mean(axis=1), min(_SAMPLES, len(view.rows)), seed)
        some = replace(view, rows=view.rows[rows], latency_ms=view.latency_ms[rows])
        trained = train_transferable(some, EsmNetwork, _RECIPE, seed)
        return replace(trained, view=view)


class EsmNetwork(DeviceNetwork):
    """Two hidden layers on the counts, and an output for each device."""

    def __init__(self, architectures: Architectures, devices: int) -> None:
        super().__init__()
        self.counts: Tensor
        self.register_buffer("counts", torch.from_numpy(combination_counts(architectures)).float())
        self.hidden = nn.Sequential(
            nn.Linear(self.counts.shape[1], _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, _WIDTH), nn.ReLU()
        )
        self.outputs = nn.Linear(_WIDTH, devices)

    def forward(self, architectures: Tensor, device: int) -> Tensor:
        """See :class:`DeviceNetwork`."""
        output: Tensor = self.outputs(self.hidden(self.counts[architectures]))[:, device]
        return output

    def start_device(self, device: int, weights: Tensor) -> None:
        """See :class:`DeviceNetwork`."""
        with torch.no_grad():
            self.outputs.weight[device] = weights @ self.outputs.weight[: len(weights)]
            self.outputs.bias[device] = weights @ self.outputs.bias[: len(weights)]


def combination_counts(architectures: Architectures) -> NDArray[np.int64]:
    """Return how often each choice stands in each stage, int64 [A, stages * choices]."""
    codes = architectures.codes
    positions = codes.shape[1]
    stages = _FBNET_STAGES if positions == len(_FBNET_STAGES) else tuple(range(positions))
    one_hot = np.eye(architectures.choices, dtype=np.int64)[codes]  # [A, P, choices]
    counts = np.zeros((len(codes), max(stages) + 1, architectures.choices), np.int64)
    for position, stage in enumerate(stages):
        counts[:, stage] += one_hot[:, position]
    return counts.reshape(len(codes), -1)


def balanced(log_latency: NDArray[np.float64], count: int, seed: int) -> NDArray[np.int64]:
    """Draw architectures so that bins of latency hold as equal numbers as they can, ascending."""
    rng = np.random.default_rng(seed)
    edges = np.linspace(log_latency.min(), log_latency.max(), _BINS + 1)[1:-1]
    of_bin = np.digitize(log_latency, edges)
    order = rng.permutation(len(log_latency))
    order = order[np.argsort(of_bin[order], kind="stable")]
    first = np.searchsorted(of_bin[order], of_bin[order])
    rank = np.arange(len(order)) - first  # of an architecture in its bin
    chosen: NDArray[np.int64] = np.sort(order[np.argsort(rank, kind="stable")[:count]])
    return chosen
