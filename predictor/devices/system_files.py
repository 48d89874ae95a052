"""Facts of Linux about its processors in /proc and /sys, as far as this process may use them.

Every function takes the root of the file system, so that a recorded machine can be read too.
A fact that the system does not state is None or missing: containers and virtual machines hide some.

FP32 FMA lanes of a core, lanes x units, are given only where its design is certain: a core
with two 256-bit FMA units has 16. Models that are sold with one or two units (Skylake-X, Cascade
Lake) are in no table.

Sources: Intel 64 and IA-32 Architectures Optimization Reference Manual (248966) and the model
numbers of the Software Developer's Manual, volume 4, table 2-1; AMD Software Optimization Guides
for families 17h (55723), 19h (56665) and Zen 4 (57647); Arm software optimization guides of each
core.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# Intel, family 6: lanes by model, per widest instruction set. A hypervisor may show another model
# number than the processor's own; then the two disagree.
_INTEL_MODELS: Mapping[str, Mapping[int, int]] = {
    # Sapphire, Emerald and Granite Rapids: two 512-bit units.
    "amx_tile": dict.fromkeys((143, 207, 173), 32),
    "avx512f": {
        # Ice Lake server and Xeon D: two 512-bit units.
        **dict.fromkeys((106, 108), 32),
        # Ice Lake, Tiger Lake and Rocket Lake client: one 512-bit unit, as wide as two of 256 bit.
        **dict.fromkeys((125, 126, 140, 141, 167), 16),
    },
    # Haswell, Broadwell, Skylake client, Kaby Lake to Comet Lake, Alder Lake and Raptor Lake P:
    # two units of 256 bit.
    "avx2": dict.fromkeys((60, 63, 69, 70, 61, 71, 79, 86, 78, 94), 16)
    | dict.fromkeys((142, 158, 165, 166, 151, 154, 183, 186, 191), 16),
}

# Implementer 0x41 (Arm): CPU part -> lanes x units.
_ARM_PARTS: Mapping[int, int] = {
    0xD03: 4,  # Cortex-A53
    0xD05: 4,  # Cortex-A55
    0xD08: 4,  # Cortex-A72
    0xD0B: 8,  # Cortex-A76
    0xD0C: 8,  # Neoverse N1
    0xD41: 8,  # Cortex-A78
    0xD42: 8,  # Cortex-A78AE
    0xD49: 8,  # Neoverse N2
    0xD40: 16,  # Neoverse V1, two units of 256 bit
    0xD4F: 16,  # Neoverse V2, four units of 128 bit
}


def fma_lanes(fields: Mapping[str, str]) -> int | None:
    """Return FP32 FMA lanes x units of the core that /proc/cpuinfo describes, or None.

    Args:
        fields: the fields of one processor, by their names in /proc/cpuinfo.
    """
    if fields.get("CPU implementer") == "0x41":
        return _ARM_PARTS.get(_integer(fields.get("CPU part", "")))
    flags = frozenset(fields.get("flags", "").split())
    if not {"avx2", "fma"} <= flags:
        return None
    family, model = _integer(fields.get("cpu family", "")), _integer(fields.get("model", ""))
    if fields.get("vendor_id") == "GenuineIntel" and family == 6:
        # The table goes from the widest set to avx2, which is in the flags by now.
        widest = next(name for name in _INTEL_MODELS if name in flags)
        return _INTEL_MODELS[widest].get(model)
    if fields.get("vendor_id") == "AuthenticAMD":
        return _amd_lanes(family, model)
    return None


def _amd_lanes(family: int, model: int) -> int | None:
    if family == 23:  # Zen and Zen+ have 128-bit units, Zen 2 (models from 48 on) 256-bit ones
        return 16 if model >= 48 else 8
    # Zen 3 and Zen 4; Zen 5 (family 26) has 256 or 512 bit, depending on the product.
    return 16 if family == 25 else None


def _integer(text: str) -> int:
    """Return the number in ``text``, decimal or 0x, and -1 where there is none."""
    try:
        return int(text, 0)
    except ValueError:
        return -1


@dataclass(frozen=True, slots=True)
class Cache:
    """One kind of cache: its level, and the size of a core's own and of all together, in KiB."""

    level: int
    kb_each: float
    kb_total: float


@dataclass(frozen=True, slots=True)
class Clocks:
    """Clock range of one processor in MHz; None where it is not stated."""

    base_mhz: float | None
    max_mhz: float | None


def usable_cpus(root: Path = Path("/")) -> tuple[int, ...]:
    """Return the processors that this process may run on, by number."""
    if root == Path("/") and hasattr(os, "sched_getaffinity"):
        # The affinity is that of this process; a recorded machine has none.
        return tuple(sorted(os.sched_getaffinity(0)))
    return _cpu_list(_text(root / "sys/devices/system/cpu/online"))


