"""Builds the files of /proc and /sys of a machine, as far as detection reads them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")


def add_cpu(
    root: Path,
    number: int,
    *,
    siblings: str = "",
    max_khz: int | None = None,
    base_khz: int | None = None,
    caches: Mapping[str, tuple[int, str, str, str]] | None = None,
) -> None:
    """Add a processor; ``caches`` is index -> (level, type, size, shared_cpu_list)."""
    folder = f"sys/devices/system/cpu/cpu{number}"
    files = {f"{folder}/topology/thread_siblings_list": siblings or str(number)}
    if max_khz is not None:
        files[f"{folder}/cpufreq/cpuinfo_max_freq"] = str(max_khz)
    if base_khz is not None:
        files[f"{folder}/cpufreq/base_frequency"] = str(base_khz)
    for index, (level, kind, size, shared) in (caches or {}).items():
        cache = f"{folder}/cache/{index}"
        files[f"{cache}/level"] = str(level)
        files[f"{cache}/type"] = kind
        files[f"{cache}/size"] = size
        files[f"{cache}/shared_cpu_list"] = shared
    write(root, files)


def laptop(root: Path) -> None:
    """A Core i7-7700K (Kaby Lake, model 158): 4 cores of 2 threads, 4.2 to 4.5 GHz."""
    blocks = []
    for number in range(8):
        core = number % 4
        add_cpu(
            root,
            number,
            siblings=f"{core},{core + 4}",
            max_khz=4_500_000,
            base_khz=4_200_000,
            caches={
                "index0": (1, "Data", "32K", f"{core},{core + 4}"),
                "index1": (1, "Instruction", "32K", f"{core},{core + 4}"),
                "index2": (2, "Unified", "256K", f"{core},{core + 4}"),
                "index3": (3, "Unified", "8192K", "0-7"),
            },
        )
        blocks.append(
            f"processor\t: {number}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 158\n"
            "model name\t: Intel(R) Core(TM) i7-7700K CPU @ 4.20GHz\nflags\t\t: fpu avx2 fma"
        )
    write(root, {"sys/devices/system/cpu/online": "0-7", "proc/cpuinfo": "\n\n".join(blocks)})


def board(root: Path) -> None:
    """An RK3588: 4 Cortex-A55 at 1.8 GHz and 4 Cortex-A76 at 2.4 GHz."""
    blocks = []
    for number in range(8):
        little = number < 4
        level2 = "128K" if little else "512K"
        add_cpu(
            root,
            number,
            max_khz=1_800_000 if little else 2_400_000,
            caches={
                "index0": (1, "Data", "32K" if little else "64K", str(number)),
                "index2": (2, "Unified", level2, str(number)),
                "index3": (3, "Unified", "3072K", "0-7"),
            },
        )
        part = "0xd05" if little else "0xd0b"
        blocks.append(f"processor\t: {number}\nCPU implementer\t: 0x41\nCPU part\t: {part}")
    write(root, {"sys/devices/system/cpu/online": "0-7", "proc/cpuinfo": "\n\n".join(blocks)})
