"""This machine as a device, from facts that its system states; nothing is measured here.

Bandwidth and sustained rates are not facts that a system states; ``self_test`` measures them.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision
from predictor.core.runtimes import MEASURED
from predictor.core.text import printable
from predictor.devices import system_files
from predictor.devices.system_files import fma_lanes

THIS_ID = "this"  # as the user types it
THIS_MACHINE_ID = "this-machine"  # of the device: the same in the window and on the command line
NO_BANDWIDTH = "Memory bandwidth is not stated by the system; measure it."
_MOBILE_MACHINES = frozenset({"aarch64", "arm64", "armv7l", "armv8l"})
_CONFIGURATIONS = (
    Configuration(MEASURED, Precision.FP32),
    Configuration(MEASURED, Precision.INT8),
)


@dataclass(slots=True)
class _Facts:
    """Metrics, their sources and notes, as they are found."""

    metrics: dict[str, float] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, value: float | None, source: str) -> None:
        """Note a metric unless its value is not known."""
        if value:
            self.metrics[name] = float(value)
            self.sources[name] = f"this machine: {source}"


def detect_this_machine(root: Path = Path("/")) -> Device:
    """Return this machine as the device ``this``; facts that its system hides are absent.

    Args:
        root: root of the file system that is read, for a recorded machine.
    """
    facts = _Facts()
    cpus = system_files.usable_cpus(root)
    cores = system_files.first_of_each_core(root, cpus)
    clusters: tuple[Cluster, ...] = ()
    if cores:
        clusters = _linux_facts(facts, root, cores)
    else:
        facts.add("core_count", psutil.cpu_count(logical=False), "psutil, physical cores")
    _memory_facts(facts, root)
    if not facts.metrics.keys() & {"clock_mhz", "boost_clock_mhz"}:
        _psutil_clock(facts)
    facts.notes.append(NO_BANDWIDTH)
    brand = _brand(root, cores)
    return Device(
        id=THIS_MACHINE_ID,
        name=f"This machine ({brand})" if brand else "This machine",
        vendor=_vendor(brand),
        family=Family.MOBILE_CPU if platform.machine() in _MOBILE_MACHINES else Family.CPU,
        metrics=facts.metrics,
        sources=facts.sources,
        configurations=_CONFIGURATIONS,
        clusters=clusters,
        notes=" ".join(facts.notes),
    )


def _linux_facts(facts: _Facts, root: Path, cores: tuple[int, ...]) -> tuple[Cluster, ...]:
    """Note the facts in /proc and /sys, and return the clusters where cores differ."""
    allowed = system_files.cores_within_quota(len(cores), system_files.cpu_quota(root))
    source = "/sys, physical cores that this process may use"
    if allowed < len(cores):
        facts.notes.append(f"A control group allows {allowed} of {len(cores)} cores.")
        source += ", within the control group's limit"
    facts.add("core_count", allowed, source)
    clusters = _clusters(root, cores)
    clock = system_files.clocks(root, cores[0])
    facts.add("clock_mhz", clock.base_mhz, "/sys, base frequency")
    maxima = [m for cpu in cores if (m := system_files.clocks(root, cpu).max_mhz)]
    facts.add("boost_clock_mhz", max(maxima, default=None), "/sys, highest frequency")
    if len(clusters) < 2:
        lanes = fma_lanes(system_files.processor_fields(root, cores[0]))
        facts.add("fp32_au_per_core", lanes, "processor model and instruction sets")
        if lanes is None:
            facts.notes.append("FMA units per core are not known for this processor model.")
    _cache_facts(facts, root, cores)
    # Under a quota it is open which cores the process gets.
    return clusters if len(clusters) > 1 and allowed == len(cores) else ()


def _clusters(root: Path, cores: tuple[int, ...]) -> tuple[Cluster, ...]:
    """Group cores of one design and clock, the fastest first; none where a clock is not stated."""
    groups: dict[tuple[str, float, int | None], int] = {}
    for cpu in cores:
        fields = system_files.processor_fields(root, cpu)
        clock = system_files.clocks(root, cpu).max_mhz
        if clock is None:
            return ()
        name = fields.get("CPU part") or fields.get("model name") or "core"
        key = (printable(name), clock, fma_lanes(fields))
        groups[key] = groups.get(key, 0) + 1
    ordered = sorted(groups.items(), key=lambda item: -item[0][1] * (item[0][2] or 1))
    return tuple(Cluster(name, count, clock, lanes) for (name, clock, lanes), count in ordered)


def _cache_facts(facts: _Facts, root: Path, cores: tuple[int, ...]) -> None:
    caches = system_files.caches(root, cores)
    if 1 in caches:
        facts.add("l1_kb_per_core", caches[1].kb_each, "/sys, L1 data cache of a core")
    if 2 in caches:
        facts.add("l2_kb", caches[2].kb_total, "/sys, L2 caches together")
    if 3 in caches:
        # Level 4 where there is one.
        facts.add("llc_kb", caches[max(caches)].kb_total, "/sys, last-level caches together")


def _memory_facts(facts: _Facts, root: Path) -> None:
    total = psutil.virtual_memory().total
    limit = system_files.memory_limit_bytes(root)
    if limit is not None and limit < total:
        facts.notes.append("A control group limits the memory.")
        facts.add("dram_gb", _gb(limit), "the control group's memory limit")
    else:
        facts.add("dram_gb", _gb(total), "psutil, total memory")


def _gb(memory_bytes: int) -> float:
    return round(memory_bytes / 1e9, 3)


def _psutil_clock(facts: _Facts) -> None:
    """Note the clock where /sys has none: a virtual machine, macOS, Windows."""
    try:
        frequency = psutil.cpu_freq()
    except (OSError, NotImplementedError, RuntimeError):
        return
    if frequency is not None:
        facts.add("clock_mhz", frequency.max or frequency.current, "psutil, processor frequency")


def _brand(root: Path, cores: tuple[int, ...]) -> str:
    fields = system_files.processor_fields(root, cores[0]) if cores else {}
    brand = fields.get("model name", "") or platform.processor()
    return printable(" ".join(brand.split()))[:80]


def _vendor(brand: str) -> str:
    for vendor in ("Intel", "AMD", "Apple", "Qualcomm", "Ampere"):
        if vendor.casefold() in brand.casefold():
            return vendor
    return "unknown"
