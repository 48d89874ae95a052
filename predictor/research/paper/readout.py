"""From states to log-latency: by an MLP, or as a sum over operators of positive shares."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from predictor.network.pooling import segment_max, segment_sum


class MlpReadout(nn.Module):
    """Reads the log-latency off the fused vector joined with the target's description.

    Args:
        inputs: width of both together.
        width: d.
        dropout: share of the inputs that are dropped in training.

    Reference:
        CloserToMe, "the fused representation from HODM and HCV is passed to an MLP".
    """

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(inputs, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, 1),
        )

    def forward(self, joined: Tensor) -> Tensor:
        """Return [G, T] of the joined vectors [G, T, inputs]."""
        raw: Tensor = self.layers(joined)
        return raw.squeeze(-1)


class AdditiveReadout(nn.Module):
    """Latency = sum over operators of positive shares.

    An operator's share is what is expected of it (its analytic time, or the usual latency by the
    usual number of operators) times the exponential of a function of its own state and of the
    graph's joined vector. So each share is positive, and the shares explain the latency in full.

    Args:
        inputs: width of the joined vector.
        width: d.
        dropout: share of the states that are dropped in training.
    """

    def __init__(self, inputs: int, width: int, dropout: float) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        hidden = max(1, width // 2)  # each operator on each target passes here: half is enough
        self.of_operator = nn.Linear(width, hidden)
        self.of_graph = nn.Linear(inputs, hidden, bias=False)
        self.log_factor = nn.Linear(hidden, 1)

    def forward(self, states: Tensor, joined: Tensor, graph: Tensor) -> Tensor:
        """Return ln of the factor from an operator's expected share to its share, [N, T].

        Args:
            states: [N, T, d].
            joined: [G, T, inputs].
            graph: int64 [N].
        """
        context = self.of_graph(joined).index_select(0, graph)  # [N, T, d / 2]
        hidden = torch.relu(self.of_operator(self.dropout(states)) + context)
        log_factor: Tensor = self.log_factor(hidden)
        return log_factor.squeeze(-1)


def segment_log_sum_exp(logs: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Return the log of the sum of the exponentials by segment, [S, T] from [R, T]."""
    largest = segment_max(logs.detach(), segment, segments)
    scaled = torch.exp(logs - largest.index_select(0, segment))
    return largest + torch.log(segment_sum(scaled, segment, segments))
