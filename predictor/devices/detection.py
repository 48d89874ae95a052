"""This machine as a device, from facts that its system states; nothing is measured here.

Bandwidth and sustained rates are not facts that a system states; ``self_test`` measures them.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from predictor.core.metrics import COMPUTED_HERE, NO_BANDWIDTH, Family
from predictor.core.records import Cluster, Device
from predictor.core.text import printable
from predictor.core.units import GIB
from predictor.devices import processors, system_files
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.devices.configurations import implied_configurations
from predictor.devices.host_fields import HostCores, host_cores
from predictor.devices.inference import with_inferred
from predictor.devices.peaks import derived_fp32_tflops

_UNKNOWN_LANES = "FMA units per core are not known for this processor model."
_MOBILE_MACHINES = frozenset({"aarch64", "arm64", "armv7l", "armv8l"})
# Arm cores of servers and desktops; the others are in phones and on boards.
_LARGE_CORES = ("neoverse-", "apple-", "ampere-", "taishan-", "ftc", "oryon")


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


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of cores: their design, name for people and highest clock, None where not stated."""

    design: processors.CoreDesign
    name: str
    clock_mhz: float | None

    @classmethod
    def of(cls, fields: Mapping[str, str], clock_mhz: float | None, *, small: bool) -> _Kind:
        design = processors.design_of(fields, small=small)
        stated = fields.get("CPU part") or fields.get("model name") or "core"
        return cls(design, printable(design.title or stated), clock_mhz)

    @property
    def rate(self) -> float:
        """Clock times lanes, for the order of kinds."""
        return (self.clock_mhz or 1.0) * (self.design.lanes or 1.0)


def detect_this_machine(root: Path = Path("/")) -> Device:
    """Return this machine as the device ``this``; facts that its system hides are absent.

    Args:
        root: root of the file system that is read, for a recorded machine.
    """
    facts = _Facts()
    cores = system_files.one_per_core(root, system_files.usable_cpus(root))
    fields: Mapping[str, str]
    if cores:
        fields = system_files.processor_fields(root, cores[0])
        kinds = _linux_kinds(root, cores)
        all_usable = _linux_facts(facts, root, cores)
    else:
        hosts = host_cores()
        fields = hosts[0].fields if hosts else {}
        kinds = _host_kinds(facts, hosts)
        all_usable = True
    _memory_facts(facts, root)
    if not facts.metrics.keys() & {"clock_mhz", "boost_clock_mhz"}:
        _psutil_clock(facts)
    clusters = _clusters(kinds)
    fastest = max(kinds, key=lambda kind: kind.rate).design if kinds else None
    if not clusters:
        _lanes(facts, kinds)
    facts.notes.append(NO_BANDWIDTH)
    brand = printable(" ".join(fields.get("model name", platform.processor()).split()))[:80]
    device = _with_rate(
        Device(
            id=THIS_MACHINE_ID,
            name=f"This PC ({brand})" if brand else "This PC",
            vendor=_vendor(brand, fastest),
            family=_family(fields, fastest),
            metrics=facts.metrics,
            sources=facts.sources,
            # Under a quota it is open which cores the process gets.
            clusters=clusters if all_usable else (),
            notes=" ".join(facts.notes),
            # Clusters have their own.
            architecture=fastest.architecture if fastest and not clusters else "",
            instruction_sets=fastest.instruction_sets if fastest and not clusters else (),
        )
    )
    # The name of a model that is in no table, or that a hypervisor hides, may still mean something.
    device = with_inferred(device)
    return replace(device, configurations=implied_configurations(device))


def _with_rate(device: Device) -> Device:
    """Add the FP32 rate that follows from the clock, the cores and their lanes."""
    rate = derived_fp32_tflops(device)
    if rate is None:
        return device
    return replace(
        device,
        metrics={**device.metrics, "fp32_tflops": float(f"{rate:.4g}")},
        sources={**device.sources, "fp32_tflops": COMPUTED_HERE},
    )


def _linux_facts(facts: _Facts, root: Path, cores: tuple[int, ...]) -> bool:
    """Note the facts in /proc and /sys, and return whether all ``cores`` can be used at once."""
    allowed = system_files.cores_within_quota(len(cores), system_files.cpu_quota(root))
    source = "/sys, physical cores that this process may use"
    if allowed < len(cores):
        facts.notes.append(f"A control group allows {allowed} of {len(cores)} cores.")
        source += ", within the control group's limit"
    facts.add("core_count", allowed, source)
    clock = system_files.clocks(root, cores[0])
    facts.add("clock_mhz", clock.base_mhz, "/sys, base frequency")
    maxima = [m for cpu in cores if (m := system_files.clocks(root, cpu).max_mhz)]
    facts.add("boost_clock_mhz", max(maxima, default=None), "/sys, highest frequency")
    _cache_facts(facts, root, cores)
    return allowed == len(cores)


