"""BRP-NAS: a graph convolutional network, and the device as a one-hot identifier.

Nodes carry the place of their block besides its choice: without it a chain of blocks of one kind
would look the same wherever it stands, and the published form could not tell FBNet's stages apart.

Reference:
    L. Dudziak et al., "BRP-NAS: Prediction-based NAS using GCNs", NeurIPS 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

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
from ctm_research.nas.spaces.view import TrainView

_WIDTH: Final = 64
_LAYERS: Final = 4
_RECIPE: Final = Recipe(steps=1500)


@dataclass(frozen=True, slots=True)
class Brp:
    """The method ``brp``."""

    name: str = "brp"

    def train(self, view: TrainView, seed: int) -> TrainedNetwork:
        """Train the graph network on all train devices."""
        return train_transferable(view, BrpNetwork, _RECIPE, seed)


class BrpNetwork(DeviceNetwork):
    """Four graph convolutions over both directions of the edges, then a regressor."""

    def __init__(self, architectures: Architectures, devices: int) -> None:
        super().__init__()
        graph = block_graph(architectures)
        linked = torch.from_numpy(graph.adjacency | graph.adjacency.T).float()
        self.kinds: Tensor
        self.mixing: Tensor
        self.register_buffer("kinds", torch.from_numpy(graph.kinds))
        self.register_buffer("mixing", _normalised(linked + torch.eye(len(linked))))
        self.kind = nn.Embedding(graph.kind_count, _WIDTH)
        self.place = nn.Parameter(0.3 * torch.randn(len(linked), _WIDTH))
        self.layers = nn.ModuleList(nn.Linear(_WIDTH, _WIDTH) for _ in range(_LAYERS))
        self.identifier = nn.Embedding(devices, _WIDTH)  # a linear layer on a one-hot vector
        self.fused = nn.Linear(_WIDTH, _WIDTH)
        self.output = nn.Linear(_WIDTH, 1)

    def forward(self, architectures: Tensor, device: int) -> Tensor:
        """See :class:`DeviceNetwork`."""
        nodes = self.kind(self.kinds[architectures]) + self.place  # [n, L, width]
        for layer in self.layers:
            nodes = torch.relu(self.mixing @ layer(nodes))
        pooled = self.fused(nodes.mean(dim=1)) + self.identifier.weight[device]
        output: Tensor = self.output(torch.relu(pooled))[:, 0]
        return output

    def start_device(self, device: int, weights: Tensor) -> None:
        """See :class:`DeviceNetwork`."""
        with torch.no_grad():
            self.identifier.weight[device] = weights @ self.identifier.weight[: len(weights)]


def _normalised(linked: Tensor) -> Tensor:
    """Return D^-1/2 A D^-1/2, as graph convolutions take it."""
    root = linked.sum(dim=1).rsqrt()
    return root[:, None] * linked * root
