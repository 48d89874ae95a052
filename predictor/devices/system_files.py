"""Facts of Linux about its processors in /proc and /sys, as far as this process may use them.

Every function takes the root of the file system, so that a recorded machine can be read too.
A fact that the system does not state is None or missing: containers and virtual machines hide some.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cache:
    """One kind of cache: its level, and the size of a core's own and of all together, in KiB."""

    level: int
    kb_per_core: float
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


def one_per_core(root: Path, cpus: Iterable[int]) -> tuple[int, ...]:
    """Return one processor for each physical core among ``cpus``, hyper-threads left out."""
    cores: set[tuple[int, ...]] = set()
    result: list[int] = []
    for cpu in cpus:
        topology = _cpu_dir(root, cpu) / "topology"
        # thread_siblings_list is the older name.
        siblings = _cpu_list(
            _text(topology / "core_cpus_list") or _text(topology / "thread_siblings_list")
        ) or (cpu,)
        if siblings not in cores:
            cores.add(siblings)
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


def small_cpus(root: Path = Path("/")) -> frozenset[int]:
    """Return the processors that are efficient cores of an Intel one with two kinds, by number.

    The kernel has a performance counter for each kind of core.
    """
    kinds = ("cpu_atom", "cpu_lowpower")
    texts = (_text(root / "sys/devices" / kind / "cpus") for kind in kinds)
    return frozenset(cpu for text in texts for cpu in _cpu_list(text))


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
    paths = [
        line.removeprefix("0::/")
        for line in _text(root / "proc/self/cgroup").splitlines()
        if line.startswith("0::/")
    ]
    folder = top / paths[0] if paths else top
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
