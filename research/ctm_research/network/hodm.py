"""FiLM, Eq. (6), and the Hardware-Operation Dialogue Module after it, Eq. (7) to (9)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ctm_research.network.batch import TargetBatch
from ctm_research.network.config import NetworkConfig, Pooling
from ctm_research.network.encoder import Encoding
from ctm_research.network.graph_layers import bounded, segment_softmax, segment_sum


class Film(nn.Module):
    """Eq. (6): X~ = gamma * X + beta; gamma and beta are two MLPs of the target, one for all nodes.

    gamma is 1 plus its MLP, and both MLPs end in zeros, so that a network that has learned
    nothing yet leaves the states as they are.

    Args:
        target: width of the target's description.
        width: d.

    Reference:
        CloserToMe, Eq. (6).
    """

    def __init__(self, target: int, width: int) -> None:
        super().__init__()
        self.gamma = _mlp(target, width)
        self.beta = _mlp(target, width)

    def forward(self, states: Tensor, target: Tensor) -> Tensor:
        """Return the modulated states [N, T, d] of states [N, T or 1, d], targets [T, target]."""
        gamma, beta = 1.0 + self.gamma(target), self.beta(target)  # [T, d]
        return torch.addcmul(beta, gamma, states)


def _mlp(inputs: int, width: int) -> nn.Sequential:
    last = nn.Linear(width, width)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), last)


_START_RESIDUAL = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Dialogue:
    """Attention between operators and hardware metrics; K = M + 1 tokens.

    Attributes:
        fused: [G, T, d], Eq. (9).
        operator_to_metric: alpha [N, T, K]; each (operator, target) sums to 1 over the tokens.
        metric_to_operator: alpha' [N, T, K]; each (graph, target, available token) sums to 1 over
            the graph's operators; 0 for tokens that are not available.
        blend: lambda, scalar in [0, 1].
        residual: alpha_res, scalar.
        values: [T, K, d], the sum that each token adds to an operator attending to it alone.
    """

    fused: Tensor
    operator_to_metric: Tensor
    metric_to_operator: Tensor
    blend: Tensor
    residual: Tensor
    values: Tensor

    def operator_states(self, modulated: Tensor) -> Tensor:
        """Return X' of Eq. (8), [N, T, d], of the modulated states that went in."""
        return modulated + _over_targets(self.operator_to_metric, self.residual * self.values)


class HardwareTokens(nn.Module):
    """Each metric is a token: its learned embedding plus its value times a learned direction.

    A last token, "unknown", is available exactly where no metric is.

    Args:
        metrics: M.
        width: d.
    """

    def __init__(self, metrics: int, width: int) -> None:
        super().__init__()
        scale = 1 / math.sqrt(width)
        self.embedding = nn.Parameter(torch.randn(metrics + 1, width) * scale)
        self.direction = nn.Parameter(torch.randn(metrics, width) * scale)

    def forward(self, values: Tensor, available: Tensor) -> tuple[Tensor, Tensor]:
        """Return tokens [T, K, d] and their availability, bool [T, K].

        Args:
            values: [T, M], 0 where not available.
            available: bool [T, M].
        """
        spoken = values.unsqueeze(-1) * self.direction  # [T, M, d]
        tokens = torch.cat([spoken, torch.zeros_like(spoken[:, :1])], dim=1) + self.embedding
        unknown = ~available.any(dim=1, keepdim=True)  # [T, 1]
        return tokens, torch.cat([available, unknown], dim=1)


class ConfigurationTokens(nn.Module):
    """Each kind of choice is a token: its learned embedding plus that of the choice.

    Args:
        kinds: of each choice the kind that it is of, by number; C choices of J kinds.
        width: d.
    """

    of_kind: Tensor

    def __init__(self, kinds: tuple[int, ...], width: int) -> None:
        super().__init__()
        scale = 1 / math.sqrt(width)
        count = max(kinds, default=-1) + 1
        self.embedding = nn.Parameter(torch.randn(count, width) * scale)
        self.chosen = nn.Parameter(torch.randn(len(kinds), width) * scale)
        of_kind = torch.zeros(count, len(kinds))
        of_kind[list(kinds), list(range(len(kinds)))] = 1.0
        self.register_buffer("of_kind", of_kind, persistent=False)

    def forward(self, choices: Tensor) -> Tensor:
        """Return tokens [T, J, d] of choices [T, C]; one that is unknown has all of a kind 0."""
        chosen: Tensor = (choices.unsqueeze(1) * self.of_kind) @ self.chosen
        return chosen + self.embedding


