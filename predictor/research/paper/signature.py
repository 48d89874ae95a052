"""What a target's measured networks tell: a fixed vector of them, or a set of any size."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from predictor.network.batch import ProbeSet
from predictor.network.pooling import segment_mean, segment_sum


class SignatureVector(nn.Module):
    """The log-latencies of k reference networks, standardised: the paper's DBS.

    Args:
        log_mean: mean of the log-latencies that the network is trained on.
        log_std: their standard deviation.

    Reference:
        CloserToMe, Device Behavior Signature.
    """

    def __init__(self, log_mean: float, log_std: float) -> None:
        super().__init__()
        self.log_mean = log_mean
        self.log_std = log_std

    def forward(self, log_latency: Tensor) -> Tensor:
        """Return [T, k] standardised, of ln(latency in ms) [T, k]."""
        return (log_latency - self.log_mean) / self.log_std


class SignatureSet(nn.Module):
    """Encodes any number of (graph embedding, log-latency) pairs of each target, order-free.

    Each pair goes through one MLP, the pairs of a target are averaged, and the average goes
    through another MLP together with how many there were. A target without any has a learned
    vector.

    Args:
        embedding: width of a graph's embedding.
        width: d.
        log_mean: mean of the log-latencies that the network is trained on.
        log_std: their standard deviation.
        prior: whether each pair also tells how far its latency is from the analytic one.

    Reference:
        Zaheer et al., Deep Sets, NeurIPS 2017.
    """

    def __init__(
        self, embedding: int, width: int, *, log_mean: float, log_std: float, prior: bool
    ) -> None:
        super().__init__()
        self.prior = prior
        self.standardise = SignatureVector(log_mean, log_std)
        self.pair = nn.Sequential(
            nn.Linear(embedding + 1 + prior, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.whole = nn.Sequential(nn.Linear(width + 1, width), nn.ReLU(), nn.Linear(width, width))
        self.empty = nn.Parameter(torch.zeros(width))

    def forward(self, probes: ProbeSet, targets: Tensor) -> Tensor:
        """Return [T, d].

        Args:
            probes: S pairs of all targets.
            targets: any tensor of T rows; tells how many targets there are.
        """
        facts = [probes.embedding, self.standardise(probes.log_latency).unsqueeze(-1)]
        if self.prior and probes.log_prior is not None:
            facts.append((probes.log_latency - probes.log_prior).unsqueeze(-1))
        pairs = self.pair(torch.cat(facts, dim=-1))  # [S, d]
        count = targets.shape[0]
        counts = segment_sum(torch.ones_like(probes.target), probes.target, count)
        mean = segment_mean(pairs, probes.target, counts)  # [T, d]
        size = torch.log1p(counts.to(mean.dtype)).unsqueeze(-1)  # [T, 1]
        encoded = self.whole(torch.cat([mean, size], dim=-1))
        return torch.where(size > 0, encoded, self.empty)