def _linux_kinds(root: Path, cores: tuple[int, ...]) -> dict[_Kind, int]:
    """Return the kinds of cores, and the number of each."""
    small = system_files.small_cpus(root)
    kinds: dict[_Kind, int] = {}
    for cpu in cores:
        fields = system_files.processor_fields(root, cpu)
        kind = _Kind.of(fields, system_files.clocks(root, cpu).max_mhz, small=cpu in small)
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds


def _host_kinds(facts: _Facts, hosts: tuple[HostCores, ...]) -> dict[_Kind, int]:
    """Note the facts of Windows or macOS, and return the kinds of cores and the number of each."""
    cores = psutil.cpu_count(logical=False) or 0
    facts.add("core_count", cores, "psutil, physical cores")
    _psutil_clock(facts)
    kinds: dict[_Kind, int] = {}
    for host in hosts:
        fast, slow = facts.metrics.get("clock_mhz"), processors.small_core_clock_mhz(host.fields)
        clock = slow if host.small else fast
        kinds[_Kind.of(host.fields, clock, small=host.small)] = host.cores or cores
        if not host.small:
            facts.add("l1_kb_per_core", host.l1_kb, "sysctl, L1 data cache of a core")
    facts.add("l2_kb", sum(host.l2_kb for host in hosts), "sysctl, L2 caches together")
    # Windows does not distinguish the two kinds. Small cores have one thread: where each core has
    # two there are none.
    is_alike = len(hosts) != 1 or (psutil.cpu_count() or 0) >= 2 * cores
    if not is_alike and processors.may_have_small_cores(hosts[0].fields):
        kinds[_Kind.of(hosts[0].fields, None, small=True)] = 0
    return kinds


def _clusters(kinds: Mapping[_Kind, int]) -> tuple[Cluster, ...]:
    """Return the clusters, the fastest first; none where cores are alike or a clock is unknown."""
    clocks = [kind.clock_mhz for kind in kinds if kind.clock_mhz is not None]
    if len(kinds) < 2 or len(clocks) < len(kinds):
        return ()
    return tuple(
        Cluster(
            name=kind.name,
            cores=kinds[kind],
            clock_mhz=kind.clock_mhz or 0.0,
            fp32_au_per_core=kind.design.lanes,
            architecture=kind.design.architecture,
            instruction_sets=kind.design.instruction_sets,
        )
        for kind in sorted(kinds, key=lambda kind: -kind.rate)
    )


def _lanes(facts: _Facts, kinds: Iterable[_Kind]) -> None:
    """Note the FMA lanes of a core; of several kinds those of the one that has the fewest."""
    designs = sorted({kind.design for kind in kinds}, key=lambda design: design.lanes or 0)
    if not designs or designs[0].lanes is None:
        facts.notes.append(_UNKNOWN_LANES)
        return
    facts.add("fp32_au_per_core", designs[0].lanes, designs[0].source)
    if not designs[0].is_certain:
        facts.notes.append(_UNKNOWN_LANES)


def _cache_facts(facts: _Facts, root: Path, cores: tuple[int, ...]) -> None:
    caches = system_files.caches(root, cores)
    if 1 in caches:
        facts.add("l1_kb_per_core", caches[1].kb_per_core, "/sys, L1 data cache of a core")
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
    return round(memory_bytes / GIB, 3)


def _psutil_clock(facts: _Facts) -> None:
    """Note the clock where /sys has none: a virtual machine, macOS, Windows."""
    try:
        frequency = psutil.cpu_freq()
    except (OSError, NotImplementedError, RuntimeError):
        return
    if frequency is not None:
        facts.add("clock_mhz", frequency.max or frequency.current, "psutil, processor frequency")


def _family(fields: Mapping[str, str], design: processors.CoreDesign | None) -> Family:
    is_arm = "CPU implementer" in fields or platform.machine() in _MOBILE_MACHINES
    is_large = design is not None and design.architecture.startswith(_LARGE_CORES)
    return Family.MOBILE_CPU if is_arm and not is_large else Family.CPU


def _vendor(brand: str, design: processors.CoreDesign | None) -> str:
    for vendor in ("Intel", "AMD", "Apple", "Qualcomm", "Ampere"):
        if vendor.casefold() in brand.casefold():
            return vendor
    return (design.vendor if design else "") or "unknown"
