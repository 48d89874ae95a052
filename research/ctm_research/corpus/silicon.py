"""Silicon of the devices of the catalogue: one of them held out holds out all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from predictor.core.errors import InputError
from predictor.core.records import Cluster, Device
from predictor.devices.architectures import silicon
from predictor.devices.catalogue import load_device_files

_RATES = ("fp32_tflops", "fp16_tflops", "bf16_tflops", "int8_tops")
_OF_CORES = ("l1_kb_per_core", "l2_kb")  # stated for the fastest cores


def silicon_key(device_id: str, cluster: int = 0) -> str:
    """Return the silicon of a device of the catalogue, or of one kind of its cores.

    A device that is none of the catalogue has its id.
    """
    device = _catalogue().get(device_id)
    return device_id if device is None else _silicon(device_id, cluster)


def one_cluster(device: Device, cluster: int) -> Device:
    """Return a device with one kind of its cores alone, the device itself for the fastest.

    Args:
        device: with several kinds of cores, the fastest first.
        cluster: place of the kind.

    Raises:
        InputError: it has no such kind of cores.
    """
    if not cluster:
        return device
    if cluster >= len(device.clusters):
        raise InputError(
            f"device {device.id}",
            f"it has {max(1, len(device.clusters))} kinds of cores, a source ran on kind {cluster}",
            "describe its clusters, or leave the rows out",
        )
    cores = device.clusters[cluster]
    dropped = {*_OF_CORES, *(_RATES if _rate(device, cores) is None else ())}
    metrics = {name: value for name, value in device.metrics.items() if name not in dropped}
    metrics |= {
        name: metrics[name] * (_rate(device, cores) or 0) for name in _RATES if name in metrics
    }
    return replace(
        device,
        id=f"{device.id}-cluster-{cluster}",
        name=f"{device.name}, {cores.name}",
        metrics={**metrics, "core_count": float(cores.cores), "clock_mhz": cores.clock_mhz},
        clusters=(cores,),
        architecture=cores.architecture,
        instruction_sets=cores.instruction_sets or device.instruction_sets,
    )


def _rate(device: Device, cores: Cluster) -> float | None:
    """Return the part of the device's arithmetic that a kind of cores has; None if unknown."""
    rates = [c.cores * c.clock_mhz * (c.fp32_au_per_core or 0) for c in device.clusters]
    if not all(rates):
        return None
    return rates[device.clusters.index(cores)] / sum(rates)


@cache
def _silicon(device_id: str, cluster: int) -> str:
    return silicon(one_cluster(_catalogue()[device_id], cluster))


@cache
def _catalogue() -> Mapping[str, Device]:
    return {entry.device.id: entry.device for entry in load_device_files()}
