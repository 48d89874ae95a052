"""The target half of the paper's network: device vector or number, and signature."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ctm_research.network.batch import TargetBatch, check_finite, check_shape
from ctm_research.network.config import NetworkConfig
from predictor.core.errors import InputError


class TargetEncoder(nn.Module):
    """Describes T targets by one vector each: the HCV, or the learned vector of an identifier.

    The HCV enters as the paper says: values, zero where there is none, and the availability
    indicator beside them.

    Args:
        config: of the network.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.identifier = nn.Embedding(config.devices, config.width) if config.devices else None

    @property
    def width(self) -> int:
        """Width of the description."""
        return self.config.width if self.identifier is not None else 2 * len(self.config.metrics)

    def standardised_signature(self, targets: TargetBatch) -> Tensor:
        """Return the log-latencies of the k reference networks, standardised, [T, k].

        Raises:
            InputError: there are none.

        Reference:
            CloserToMe, Device Behavior Signature.
        """
        if targets.signature is None:
            raise InputError("signature", "it is missing", "give the latencies of the references")
        return (targets.signature - self.config.log_mean) / self.config.log_std

    def forward(self, targets: TargetBatch) -> Tensor:
        """Return the description [T, width]."""
        if self.identifier is not None:
            described: Tensor = self.identifier(targets.identifier)
            return described
        available = targets.available
        # A standardised 0 is the mean: only the indicator tells it from a missing value.
        return torch.cat(
            [torch.where(available, targets.values, 0.0), available.to(targets.values.dtype)],
            dim=-1,
        )

    def check(self, targets: TargetBatch) -> None:
        """Check the targets against the configuration.

        Raises:
            InputError: a part is missing, of the wrong shape, or not finite.
        """
        count = len(targets)
        metrics = (count, len(self.config.metrics))
        if self.identifier is None:
            check_shape("HCV values", targets.values, metrics)
            check_shape("HCV availability", targets.available, metrics)
            check_finite("HCV values", torch.where(targets.available, targets.values, 0.0))
        else:
            check_shape("device identifiers", targets.identifier, (count,))
        if self.config.signature_size:
            check_shape("signature", targets.signature, (count, self.config.signature_size))
            check_finite("signature", targets.signature)
