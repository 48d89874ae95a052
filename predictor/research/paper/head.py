"""What comes after the graph layers: target meets operators, FiLM, HODM, readout."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from predictor.network.batch import TargetBatch
from predictor.network.config import DeviceEncoding, NetworkConfig, Readout
from predictor.network.encoder import Encoding
from predictor.network.hodm import Dialogue, FilmHodm
from predictor.network.pooling import bounded, pool_operators, segment_sum
from predictor.research.paper.prior import OperatorPrior
from predictor.research.paper.readout import AdditiveReadout, MlpReadout, segment_log_sum_exp
from predictor.research.paper.target_encoder import TargetEncoder


@dataclass(frozen=True, slots=True, eq=False)
class NetworkOutput:
    """What the network says of G graphs on T targets.

    Attributes:
        log_latency: ln of the latency in ms, [G, T].
        fused: what the readout reads beside the target's description, [G, T, d].
        dialogue: attention in both directions, lambda and alpha_res; None without HODM.
        log_shares: ln of each operator's part in ms, [N, T]; None with the MLP readout.
    """

    log_latency: Tensor
    fused: Tensor
    dialogue: Dialogue | None
    log_shares: Tensor | None


class Meeting(nn.Module):
    """Where signature and analytic times enter in shared mode: relu(W X + W_s s + W_r r + b).

    Args:
        signature: width of the encoded signature, 0 where there is none.
        prior: width of what is seen of the analytic times, 0 where there are none.
        width: d.
    """

    def __init__(self, signature: int, prior: int, width: int) -> None:
        super().__init__()
        self.states = nn.Linear(width, width)
        self.signature = nn.Linear(signature, width, bias=False) if signature else None
        self.prior = nn.Linear(prior, width, bias=False) if prior else None

    def forward(self, states: Tensor, signature: Tensor | None, prior: Tensor | None) -> Tensor:
        """Return [N, T, d] of states [N, 1, d], signatures [T, s] and times [N, T, r]."""
        met: Tensor = self.states(states)
        if self.signature is not None and signature is not None:
            met = met + self.signature(signature)
        if self.prior is not None and prior is not None:
            met = met + self.prior(prior)
        return torch.relu(met)


class Head(nn.Module):
    """From node states and targets to log-latency.

    Args:
        config: of the network.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.pooling = config.pooling
        self.typical_nodes = config.typical_nodes
        self.log_mean = config.log_mean
        self.log_std = config.log_std
        self.target = TargetEncoder(config)
        signature = self.target.signature_width
        self.prior = OperatorPrior(config.log_mean, config.typical_nodes) if config.prior else None
        seen = OperatorPrior.columns if config.prior else 0
        self.meeting = Meeting(signature, seen, config.width) if signature or seen else None
        hcv = config.device_encoding is DeviceEncoding.HCV
        self.conversation = FilmHodm(config, self.target.width) if hcv else None
        joined = config.width + self.target.width
        self.readout: MlpReadout | AdditiveReadout = (
            MlpReadout(joined, config.width, config.dropout)
            if config.readout is Readout.MLP
            else AdditiveReadout(joined, config.width, config.dropout)
        )

    def forward(
        self, encoding: Encoding, targets: TargetBatch, times_ms: Tensor | None
    ) -> NetworkOutput:
        """Predict; arguments as of :meth:`CloserToMe.predict`, which checks them."""
        description, signature = self.target(targets)
        states, base_ms = self._meet(encoding, signature, times_ms)
        dialogue = None
        if self.conversation is None:
            fused = self._pool(states, encoding).expand(-1, len(targets), -1)
        else:
            states, dialogue = self.conversation(encoding, states, description, targets)
            fused = dialogue.fused
        described = description.unsqueeze(0).expand(fused.shape[0], -1, -1)
        joined = torch.cat([fused, described], dim=-1)  # [G, T, d + target]
        log_latency, log_shares = self._read(encoding, states, dialogue, joined, base_ms)
        return NetworkOutput(log_latency, fused, dialogue, log_shares)

    def _meet(
        self, encoding: Encoding, signature: Tensor | None, times_ms: Tensor | None
    ) -> tuple[Tensor, Tensor | None]:
        """Return the states with the target in them, and the analytic times in ms, [N, T]."""
        seen = base_ms = None
        if self.prior is not None and times_ms is not None:
            seen, base_ms = self.prior(times_ms)
        if self.meeting is None:
            return encoding.states, base_ms
        return self.meeting(encoding.states, signature, seen), base_ms

    def _read(
        self,
        encoding: Encoding,
        states: Tensor,
        dialogue: Dialogue | None,
        joined: Tensor,
        base_ms: Tensor | None,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the log-latency [G, T], and the log of each operator's share where it has one."""
        graphs = encoding.node_counts.shape[0]
        if isinstance(self.readout, MlpReadout):
            centre: Tensor | float = self.log_mean
            if base_ms is not None:
                centre = torch.log(segment_sum(base_ms, encoding.graph, graphs))
            return centre + self.log_std * self.readout(joined), None
        if dialogue is not None:
            states = dialogue.operator_states(states)
        base: Tensor | float = self.log_mean - math.log(self.typical_nodes)
        if base_ms is not None:
            base = torch.log(base_ms)
        log_shares = base + self.readout(states, joined, encoding.graph)
        return segment_log_sum_exp(log_shares, encoding.graph, graphs), log_shares

    def _pool(self, states: Tensor, encoding: Encoding) -> Tensor:
        """Return [G, T, d] for networks without HODM."""
        pooled = pool_operators(
            states, encoding.graph, encoding.node_counts, self.pooling, self.typical_nodes
        )
        return bounded(pooled, self.pooling)
