"""FLAT: dense graph flow and graph attention in concert, with hardware embeddings by operation.

Each node carries its choice, its place, and an embedding of the device that belongs to the choice.
Half of the output comes from each kind of layer. A test device starts as the train device whose
latencies of the samples are most correlated with its own.

Reference:
    Y. Akhauri and M. Abdelfattah, "On latency predictors for neural architecture search",
    MLSys 2024.
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
_LAYERS: Final = 3
_RECIPE: Final = Recipe(steps=1200, batch=64, nearest=True)


@dataclass(frozen=True, slots=True)
class Flat:
    """The method ``flat``."""

    name: str = "flat"

    def train(self, view: TrainView, seed: int) -> TrainedNetwork:
        """Train both kinds of layers on all train devices."""
        return train_transferable(view, FlatNetwork, _RECIPE, seed)


class FlatNetwork(DeviceNetwork):
    """Two graph networks on the same nodes; their readouts are added."""

    def __init__(self, architectures: Architectures, devices: int) -> None:
        super().__init__()
        graph = block_graph(architectures)
        self.kinds: Tensor
        self.adjacency: Tensor
        self.register_buffer("kinds", torch.from_numpy(graph.kinds))
        self.register_buffer("adjacency", torch.from_numpy(graph.adjacency).float())
        self.kind = nn.Embedding(graph.kind_count, _WIDTH)
        self.hardware = nn.Parameter(0.3 * torch.randn(devices, graph.kind_count, _WIDTH))
        self.operation = nn.Sequential(nn.Linear(2 * _WIDTH, _WIDTH), nn.ReLU())
        self.place = nn.Parameter(0.3 * torch.randn(len(graph.adjacency), _WIDTH))
        self.flows = nn.ModuleList(DenseGraphFlow() for _ in range(_LAYERS))
        self.attentions = nn.ModuleList(GraphAttention() for _ in range(_LAYERS))
        self.flow_output = _regressor()
        self.attention_output = _regressor()

    def forward(self, architectures: Tensor, device: int) -> Tensor:
        """See :class:`DeviceNetwork`."""
        kinds = self.kinds[architectures]  # [n, L]
        joined = torch.cat([self.kind.weight, self.hardware[device]], dim=-1)
        operations = self.operation(joined)  # [kinds, width]: nodes of a kind share theirs
        flowing = attending = nn.functional.embedding(kinds, operations) + self.place
        for flow, attention in zip(self.flows, self.attentions, strict=True):
            flowing = torch.relu(flow(flowing, kinds, operations, self.adjacency))
            attending = attention(attending, kinds, operations, self.adjacency)
        output: Tensor = self.flow_output(flowing.mean(dim=1)) + self.attention_output(
            attending.mean(dim=1)
        )
        return output[:, 0]

    def start_device(self, device: int, weights: Tensor) -> None:
        """See :class:`DeviceNetwork`."""
        with torch.no_grad():
            self.hardware[device] = torch.einsum(
                "d,dkw->kw", weights, self.hardware[: len(weights)]
            )


class DenseGraphFlow(nn.Module):
    """X' = sigmoid(O W_o) * (A X W_f) + X W_p + b."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(_WIDTH, _WIDTH, bias=False)
        self.flow = nn.Linear(_WIDTH, _WIDTH, bias=False)
        self.keep = nn.Linear(_WIDTH, _WIDTH)

    def forward(
        self, nodes: Tensor, kinds: Tensor, operations: Tensor, adjacency: Tensor
    ) -> Tensor:
        """Return [n, L, width] from nodes, kinds [n, L], operations by kind, adjacency [L, L]."""
        gate = nn.functional.embedding(kinds, torch.sigmoid(self.gate(operations)))
        output: Tensor = gate * (adjacency @ self.flow(nodes))
        kept: Tensor = self.keep(nodes)
        return output + kept


class GraphAttention(nn.Module):
    """Attention over a node and its producers, gated by its operation, then normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(_WIDTH, _WIDTH, bias=False)
        self.project = nn.Linear(_WIDTH, _WIDTH, bias=False)
        self.score = nn.Linear(_WIDTH, 1, bias=False)
        self.norm = nn.LayerNorm(_WIDTH)

    def forward(
        self, nodes: Tensor, kinds: Tensor, operations: Tensor, adjacency: Tensor
    ) -> Tensor:
        """Return [n, L, width]; arguments as of :class:`DenseGraphFlow`."""
        projected = self.project(nodes)
        weighed = projected * self.score.weight[0]
        scores = nn.functional.leaky_relu(weighed @ projected.transpose(1, 2))  # [n, L, L]
        # A node attends to itself: a row without any link would be a softmax of nothing, NaN.
        linked = (adjacency + torch.eye(len(adjacency))) > 0
        attention = scores.masked_fill(~linked, -torch.inf).softmax(dim=-1)
        gate = nn.functional.embedding(kinds, torch.sigmoid(self.gate(operations)))
        return torch.relu(self.norm(gate * (attention @ projected) + nodes))


def _regressor() -> nn.Sequential:
    return nn.Sequential(nn.Linear(_WIDTH, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, 1))
