"""NNLP: GraphSAGE with sum pooling and static features, and a head for each platform.

Reference:
    L. Liu et al., "NNLQP", ICPP 2022; its public code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from ctm_research.nas.baselines.blocks import block_graph
from ctm_research.nas.baselines.transfer import (
    DeviceNetwork,
    Recipe,
    TrainedNetwork,
    train_transferable,
)
from ctm_research.nas.spaces.space import Architectures
from ctm_research.nas.spaces.structure import STRUCTURE_NAMES
from ctm_research.nas.spaces.view import TrainView

_WIDTH: Final = 64
_RECIPE: Final = Recipe(steps=1500)
# FLOPs, parameters and memory access; the batch is the same in a space.
_STATICS: Final = [
    STRUCTURE_NAMES.index(name) for name in ("MACs", "weight bytes", "activation bytes")
]


@dataclass(frozen=True, slots=True)
class Nnlp:
    """The method ``nnlp``."""

    name: str = "nnlp"

    def train(self, view: TrainView, seed: int) -> TrainedNetwork:
        """Train body and heads on all train devices."""
        return train_transferable(view, NnlpNetwork, _RECIPE, seed)


class NnlpNetwork(DeviceNetwork):
    """Two SAGE layers on the blocks, their sum beside static features, a head for each device."""

    def __init__(self, architectures: Architectures, devices: int) -> None:
        super().__init__()
        graph = block_graph(architectures)
        mean = graph.adjacency / np.maximum(graph.adjacency.sum(axis=1, keepdims=True), 1)
        statics = np.log(architectures.structure[:, _STATICS])
        statics = (statics - statics.mean(axis=0)) / statics.std(axis=0)
        self.kinds: Tensor
        self.mean: Tensor
        self.statics: Tensor
        self.register_buffer("kinds", torch.from_numpy(graph.kinds))
        self.register_buffer("mean", torch.from_numpy(mean).float())
        self.register_buffer("statics", torch.from_numpy(statics).float())
        self.kind = nn.Embedding(graph.kind_count, _WIDTH)
        self.place = nn.Parameter(0.3 * torch.randn(len(mean), _WIDTH))
        self.own = nn.ModuleList(nn.Linear(_WIDTH, _WIDTH) for _ in range(2))
        self.near = nn.ModuleList(nn.Linear(_WIDTH, _WIDTH, bias=False) for _ in range(2))
        self.joined = nn.Linear(_WIDTH + len(_STATICS), _WIDTH)
        self.heads = nn.Linear(_WIDTH, devices)

    def forward(self, architectures: Tensor, device: int) -> Tensor:
        """See :class:`DeviceNetwork`."""
        kinds = self.kinds[architectures]  # [n, L]
        # Nodes of a kind at a place start alike: the first layer computes each pair once.
        starts = self.kind.weight[:, None] + self.place  # [kinds, L, width]
        at = kinds * starts.shape[1] + torch.arange(starts.shape[1])
        own, near = (
            nn.functional.embedding(at, layer(starts).flatten(0, 1))
            for layer in (self.own[0], self.near[0])
        )
        nodes = torch.relu(own + self.mean @ near)  # [n, L, width]
        nodes = torch.relu(self.own[1](nodes) + self.mean @ self.near[1](nodes))
        pooled = torch.cat([nodes.sum(dim=1) / 10, self.statics[architectures]], dim=1)
        output: Tensor = self.heads(torch.relu(self.joined(pooled)))[:, device]
        return output

    def start_device(self, device: int, weights: Tensor) -> None:
        """See :class:`DeviceNetwork`."""
        with torch.no_grad():
            self.heads.weight[device] = weights @ self.heads.weight[: len(weights)]
            self.heads.bias[device] = weights @ self.heads.bias[: len(weights)]
