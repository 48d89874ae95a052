"""Devices that differ from another in one fact.

A fact moves alone, all else stays as stated: where a device states a peak as well as the clock that
it follows from, a higher clock leaves the peak as it is. Only what a model derives from the clock
moves with it. Two things move together: the base clock with the boost clock, since a base clock
above the boost is no device, and the kinds of cores of one processor, each by the same factor.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

from predictor.core.metrics import METRICS
from predictor.core.records import Cluster, Device

NO_RESOURCES: Final = frozenset({"process_nm", "int4_tops"})
"""Facts that no run in a supported precision waits for."""

_TOGETHER: Final = {"clock_mhz": "boost_clock_mhz"}
# The field of a cluster that a metric of the whole device is.
_OF_CLUSTER: Final = {
    "clock_mhz": "clock_mhz",
    "core_count": "cores",
    "fp32_au_per_core": "fp32_au_per_core",
}


def facts_of(device: Device) -> list[str]:
    """Return the metrics that a device or its clusters state, in the order of the registry.

    A boost clock is none of its own where there is another clock.
    """
    stated = [m.name for m in METRICS if fact_value(device, m.name) is not None]
    second = {second for first, second in _TOGETHER.items() if first in stated}
    return [name for name in stated if name not in second]


def fact_value(device: Device, name: str) -> float | None:
    """Return a metric's value, of clusters where the device does not state it; None without one.

    The cores of clusters are added up; of the rest the highest counts.
    """
    values = [value for c in device.clusters if (value := _of_cluster(c, name)) is not None]
    if device.metric(name) is not None or not values:
        return device.metric(name)
    return sum(values) if name == "core_count" else max(values)


def scaled(device: Device, name: str, factor: float, *, full_cores: bool = False) -> Device:
    """Return a device with one fact ``factor`` times as large.

    Args:
        device: states the fact, see :func:`facts_of`.
        name: of the metric.
        factor: over 0.
        full_cores: round the number of cores up. Without, it may be a fraction: a derivative needs
            a step that is smaller than a core.
    """

    def grown(value: float) -> float:
        rounds_up = full_cores and name == "core_count"
        return math.ceil(value * factor) if rounds_up else value * factor

    def of_cluster(cluster: Cluster) -> Cluster:
        value = _of_cluster(cluster, name)
        changed: dict[str, Any] = {} if value is None else {_OF_CLUSTER[name]: grown(value)}
        return replace(cluster, **changed)

    scaled_names = {name, _TOGETHER.get(name, name)}
    metrics = {
        metric: grown(v) if metric in scaled_names else v for metric, v in device.metrics.items()
    }
    return replace(device, metrics=metrics, clusters=tuple(map(of_cluster, device.clusters)))


def _of_cluster(cluster: Cluster, name: str) -> float | None:
    value: float | None = getattr(cluster, _OF_CLUSTER[name]) if name in _OF_CLUSTER else None
    return value
