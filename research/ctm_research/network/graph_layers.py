"""Layers on a graph's nodes: sums over segments, Dense Graph Flow and graph attention.

A flat axis holds the rows of all segments; ``segment`` holds the index of each row's segment. Rows
need no order. An empty segment has the sum and largest value 0. Cost O(rows).
"""

from __future__ import annotations

import math
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from ctm_research.network.config import Attention, Pooling

_LOG_SCALE: Final = 10.0  # a state of 1 in a tenth of the usual operators is where the log begins


def segment_sum(rows: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Sum rows by segment.

    Args:
        rows: [R, ...].
        segment: int64 [R], from 0 to segments - 1.
        segments: S.

    Returns:
        [S, ...].
    """
    if segments == 1:
        # The exported head reads one graph, and a plain sum keeps scatter out of its file.
        return rows.sum(dim=0, keepdim=True)
    sums = torch.zeros((segments, *rows.shape[1:]), dtype=rows.dtype, device=rows.device)
    return sums.index_add_(0, segment, rows)


def bounded(pooled: Tensor, pooling: Pooling) -> Tensor:
    """Take the logarithm of LOG_SUM; a plain sum stays as it is."""
    return torch.asinh(_LOG_SCALE * pooled) if pooling is Pooling.LOG_SUM else pooled


def segment_max(rows: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Return the largest of each column by segment, [S, ...] from [R, ...]."""
    shape = (segments, *rows.shape[1:])
    index = segment.reshape((-1,) + (1,) * (rows.dim() - 1)).expand_as(rows)
    largest = torch.zeros(shape, dtype=rows.dtype, device=rows.device)
    return largest.scatter_reduce(0, index, rows, "amax", include_self=False)


def segment_softmax(scores: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Return weights [R, ...] that sum to 1 over the rows of each segment, per column."""
    if segments == 1:
        return torch.softmax(scores, dim=0)
    # The largest score only keeps exp() in range: it cancels, so no gradient flows through it.
    largest = segment_max(scores.detach(), segment, segments)
    weights = torch.exp(scores - largest.index_select(0, segment))
    return weights / segment_sum(weights, segment, segments).index_select(0, segment)


class DenseGraphFlow(nn.Module):
    """Eq. (3): X' = relu(O W_o) * (A (X W_f)) + X W_p + b.

    The two directions of the edges are separate branches, each with its own W_o and W_f: messages
    from producers differ from messages from consumers (decision 0009). So
    X' = relu(O W_o1) * (A X W_f1) + relu(O W_o2) * (A^T X W_f2) + X W_p + b, where row i of A
    marks the producers of i. The dense product is a sum over edges here: cost O(N + E).

    States have T columns of targets, [N, T, d]; a network that does not read the target before
    the graph layers has T = 1.

    Args:
        operation: width of the operation embeddings.
        width: d.

    Reference:
        CloserToMe, Eq. (3); Ning et al., TPAMI 45 (7), 2023.
    """

    def __init__(self, operation: int, width: int) -> None:
        super().__init__()
        self.gate = nn.Linear(operation, 2 * width, bias=False)  # W_o of both directions
        self.flow = nn.Linear(width, 2 * width, bias=False)  # W_f of both directions
        self.keep = nn.Linear(width, width)  # W_p and b

    def forward(self, states: Tensor, operations: Tensor, edges: Tensor) -> Tensor:
        """Return the next states.

        Args:
            states: X, [N, T, d].
            operations: O, [N, operation].
            edges: int64 [2, E], producer and consumer.

        Returns:
            [N, T, d].
        """
        producers, consumers = edges
        to_consumer, to_producer = self.flow(states).chunk(2, dim=-1)
        nodes = states.shape[0]
        from_producers = segment_sum(to_consumer.index_select(0, producers), consumers, nodes)
        from_consumers = segment_sum(to_producer.index_select(0, consumers), producers, nodes)
        # The gate depends on the operator only, so one serves all T targets.
        down, up = torch.relu(self.gate(operations)).unsqueeze(1).chunk(2, dim=-1)  # [N, 1, d]
        kept = self.keep(states)
        return torch.addcmul(torch.addcmul(kept, down, from_producers), up, from_consumers)


class GraphAttention(nn.Module):
    """Eq. (4) and (5): X' = LayerNorm(relu(O W_o) * sum_j weight(i, j) W_p X_j).

    The neighbours of an operator are its producers, its consumers and itself (A + A^T + I), so
    that an operator without edges keeps a state. The score of a pair is
    LeakyReLU(a . (W_p X_i * W_p X_j)). Pairs that are no neighbours have no weight at all (in the
    paper's formula they have sigmoid(0)). The weight is the sigmoid of the score, as the paper
    writes, or its softmax over the neighbours.

    Before the gate, as GCNII does, the sum is mixed with the first states, and mapped by a
    learned matrix that is mixed with the identity; with both strengths 0 this is Eq. (5) itself.

    Args:
        operation: width of the operation embeddings.
        width: d.
        attention: sigmoid or softmax.
        negative_slope: of LeakyReLU.
        initial_residual: share of the first states.
        mapping: share of the learned map.

    Reference:
        CloserToMe, Eq. (4), (5); Chen et al., Simple and deep graph convolutional networks,
        ICML 2020, Eq. (5).
    """

    def __init__(
        self,
        operation: int,
        width: int,
        *,
        attention: Attention,
        negative_slope: float,
        initial_residual: float,
        mapping: float,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.negative_slope = negative_slope
        self.initial_residual = initial_residual
        self.mapping = mapping
        self.project = nn.Linear(width, width, bias=False)  # W_p
        self.score = nn.Linear(width, 1, bias=False)  # a
        self.gate = nn.Linear(operation, width, bias=False)  # W_o
        self.norm = nn.LayerNorm(width)
        self.map = nn.Linear(width, width, bias=False) if mapping else None

    def forward(self, states: Tensor, operations: Tensor, edges: Tensor, first: Tensor) -> Tensor:
        """Return the next states.

        Args:
            states: X, [N, T, d].
            operations: O, [N, operation].
            edges: int64 [2, E].
            first: states before the first layer, [N, T, d].

        Returns:
            [N, T, d].
        """
        projected = self.project(states)
        total = self._attend(projected, edges)
        if self.initial_residual:
            # GCNII, Eq. (5): (1 - alpha) total + alpha X_0, then (1 - beta) I + beta W.
            total = torch.lerp(total, first, self.initial_residual)
        if self.map is not None:
            total = torch.lerp(total, self.map(total), self.mapping)
        gated: Tensor = self.norm(torch.relu(self.gate(operations)).unsqueeze(1) * total)
        return gated

    def _attend(self, projected: Tensor, edges: Tensor) -> Tensor:
        """Return the weighted sum over the neighbours, [N, T, d]."""
        producers, consumers = edges
        ahead = projected.index_select(0, consumers)  # [E, T, d]
        behind = projected.index_select(0, producers)
        # The score is symmetric: an edge has one, which serves both directions.
        edge_score = self._scores(ahead, behind)  # [E, T, 1]
        own_score = self._scores(projected, projected)  # [N, T, 1]
        down, up, own = self._weights(edge_score, own_score, edges)
        total = own * projected
        total.index_add_(0, consumers, down * behind)
        return total.index_add_(0, producers, up * ahead)

    def _scores(self, one: Tensor, other: Tensor) -> Tensor:
        return functional.leaky_relu(self.score(one * other), self.negative_slope)

    def _weights(
        self, edge_score: Tensor, own_score: Tensor, edges: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the weights of producers [E, T, 1], consumers [E, T, 1] and self [N, T, 1]."""
        if self.attention is Attention.SIGMOID:
            weight = torch.sigmoid(edge_score)
            return weight, weight, torch.sigmoid(own_score)
        nodes = own_score.shape[0]
        centre = torch.cat([edges[1], edges[0], torch.arange(nodes, device=edges.device)])
        scores = torch.cat([edge_score, edge_score, own_score])
        weights = segment_softmax(scores, centre, nodes)
        count = edge_score.shape[0]
        return weights[:count], weights[count : 2 * count], weights[2 * count :]


def mapping_strength(identity_mapping: float, layer: int) -> float:
    """Return GCNII's beta of layer 1, 2, ...: ln(lambda / layer + 1), 0 where lambda is 0."""
    return math.log(identity_mapping / layer + 1)