class HardwareOperationDialogue(nn.Module):
    """Eq. (7) to (9): operators attend to metrics, metrics to operators, and both are blended.

    The products of projections are folded: <x W_Q, h W_K> is x . (W_Q W_K^T h), so that the d x d
    products are done once for each token instead of once for each operator. Both branches are
    pooled to [d] before the blend: operators as configured, metrics by mean over available ones.
    Pooling is linear, so it goes before the projections of values. One head: d_head = d.

    Args:
        width: d.
        pooling: of the operators.
        typical_nodes: divisor of sums over operators.

    Reference:
        CloserToMe, Eq. (7), (8), (9).
    """

    def __init__(self, width: int, pooling: Pooling, typical_nodes: float) -> None:
        super().__init__()
        self.pooling = pooling
        self.typical_nodes = typical_nodes
        self.operator_query = nn.Linear(width, width, bias=False)  # W_Q
        self.metric_key = nn.Linear(width, width, bias=False)  # W_K
        self.metric_value = nn.Linear(width, width, bias=False)  # W_V
        self.output = nn.Linear(width, width, bias=False)  # W_O
        self.metric_query = nn.Linear(width, width, bias=False)  # the same, other direction
        self.operator_key = nn.Linear(width, width, bias=False)
        self.operator_value = nn.Linear(width, width, bias=False)
        self.residual = nn.Parameter(torch.tensor(_START_RESIDUAL))  # alpha_res
        self.blend_logit = nn.Parameter(torch.tensor(0.0))  # lambda is its sigmoid

    def forward(
        self,
        modulated: Tensor,
        tokens: Tensor,
        available: Tensor,
        graph: Tensor,
        node_counts: Tensor,
    ) -> Dialogue:
        """Hold the dialogue of every graph with every target.

        Args:
            modulated: X~, [N, T, d].
            tokens: [T, K, d].
            available: bool [T, K], at least one for each target.
            graph: int64 [N].
            node_counts: int64 [G].
        """
        # Both directions share one product with the states: scores are [N, T, 2 K].
        asked = self.metric_key(tokens) @ self.operator_query.weight  # [T, K, d]
        asking = self.metric_query(tokens) @ self.operator_key.weight
        scores = _over_targets(modulated, torch.cat([asked, asking], dim=1).transpose(1, 2))
        forward, backward = (scores / math.sqrt(modulated.shape[-1])).chunk(2, dim=-1)
        lowest = torch.finfo(forward.dtype).min
        alpha = torch.softmax(forward.masked_fill(~available, lowest), dim=-1)  # [N, T, K]
        # Softmax over operators, token by token, so masking after it keeps the other tokens' sums.
        reverse = segment_softmax(backward, graph, node_counts.shape[0]) * available
        values = self.output(self.metric_value(tokens))  # [T, K, d], times alpha is Z W_O
        blend = torch.sigmoid(self.blend_logit)
        heard = _over_targets(self._pool(alpha, graph, node_counts), values)
        said = self._pool(modulated, graph, node_counts) + self.residual * heard
        said = bounded(said, self.pooling)  # X' pooled, [G, T, d]
        # Mean over tokens first: one weighted sum of states instead of one for each token.
        attended = (reverse.sum(-1) / available.sum(-1)).unsqueeze(-1)  # [N, T, 1]
        answer = self.operator_value(
            segment_sum(attended * modulated, graph, node_counts.shape[0])
        )  # H' pooled, [G, T, d]
        # Eq. (9): lambda X' + (1 - lambda) H'.
        return Dialogue(
            torch.lerp(answer, said, blend), alpha, reverse, blend, self.residual, values
        )

    def _pool(self, rows: Tensor, graph: Tensor, node_counts: Tensor) -> Tensor:
        return segment_sum(rows, graph, node_counts.shape[0]) / self.typical_nodes


class FilmHodm(nn.Module):
    """FiLM and HODM: the states of operators and the tokens of devices to one vector.

    Args:
        config: of the network.
        target: width of the target's description.
    """

    def __init__(self, config: NetworkConfig, target: int) -> None:
        super().__init__()
        self.film = Film(target, config.width)
        self.tokens = HardwareTokens(len(config.metrics), config.width)
        self.hodm = HardwareOperationDialogue(config.width, config.pooling, config.typical_nodes)

    def forward(
        self,
        encoding: Encoding,
        states: Tensor,
        description: Tensor,
        targets: TargetBatch,
        further: Tensor | None = None,
    ) -> tuple[Tensor, Dialogue]:
        """Return the modulated states [N, T, d] and the dialogue.

        Args:
            encoding: of the graphs.
            states: [N, 1 or T, d].
            description: [T, target].
            targets: metrics.
            further: [T, J, d], tokens that are always available, before those of the metrics.
        """
        modulated = self.film(states, description)
        tokens, available = self.tokens(
            torch.where(targets.available, targets.values, 0.0), targets.available
        )
        if further is not None:
            tokens = torch.cat([further, tokens], dim=1)
            available = torch.cat(
                [torch.ones_like(further[..., 0], dtype=torch.bool), available], dim=1
            )
        return modulated, self.hodm(
            modulated, tokens, available, encoding.graph, encoding.node_counts
        )


def _over_targets(rows: Tensor, matrices: Tensor) -> Tensor:
    """Multiply rows [R, T, a] by one matrix for each target, [T, a, b]: [R, T, b]."""
    return torch.matmul(rows.transpose(0, 1), matrices).transpose(0, 1)
