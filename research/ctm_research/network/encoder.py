"""The graph half of the network: operators and edges to node states."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ctm_research.network.batch import GraphBatch
from ctm_research.network.config import NetworkConfig
from ctm_research.network.graph_layers import (
    DenseGraphFlow,
    GraphAttention,
    mapping_strength,
    segment_sum,
)
from predictor.network.scaling import Scaling

_FARTHEST = 6.0  # standard deviations; a network says nothing sensible far outside


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """Graphs after the graph layers; T is 1 where the target enters later.

    Attributes:
        states: [N, T, d].
        graph: int64 [N].
        node_counts: int64 [G].
        total: states summed over each graph's operators, / typical_nodes, [G, T, d].
        mean: states averaged over the same, [G, T, d].
    """

    states: Tensor
    graph: Tensor
    node_counts: Tensor
    total: Tensor
    mean: Tensor


class GraphLayer(nn.Module):
    """Dense Graph Flow plus graph attention, side by side.

    Args:
        config: of the network.
        layer: 1 for the first.
    """

    def __init__(self, config: NetworkConfig, layer: int) -> None:
        super().__init__()
        self.flow = DenseGraphFlow(config.width, config.width)
        self.attention = GraphAttention(
            config.width,
            config.width,
            attention=config.attention,
            negative_slope=config.negative_slope,
            initial_residual=config.initial_residual,
            mapping=mapping_strength(config.identity_mapping, layer),
        )

    def forward(self, states: Tensor, operations: Tensor, edges: Tensor, first: Tensor) -> Tensor:
        """Return the next states [N, T, d]; arguments as of the two parts."""
        flowed: Tensor = self.flow(states, operations, edges)
        attended: Tensor = self.attention(states, operations, edges, first)
        return flowed + attended


class GraphEncoder(nn.Module):
    """Embeds operators, joins the signature where there is one, and runs the graph layers.

    The operation embedding O of an operator is the embedding of its code beside a projection of
    its features: in the paper's search spaces an operation's name tells its size, here the
    features do. Each feature enters as its standardised value, 0 where there is none, and as
    whether there is one.

    Args:
        config: of the network.
        scaling: statistics of the node features.

    Reference:
        CloserToMe, Eq. (3) to (5).
    """

    mean: Tensor
    std: Tensor

    def __init__(self, config: NetworkConfig, scaling: Scaling) -> None:
        super().__init__()
        half = config.width // 2
        self.features = config.features
        self.operators = config.operators
        self.typical_nodes = config.typical_nodes
        self.register_buffer("mean", _float32(scaling.mean), persistent=False)
        self.register_buffer("std", _float32(scaling.std), persistent=False)
        self.embedding = nn.Embedding(config.operators, half)
        self.project = nn.Linear(2 * config.features, config.width - half)
        self.first = nn.Linear(config.width, config.width)
        self.join = (
            nn.Linear(config.signature_size, config.width, bias=False)
            if config.signature_size
            else None
        )
        self.layers = nn.ModuleList(
            GraphLayer(config, number) for number in range(1, config.layers + 1)
        )

    def forward(self, graphs: GraphBatch, signature: Tensor | None) -> Encoding:
        """Encode graphs.

        Args:
            graphs: G graphs.
            signature: standardised, [T, k], where it is joined to the node features.
        """
        operations = self._operations(graphs)
        first = self.first(operations).unsqueeze(1)  # [N, 1, d]
        if self.join is not None and signature is not None:
            first = first + self.join(signature)  # W [O; DBS] as a sum of two products, [N, T, d]
        states = first = torch.relu(first)
        for number, layer in enumerate(self.layers):
            states = layer(states, operations, graphs.edges, first)
            if number < len(self.layers) - 1:
                states = torch.relu(states)
        return self._pooled(states, graphs)

    def _operations(self, graphs: GraphBatch) -> Tensor:
        """Return O, [N, d]. An operator that came after the network was trained is unknown."""
        # Codes are only ever appended, so a later code is an operator after the training.
        code = torch.where(graphs.op_code < self.operators, graphs.op_code, 0)
        features = graphs.features[:, : self.features]
        present = features != 0
        scaled = ((features - self.mean) / self.std).clamp(-_FARTHEST, _FARTHEST)
        scaled = torch.where(present, scaled, 0.0)
        seen = torch.cat([scaled, present.to(scaled.dtype)], dim=-1)  # [N, 2 F]
        projected = torch.relu(self.project(seen))
        return torch.cat([self.embedding(code), projected], dim=-1)

    def _pooled(self, states: Tensor, graphs: GraphBatch) -> Encoding:
        counts = graphs.node_counts
        total = segment_sum(states, graphs.graph, counts.shape[0])
        mean = total / counts.to(total.dtype).reshape(-1, 1, 1)
        return Encoding(states, graphs.graph, counts, total / self.typical_nodes, mean)


def _float32(values: object) -> Tensor:
    return torch.as_tensor(values).to(torch.float32)
