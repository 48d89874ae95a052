"""The target half of the network: device vector or number, and signature, to one description."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from predictor.network.batch import TargetBatch, check_finite, check_shape
from predictor.network.config import DeviceEncoding, Mode, NetworkConfig, SignatureForm
from predictor.research.paper.signature import SignatureSet, SignatureVector


class TargetEncoder(nn.Module):
    """Describes T targets by one vector each: the HCV (or identifier), and in shared mode the DBS.

    The HCV enters as the paper says: values, zero where there is none, and the availability
    indicator beside them.

    Args:
        config: of the network.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.identifier = (
            nn.Embedding(config.devices, config.width)
            if config.device_encoding is DeviceEncoding.IDENTIFIER
            else None
        )
        self.vector = (
            SignatureVector(config.log_mean, config.log_std)
            if config.signature is SignatureForm.VECTOR
            else None
        )
        shared = config.mode is Mode.SHARED
        self.mix = (
            nn.Linear(config.signature_size, config.width)
            if shared and self.vector is not None
            else None
        )
        self.set = (
            SignatureSet(
                2 * config.width,
                config.width,
                log_mean=config.log_mean,
                log_std=config.log_std,
                prior=config.prior,
            )
            if config.signature is SignatureForm.SET
            else None
        )

    @property
    def device_width(self) -> int:
        """Width of the description of the device alone."""
        return self.config.width if self.identifier is not None else 2 * len(self.config.metrics)

    @property
    def signature_width(self) -> int:
        """Width of what the signature adds to it: 0 where it enters elsewhere or not at all."""
        return 0 if self.set is None and self.mix is None else self.config.width

    @property
    def width(self) -> int:
        """Width of the whole description."""
        return self.device_width + self.signature_width

    def joined_signature(self, targets: TargetBatch) -> Tensor | None:
        """Return the standardised vector [T, k] of networks that have one."""
        if self.vector is None or targets.signature is None:
            return None
        vector: Tensor = self.vector(targets.signature)
        return vector

    def forward(self, targets: TargetBatch) -> tuple[Tensor, Tensor | None]:
        """Return the description [T, width], and of it what the signature adds, [T, d] or None."""
        if self.identifier is not None:
            device = self.identifier(targets.identifier)
        else:
            known = targets.available
            device = torch.cat(
                [torch.where(known, targets.values, 0.0), known.to(targets.values.dtype)], dim=-1
            )
        signature = self._signature(targets)
        return (
            (device, None)
            if signature is None
            else (
                torch.cat([device, signature], dim=-1),
                signature,
            )
        )

    def _signature(self, targets: TargetBatch) -> Tensor | None:
        if self.set is not None and targets.probes is not None:
            encoded: Tensor = self.set(targets.probes, targets.values)
            return encoded
        if self.mix is not None:
            mixed: Tensor = torch.relu(self.mix(self.joined_signature(targets)))
            return mixed
        return None

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
        if self.vector is not None:
            check_shape("signature", targets.signature, (count, self.config.signature_size))
            check_finite("signature", targets.signature)
        if self.set is not None:
            self._check_probes(targets)

    def _check_probes(self, targets: TargetBatch) -> None:
        probes = targets.probes
        size = 0 if probes is None else int(probes.target.shape[0])
        embedding = None if probes is None else probes.embedding
        check_shape("probe embeddings", embedding, (size, 2 * self.config.width))
        latency = None if probes is None else probes.log_latency
        check_shape("probe latencies", latency, (size,))
        check_finite("probe latencies", latency)
        if self.config.prior:
            prior = None if probes is None else probes.log_prior
            check_shape("analytic latencies of probes", prior, (size,))
            check_finite("analytic latencies of probes", prior)
