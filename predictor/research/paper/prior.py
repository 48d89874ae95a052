"""Analytic operator times as an input of the network: it learns efficiency, not magnitude."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

_LEAST_MS = 1e-6  # of a view or a fused epilogue; a launch takes a thousand times longer
_SPREAD = 2.0  # operators of one network differ in time by a factor e^2 or so


class OperatorPrior(nn.Module):
    """Roofline times of operators on targets: what the latency is a correction of.

    Where a target has no analytic number its times are NaN in all operators; then every operator
    is given the same time, so that a usual graph takes the mean training latency.

    Args:
        log_mean: mean of ln(latency in ms) of the training data.
        typical_nodes: operators of a usual graph.
    """

    columns = 7

    def __init__(self, log_mean: float, typical_nodes: float) -> None:
        super().__init__()
        self.log_usual_ms = log_mean - math.log(typical_nodes)

    def forward(self, times_ms: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the network sees of the times, and the time of each operator.

        Args:
            times_ms: [N, T, 3], compute, memory and launch time.

        Returns:
            Features [N, T, 7]: the logs of the three, relative to an operator's usual time and 0
            where there is none, whether there is each, and whether they are known; and the
            roofline time max(compute, memory) + launch in ms, positive, [N, T].
        """
        known = ~times_ms.isnan().any(dim=-1)  # [N, T]
        times = torch.where(known.unsqueeze(-1), times_ms, 0.0)
        total = torch.maximum(times[..., 0], times[..., 1]) + times[..., 2]
        present = times > 0
        logs = (torch.log(torch.where(present, times, 1.0)) - self.log_usual_ms) / _SPREAD
        flags = torch.cat([present, known.unsqueeze(-1)], dim=-1)
        seen = torch.cat([torch.where(present, logs, 0.0), flags.to(logs.dtype)], dim=-1)
        return seen, torch.where(known, total + _LEAST_MS, math.exp(self.log_usual_ms))
