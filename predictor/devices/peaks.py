"""Clocks, lanes and the FP32 peak that the facts of a device state or imply, in their own units."""

from __future__ import annotations

from predictor.core.records import Cluster, Device


def base_clock_mhz(device: Device) -> float | None:
    """Return the base clock in MHz, the boost clock where it is not known, or None."""
    return device.metric("clock_mhz") or device.metric("boost_clock_mhz")


def highest_clock_mhz(device: Device) -> float | None:
    """Return the boost clock in MHz, the base clock where it is not known, or None."""
    return device.metric("boost_clock_mhz") or device.metric("clock_mhz")


def stated_lanes(device: Device, cluster: Cluster | None = None) -> float | None:
    """Return the FP32 lanes of a core or SM as stated, of one cluster if it is passed, or None."""
    lanes = None if cluster is None else cluster.fp32_au_per_core
    return lanes or device.metric("fp32_au_per_core")


def derived_fp32_tflops(device: Device) -> float | None:
    """Return clock x cores x lanes x 2 in TFLOP/s, or None where a part is not known.

    Clusters count each with its own clock; else the boost clock, or the clock without one.
    """
    kinds: list[tuple[float | None, float | None, float | None]] = [
        (cluster.clock_mhz, cluster.cores, stated_lanes(device, cluster))
        for cluster in device.clusters
    ] or [(highest_clock_mhz(device), device.metric("core_count"), stated_lanes(device))]
    rate = 0.0
    for clock_mhz, cores, lanes in kinds:
        if clock_mhz is None or cores is None or lanes is None:
            return None
        rate += clock_mhz * cores * lanes
    # MHz x lanes x 2 operations of a fused multiply-add: 2e-6 makes it TFLOP/s.
    return rate * 2e-6


def fastest_cores(device: Device) -> float:
    """Return the number of its fastest cores that a processor is worth, by clocks and lanes."""
    rated = [(c.cores, c.clock_mhz * (c.fp32_au_per_core or 1)) for c in device.clusters]
    if not rated:
        return device.metric("core_count") or 1.0
    return sum(cores * rate for cores, rate in rated) / max(rate for _, rate in rated)
