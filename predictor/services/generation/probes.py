"""Probes in the shape of a token, which measure how fast a device reads weights.

The pool's networks of the space ``decode`` read weights that fill no cache, once a run. Their time
over that of physics is a measurement of the device, under another runtime than the model's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from predictor.core.records import Device, TargetId
from predictor.cost.engine import TargetMeasurements
from predictor.cost.rates.facts import on_chip_bytes
from predictor.cost.rates.runs import WEIGHT_BYTES
from predictor.language.passes import Passes
from predictor.probing.networks.pool import PoolNetwork, load_pool

_SPACE = "decode"


@dataclass(frozen=True, slots=True)
class DecodeProbe:
    """One measured network.

    Attributes:
        device: that it ran on.
        passes: its work.
        seconds: that it took.
    """

    device: Device
    passes: Passes
    seconds: float


def decode_probes(
    measured: Mapping[TargetId, TargetMeasurements], devices: Sequence[Device]
) -> list[DecodeProbe]:
    """Return the probes in the shape of a token that were measured on some devices.

    A processor counts with the threads that a language model takes, those of its fastest cores at
    least. Networks that fit into its caches do not count: they do not measure its memory.

    Args:
        measured: the user's measurements by target.
        devices: targets of a language model.
    """
    by_id = {device.id: device for device in devices}
    probes = []
    for target, measurements in measured.items():
        device = by_id.get(target.device_id)
        if device is None or not _has_usual_threads(device, target.threads):
            continue
        width = WEIGHT_BYTES[target.configuration.precision]
        for graph, latency_ms in zip(
            measurements.graphs, measurements.latency_ms.tolist(), strict=True
        ):
            network = _networks().get(graph.fingerprint)
            if network and width * network.parameters > np.nan_to_num(on_chip_bytes(device)):
                probes.append(DecodeProbe(device, _passes(network, width), latency_ms / 1e3))
    return probes


def _has_usual_threads(device: Device, threads: int) -> bool:
    if not device.is_threaded:
        return True
    fast_cores = device.clusters[0].cores if device.clusters else device.core_count or 1
    return device.threads_in_use(threads) >= fast_cores


def _passes(network: PoolNetwork, width: float) -> Passes:
    weights, nothing = np.array([float(network.parameters)]), np.zeros(1)
    flops = np.array([2.0 * network.macs])
    # A layer of it has five operators and a model's four times as many: starting them is left out.
    return Passes(
        weight_bytes=width * weights,
        kv_bytes=nothing,
        weights=weights,
        flops=flops,
        padding_flops=nothing,
        attention_flops=nothing,
        scores=nothing,
        activation_bytes=nothing,
        exchanged_bytes=nothing,
        layers=0,
        heads=0,
        batch=1,
    )


@cache
def _networks() -> Mapping[str, PoolNetwork]:
    return {n.fingerprint: n for n in load_pool() if n.space == _SPACE}