def first_of_each_core(root: Path, cpus: Iterable[int]) -> tuple[int, ...]:
    """Return one processor for each physical core among ``cpus``, hyper-threads left out."""
    seen: set[tuple[int, ...]] = set()
    result: list[int] = []
    for cpu in cpus:
        topology = _cpu_dir(root, cpu) / "topology"
        # thread_siblings_list is the older name.
        siblings = _cpu_list(
            _text(topology / "core_cpus_list") or _text(topology / "thread_siblings_list")
        ) or (cpu,)
        if siblings not in seen:
            seen.add(siblings)
            result.append(cpu)
    return tuple(result)


def caches(root: Path, cpus: Iterable[int]) -> dict[int, Cache]:
    """Return the data and unified caches by level; a shared one counts once.

    Args:
        root: root of the file system.
        cpus: one processor for each core.
    """
    instances: dict[int, dict[str, float]] = {}
    for cpu in cpus:
        for folder in sorted((_cpu_dir(root, cpu) / "cache").glob("index*")):
            level, size = _text(folder / "level"), _text(folder / "size")
            if _text(folder / "type") == "Instruction" or not level.isdecimal():
                continue
            if size.endswith("K") and size[:-1].isdecimal():
                # Cores that share a cache list the same processors: one entry a cache.
                shared = _text(folder / "shared_cpu_list") or str(cpu)
                instances.setdefault(int(level), {})[shared] = float(size[:-1])
    return {
        level: Cache(level, max(sizes.values()), sum(sizes.values()))
        for level, sizes in sorted(instances.items())
    }


def clocks(root: Path, cpu: int) -> Clocks:
    """Return the clock range that the frequency driver states for a processor."""
    folder = _cpu_dir(root, cpu) / "cpufreq"
    return Clocks(_mhz(folder / "base_frequency"), _mhz(folder / "cpuinfo_max_freq"))


def processor_fields(root: Path, cpu: int) -> dict[str, str]:
    """Return the fields of one processor in /proc/cpuinfo, by their names there."""
    for block in _text(root / "proc/cpuinfo").split("\n\n"):
        pairs = (line.partition(":") for line in block.splitlines())
        fields = {name.strip(): value.strip() for name, _, value in pairs}
        if fields.get("processor") == str(cpu):
            return fields
    return {}


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Return the number of processors whose time the control group allows; None without a limit."""
    # Limits hold at every level, so the smallest counts; "max" (v2) and -1 (v1) are none.
    limits: list[float] = []
    for folder in _control_groups(root):
        words = _text(folder / "cpu.max").split()
        if len(words) == 2 and all(word.isdecimal() for word in words):
            limits.append(int(words[0]) / int(words[1]))
    quota = _text(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us")
    period = _text(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us")
    if quota.isdecimal() and period.isdecimal():
        limits.append(int(quota) / int(period))
    return min(limits, default=None)


def memory_limit_bytes(root: Path = Path("/")) -> int | None:
    """Return the bytes of memory that the control group allows; None without a limit."""
    paths = [folder / "memory.max" for folder in _control_groups(root)]
    paths.append(root / "sys/fs/cgroup/memory/memory.limit_in_bytes")
    limits = [int(text) for path in paths if (text := _text(path)).isdecimal()]
    return min(limits, default=None)


def cores_within_quota(cores: int, quota: float | None) -> int:
    """Return the number of ``cores`` that can be busy at once under a quota."""
    return cores if quota is None else max(1, min(cores, math.ceil(quota)))


def _control_groups(root: Path) -> list[Path]:
    """Return the folders of this process's control group and of those around it."""
    top = root / "sys/fs/cgroup"
    own = [
        line.removeprefix("0::/")
        for line in _text(root / "proc/self/cgroup").splitlines()
        if line.startswith("0::/")
    ]
    folder = top / own[0] if own else top
    return [parent for parent in (folder, *folder.parents) if parent.is_relative_to(top)]


def _cpu_dir(root: Path, cpu: int) -> Path:
    return root / f"sys/devices/system/cpu/cpu{cpu}"


def _mhz(path: Path) -> float | None:
    text = _text(path)
    return int(text) / 1000 if text.isdecimal() and int(text) > 0 else None


def _cpu_list(text: str) -> tuple[int, ...]:
    """Expand the kernel's list form: "0-2,5" is 0, 1, 2, 5."""
    result: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if first.isdecimal():
            result.extend(range(int(first), int(last if last.isdecimal() else first) + 1))
    return tuple(result)


def _text(path: Path) -> str:
    """Return the stripped text of a small system file, empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
