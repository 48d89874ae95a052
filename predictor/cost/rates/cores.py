"""The cores of a processor, and those that a number of threads keeps busy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, NamedTuple

from predictor.core.records import Cluster, Device
from predictor.cost.rates.facts import Clocks, clocks_of, missing
from predictor.devices.peaks import stated_lanes

_WHOLE_CORES: Final = frozenset({"dpu-b1600", "dpu-b4096"})
"""Designs of DPUs each core of which runs an image by itself (DPUCZDX8G, product guide PG338)."""


class CoreKind(NamedTuple):
    """Cores of one kind.

    Attributes:
        cores: number of them; of a derivative it may be a fraction.
        clocks: of one of them.
        cluster: that they are, None of a processor with one kind.
    """

    cores: float
    clocks: Clocks
    cluster: Cluster | None = None

    def clock_hz(self, threads: int) -> float:
        """Return the clock of its busy cores while ``threads`` threads run; 0 for one a core.

        One core alone runs at the boost clock, all together at theirs; in between it falls with the
        number of busy cores.
        """
        idle = max(self.cores - threads, 0.0) / max(self.cores - 1, 1.0) if threads else 0.0
        together, boost = self.clocks.together_mhz, self.clocks.boost_mhz
        return (together + idle * (boost - together)) * 1e6


def core_kinds(device: Device) -> list[CoreKind]:
    """Return the kinds of cores of a processor; empty where their number or clock is not known.

    Of clusters one clock is known, the highest.
    """
    if device.clusters:
        return [CoreKind(c.cores, Clocks(*[c.clock_mhz] * 3), c) for c in device.clusters]
    clocks, count = clocks_of(device), device.metric("core_count")
    return [] if clocks is None or not count else [CoreKind(count, clocks)]


def separate_cores(device: Device) -> int:
    """Return the cores of an accelerator that run images of their own; 1 where all work on one.

    Engines of Versal's DPUs share the images of one batch.
    """
    if device.architecture not in _WHOLE_CORES:
        return 1
    return max(int(device.metric("core_count") or 1), 1)


def busy_rate(cores: Iterable[tuple[float, float]], threads: float) -> float:
    """Return the rate of all cores that ``threads`` threads keep busy, the fastest first.

    So more cores of one kind never displace faster ones.

    Args:
        cores: rate of one core and number of such cores, of each kind.
        threads: number of threads, 0 for one a core.
    """
    total, remaining = 0.0, float(threads) or math.inf
    for rate, count in sorted(cores, reverse=True):
        total += rate * min(count, remaining)
        remaining -= min(count, remaining)
    return total


def thread_share(device: Device, threads: int) -> float:
    """Return the part of the device's rate that ``threads`` threads have, 0 < share <= 1.

    Threads fill the fastest kind of cores first; 0 is one a core. Lanes are those that are stated,
    as in the FP32 peak.

    Raises:
        MissingMetricError: it does not follow from the known facts of the cores.
    """
    if not threads or not device.is_threaded:
        return 1.0
    cores = sum(cluster.cores for cluster in device.clusters) or device.metric("core_count")
    if cores is None:
        raise missing(device, "core_count")
    busy = min(device.threads_in_use(threads), cores)
    # Before any lanes are needed: all cores are the whole rate, whatever they are.
    if busy == cores:
        return 1.0
    if len(device.clusters) < 2:
        return busy / cores
    rates: list[tuple[float, float]] = []
    for kind in core_kinds(device):
        lanes = stated_lanes(device, kind.cluster)
        if lanes is None:
            raise missing(device, "fp32_au_per_core")
        rates.append((kind.clock_hz(0) * lanes, kind.cores))
    return busy_rate(rates, busy) / busy_rate(rates, 0)
