"""Targets that differ from another in one fact of the device, which is half as large again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from predictor.core.metrics import METRICS
from predictor.core.records import Cluster, Device, Precision, Target
from predictor.core.runtimes import runtime_of

RATE: Final = "rate"
SIZE: Final = "size"
UNUSED: Final = "unused"

_FACTOR: Final = 1.5
_SIZES: Final = frozenset({"l1_kb_per_core", "l2_kb", "llc_kb", "onchip_sram_kb", "dram_gb"})
NO_RESOURCES: Final = frozenset({"tdp_w", "process_nm", "int4_tops"})
"""Facts that no run in a precision of ours uses."""
_TOGETHER: Final = {"boost_clock_mhz": "clock_mhz"}  # a base clock above the boost is no device
_HALVES: Final = frozenset({"fp16_tflops", "bf16_tflops"})

# Rates that a run in a precision has no use for, on networks in float.
_OF_OTHERS: Final[Mapping[Precision, frozenset[str]]] = {
    Precision.FP32: frozenset({"int8_tops"}),
    Precision.FP16: frozenset({"int8_tops", "bf16_tflops", "tf32_tflops", "fp32_matrix_tflops"}),
    Precision.BF16: frozenset({"int8_tops", "fp16_tflops", "tf32_tflops", "fp32_matrix_tflops"}),
    Precision.INT8: frozenset({"bf16_tflops", "tf32_tflops", "fp32_matrix_tflops"}),
    Precision.AMP_FP16: frozenset({"int8_tops", "bf16_tflops"}),
    Precision.AMP_BF16: frozenset({"int8_tops", "fp16_tflops"}),
}


@dataclass(frozen=True, slots=True)
class Variant:
    """A target with one other fact.

    Attributes:
        target: the target.
        fact: name of the metric.
        factor: by which it is larger.
        kind: RATE, SIZE or UNUSED.
    """

    target: Target
    fact: str
    factor: float
    kind: str


def variants(target: Target) -> Iterator[Variant]:
    """Yield a target once for each fact that its device states."""
    device = target.device
    for metric in METRICS:
        name = metric.name
        if device.metric(name) is None or name in _TOGETHER:
            continue
        if name == "core_count" or (name in _OF_CLUSTERS and device.clusters):
            continue  # below, with the clusters
        changed = _with_metric(device, name)
        yield Variant(replace(target, device=changed), name, _FACTOR, kind_of(name, target))
    for name, rate in device.measured.items():
        if name != "launch_us":
            larger = {**device.measured, name: replace(rate, value=rate.value * _FACTOR)}
            changed = replace(device, measured=larger)
            kind = kind_of(name, target)
            yield Variant(replace(target, device=changed), f"measured {name}", _FACTOR, kind)
    for name in _OF_CLUSTERS:
        if device.clusters or (name == "core_count" and device.metric(name) is not None):
            yield from _with_clusters(target, name)


def kind_of(name: str, target: Target) -> str:
    """Return what a fact is to a run of a network in float."""
    if name in _SIZES:
        return SIZE
    configuration = target.configuration
    unused = NO_RESOURCES | _OF_OTHERS[configuration.precision]
    if configuration.precision is Precision.FP32:
        halves = runtime_of(configuration.runtime).may_halve
        unused = unused if halves else unused | _HALVES
    return UNUSED if name in unused else RATE


def _with_metric(device: Device, name: str) -> Device:
    names = [name, *(other for other, first in _TOGETHER.items() if first == name)]
    more = {each: device.metrics[each] * _FACTOR for each in names if each in device.metrics}
    return replace(device, metrics={**device.metrics, **more})


_OF_CLUSTERS: Final = ("clock_mhz", "core_count", "fp32_au_per_core")


def _with_clusters(target: Target, name: str) -> Iterator[Variant]:
    """Yield a target whose cores are faster, more or wider, all kinds of them alike."""
    device = target.device
    clusters = tuple(_cluster(cluster, name) for cluster in device.clusters)
    metrics = dict(device.metrics)
    for each in (name, *(other for other, first in _TOGETHER.items() if first == name)):
        if each in metrics:
            metrics[each] = _larger(each, metrics[each])
    changed = replace(device, clusters=clusters, metrics=metrics)
    factors = [
        after.cores / before.cores if name == "core_count" else _FACTOR
        for before, after in zip(device.clusters, clusters, strict=True)
    ]
    if name == "core_count" and name in metrics:
        factors.append(metrics[name] / device.metrics[name])
    if changed != device:
        yield Variant(replace(target, device=changed), name, max(factors), RATE)


def _cluster(cluster: Cluster, name: str) -> Cluster:
    if name == "core_count":
        return replace(cluster, cores=int(_larger(name, cluster.cores)))
    if name == "clock_mhz":
        return replace(cluster, clock_mhz=cluster.clock_mhz * _FACTOR)
    lanes = cluster.fp32_au_per_core
    return replace(cluster, fp32_au_per_core=None if lanes is None else lanes * _FACTOR)


def _larger(name: str, value: float) -> float:
    # There are no halves of cores.
    return float(math.ceil(value * _FACTOR)) if name == "core_count" else value * _FACTOR
