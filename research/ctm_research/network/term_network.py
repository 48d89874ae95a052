"""The network that the engine ships: CloserToMe in shared form, latency a sum of work terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn

from ctm_research.network.batch import GraphBatch, TargetBatch
from ctm_research.network.config import NetworkConfig
from ctm_research.network.encoder import Encoding, GraphEncoder
from ctm_research.network.graph_layers import segment_sum
from ctm_research.network.hodm import ConfigurationTokens, Dialogue, FilmHodm
from ctm_research.network.repeatable import repeatable
from predictor.core.errors import InputError
from predictor.cost.operator_kinds import NETWORK_KIND_OF_CODE, NETWORK_KINDS
from predictor.network.features import (
    CONVOLUTION,
    DEPTHWISE,
    DEPTHWISE_FEATURE,
    GROUPED,
    GROUPED_FEATURE,
    POINT,
    POINTWISE,
    WINDOW_FEATURE,
)
from predictor.network.scaling import Scaling
from predictor.network.work_terms import KINDS, TERMS

# Where learning starts: arithmetic, traffic and launches as the roofline has them, little of the
# rest.
_START: Final = (0.3, 0.0, 0.0, -2.0, -2.0, -2.0, -3.0)
_RANGE: Final = 6.0  # of the logarithm of a factor
_RUN_MS: Final = 1e-2
_PARTS: Final = max(KINDS) + 1
KIND_RESPONSE: Final = 0.35
"""How far a target differs by kinds of operators, against learned responses of size 1."""


@dataclass(frozen=True, slots=True, eq=False)
class TargetInput:
    """T targets, as :class:`predictor.network.target_facts.TargetFacts` in tensors.

    Attributes:
        values: float32 [T, M], 0 where a metric is not available.
        available: bool [T, M].
        choices: float32 [T, C].
    """

    values: Tensor
    available: Tensor
    choices: Tensor

    @property
    def columns(self) -> Tensor:
        """[T, 2 M + C]."""
        return torch.cat([self.values, self.available.to(self.values.dtype), self.choices], dim=-1)


@dataclass(frozen=True, slots=True, eq=False)
class RunningOperators:
    """The R operators of a batch that run, after the graph layers.

    Attributes:
        states: [R, 1, d].
        responses: [R, 3, F], directions along which arithmetic, traffic and launches of each change
            where a target deviates from the expectation.
        graph: int64 [R].
        counts: int64 [G], running operators of each graph, at least 1.
    """

    states: Tensor
    responses: Tensor
    graph: Tensor
    counts: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class TermOutput:
    """Outputs for R operators on T targets.

    Attributes:
        parts_ms: [R, T, 3], time in arithmetic, traffic and launches.
        run_ms: [T], of every run whatever the graph.
        dialogue: attention in both directions, over the running operators; tokens are the kinds
            of choices, the metrics, and "unknown".
    """

    parts_ms: Tensor
    run_ms: Tensor
    dialogue: Dialogue

    def latency(self, operators: RunningOperators) -> tuple[Tensor, Tensor]:
        """Return ln(latency in ms) [G, T], and the responses of whole graphs [G, T, F].

        A graph's response is the mean of its operators' by their part of its latency: the
        derivative of ln(latency) by a target's deviation from the expectation.
        """
        graphs = operators.counts.shape[0]
        total = segment_sum(self.parts_ms.sum(dim=-1), operators.graph, graphs) + self.run_ms
        weighed = torch.einsum("rtc,rcf->rtf", self.parts_ms, operators.responses)
        responses = segment_sum(weighed, operators.graph, graphs) / total.unsqueeze(-1)
        return torch.log(total), responses


class OperatorKinds(nn.Module):
    """Responses by kind of operator: of arithmetic and traffic, not of launches.

    Args:
        operators: rows of the operator vocabulary.
    """

    kind: Tensor
    parts: Tensor

    def __init__(self, operators: int) -> None:
        super().__init__()
        self.register_buffer(
            "kind", torch.from_numpy(NETWORK_KIND_OF_CODE[:operators].copy()), False
        )
        # Sizes and parts were compared in decision 0012; launches gained nothing.
        parts = torch.tensor([KIND_RESPONSE, KIND_RESPONSE, 0.0])
        self.register_buffer("parts", parts[:, None], False)

    def forward(self, graphs: GraphBatch, running: Tensor) -> Tensor:
        """Return [R, 3, K] of the running operators, features scale-free."""
        code, features = graphs.op_code[running], graphs.features[running]
        kind = self.kind[torch.where(code < len(self.kind), code, 0)]
        # As network_kinds() in features.py, which runs without torch.
        finer = torch.where(features[:, WINDOW_FEATURE] > POINT, CONVOLUTION, POINTWISE)
        finer = torch.where(features[:, GROUPED_FEATURE] > 0, GROUPED, finer)
        finer = torch.where(features[:, DEPTHWISE_FEATURE] > 0, DEPTHWISE, finer)
        kind = torch.where(kind == CONVOLUTION, finer, kind)
        one_hot = (kind[:, None] == torch.arange(len(NETWORK_KINDS))).to(features.dtype)
        return one_hot[:, None, :] * self.parts


class TargetSummary(nn.Module):
    """A target's facts as a few numbers, blurred while learning.

    A hundred devices cannot teach the effect of dozens of facts; and with few numbers, each
    a little uncertain, no device is known by heart.

    Args:
        facts: columns of a target.
        width: numbers that are left.
        blur: standard deviation of the noise added to each in training.
    """

    def __init__(self, facts: int, width: int, blur: float) -> None:
        super().__init__()
        self.summary = nn.Linear(facts, width)
        self.blur = blur

    def forward(self, targets: TargetInput) -> Tensor:
        """Return [T, width]."""
        summary = torch.tanh(self.summary(targets.columns))
        return summary + self.blur * torch.randn_like(summary) if self.training else summary


class TermNetwork(nn.Module):
    """Times of operators on targets: learned positive factors times work terms.

    Graph layers, FiLM and the dialogue module are those of the paper. The readout is additive: a
    factor for each term of each operator, read off its state after the dialogue and the graph's
    fused vector. Nothing that it reads changes with the batch, and every term grows with it.

    Args:
        config: its metrics are the tokens of the dialogue, its features the scale-free ones.
        choices: of each of C choices the kind that it is of, by number.
        responses: number of learned ones, beside those of kinds of operators.
        scaling: statistics of the node features.
        summary: numbers that describe a target.
        blur: of these, while learning.

    Reference:
        CloserToMe, Eq. (3) to (9).
    """

    def __init__(
        self,
        config: NetworkConfig,
        choices: tuple[int, ...],
        responses: int,
        scaling: Scaling,
        *,
        summary: int,
        blur: float = 0.0,
    ) -> None:
        super().__init__()
        if len(scaling.names) != config.features:
            raise InputError(
                "scaling statistics",
                f"they are of {len(scaling.names)} columns, the network reads {config.features}",
                "fit them on graphs of this version",
            )
        self.config, self.choices, self.learned_responses = config, len(choices), responses
        width = config.width
        with repeatable(config.seed):
            self.encoder = GraphEncoder(config, scaling)
            self.kinds = OperatorKinds(config.operators)
            self.response = nn.Linear(width, _PARTS * responses)
            self.response_scale = nn.Parameter(torch.full((responses,), -1.0))
            self.meeting = nn.Linear(width, width)
            self.target = TargetSummary(2 * len(config.metrics) + len(choices), summary, blur)
            self.configuration = ConfigurationTokens(choices, width)
            self.conversation = FilmHodm(config, summary)
            self.of_operator = nn.Linear(width, width)
            self.of_graph = nn.Linear(width + summary, width, bias=False)
            self.log_factor = nn.Linear(width, len(TERMS))
            self.log_run = nn.Sequential(
                nn.Linear(summary, width // 2), nn.ReLU(), nn.Linear(width // 2, 1)
            )
            self.dropout = nn.Dropout(config.dropout)
        # Learning starts at the roofline: constant factors, whatever the state.
        nn.init.zeros_(self.log_factor.weight)
        with torch.no_grad():
            self.log_factor.bias.copy_(torch.tensor(_START))

    @property
    def response_count(self) -> int:
        """F, learned ones and one for each kind of operators."""
        return self.learned_responses + len(NETWORK_KINDS)

    def encode(self, graphs: GraphBatch, running: Tensor) -> RunningOperators:
        """Run the graph layers over all operators, and return those that run.

        Args:
            graphs: G graphs, features scale-free.
            running: int64 [R], places of the operators that take time.
        """
        encoding: Encoding = self.encoder(graphs, None)
        states, graph = encoding.states[running], graphs.graph[running]
        scale = torch.exp(self.response_scale)
        raw = self.response(torch.tanh(states.squeeze(1)))
        learned = raw.reshape(-1, _PARTS, self.learned_responses) * scale
        responses = torch.cat([learned, self.kinds(graphs, running)], dim=-1)
        ones = torch.ones_like(graph)
        counts = torch.zeros_like(graphs.node_counts).index_add_(0, graph, ones).clamp(min=1)
        return RunningOperators(states, responses, graph, counts)

    def forward(
        self, operators: RunningOperators, targets: TargetInput, terms_ms: Tensor
    ) -> TermOutput:
        """Predict the operators' times.

        Args:
            operators: R.
            targets: T.
            terms_ms: [R, T, len(TERMS)], from :func:`predictor.network.work_terms.work_terms`.
        """
        description: Tensor = self.target(targets)
        met = torch.relu(self.meeting(operators.states))
        # The conversation reads no pooled states.
        encoding = Encoding(met, operators.graph, operators.counts, met, met)
        hardware = TargetBatch(targets.values, targets.available)
        chosen = self.configuration(targets.choices)
        states, dialogue = self.conversation(encoding, met, description, hardware, chosen)
        states = dialogue.operator_states(states)
        described = description.unsqueeze(0).expand(dialogue.fused.shape[0], -1, -1)
        context = self.of_graph(torch.cat([dialogue.fused, described], dim=-1))
        if context.shape[0] > 1:
            context = context.index_select(0, operators.graph)
        if self.training:  # the same for all targets: drawing for each takes a tenth of the time
            states = states * self.dropout(torch.ones_like(states[:, :1]))
        hidden = torch.relu(self.of_operator(states) + context)
        times = torch.exp(_bounded(self.log_factor(hidden))) * terms_ms  # [R, T, terms]
        parts = torch.stack([_sum_of(times, part) for part in range(_PARTS)], dim=-1)  # [R, T, 3]
        run_ms = _RUN_MS * torch.exp(_bounded(self.log_run(description).squeeze(-1)))
        return TermOutput(parts, run_ms, dialogue)


def _sum_of(times: Tensor, part: int) -> Tensor:
    """Return the sum of the terms that belong to a part, [R, T]."""
    first, *rest = (place for place, kind in enumerate(KINDS) if kind == part)
    total = times[..., first]
    for place in rest:
        total = total + times[..., place]
    return total


def _bounded(log_factor: Tensor) -> Tensor:
    # Not a clamp: a factor near its limit must keep a gradient.
    return _RANGE * torch.tanh(log_factor / _RANGE)
