"""Facts of the machine, and how busy it is; what is not stated is None."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from pathlib import Path
from typing import Any


class Accounting:
    """How much of the processors this process and others used between start and finish."""

    def __init__(self) -> None:
        self._wall, self._processor_s, self._busy = self._now()

    @staticmethod
    def _now() -> tuple[float, float, tuple[float, float] | None]:
        return time.monotonic(), time.process_time(), _busy_and_stolen_s()

    def finish(self, threads: int, *, on_processor: bool) -> dict[str, Any]:
        """Return the shares in cores, and whether other work can have disturbed the runs.

        Args:
            threads: that the runs have; 0 for what the runtime takes.
            on_processor: whether they run on the processor: one thread is then always busy.
        """
        wall, processor_s, busy = self._now()
        seconds = max(wall - self._wall, 1e-9)
        own_cores = (processor_s - self._processor_s) / seconds
        other_cores = stolen = None
        contended = on_processor and threads == 1 and own_cores < 0.95
        if busy is not None and self._busy is not None:
            other_cores = max(0.0, (busy[0] - self._busy[0]) / seconds - own_cores)
            stolen = (busy[1] - self._busy[1]) / seconds
            free = (os.cpu_count() or 1) - max(1, threads)
            contended = contended or stolen > 0.05 or other_cores > free + 0.1
        return {
            "own_cores": own_cores,
            "others_cores": other_cores,
            "stolen_cores": stolen,
            "contended": contended,
        }


def _busy_and_stolen_s() -> tuple[float, float] | None:
    """Return the busy seconds of all processors and those that the hypervisor took, on Linux."""
    words = _text("/proc/stat").split("\n", 1)[0].split()
    if len(words) < 9 or words[0] != "cpu":
        return None
    user, nice, system, _, _, irq, soft, steal = (float(word) for word in words[1:9])
    ticks = float(os.sysconf("SC_CLK_TCK"))
    return (user + nice + system + irq + soft) / ticks, steal / ticks


def host_facts() -> dict[str, Any]:
    """Return what is known of this machine, system and runtime; None where it is not stated."""
    return {
        "node": platform.node(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "processor": _processor(),
        "processors": os.cpu_count(),
        "usable_processors": usable_processors(),
        "memory_bytes": _memory_bytes(),
        "governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or None,
        "highest_clock_mhz": clock_mhz("cpuinfo_max_freq"),
        "clock_mhz": clock_mhz(),
        "temperature_c": temperature_c(),
        "power_source": _power_source(),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "onnxruntime": _runtime_version(),
    }


def usable_processors() -> list[int]:
    """Return the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def temperature_c() -> float | None:
    """Return the highest temperature that Linux reports of a thermal zone."""
    readings = [
        int(text) / 1000
        for zone in sorted(Path("/sys/class/thermal").glob("thermal_zone*"))
        if (text := _text(str(zone / "temp"))).lstrip("-").isdigit()
    ]
    return max(readings, default=None)


def clock_mhz(name: str = "scaling_cur_freq") -> float | None:
    """Return a clock of the first processor that Linux's frequency driver states."""
    text = _text(f"/sys/devices/system/cpu/cpu0/cpufreq/{name}")
    return int(text) / 1000 if text.isdigit() else None


def _power_source() -> str | None:
    supplies = sorted(Path("/sys/class/power_supply").glob("*"))
    if any(_text(str(supply / "online")) == "1" for supply in supplies):
        return "mains"
    discharging = any(_text(str(supply / "status")) == "Discharging" for supply in supplies)
    return "battery" if discharging else None


def _processor() -> str:
    for line in _text("/proc/cpuinfo").split("\n"):
        name, _, value = line.partition(":")
        if name.strip() in {"model name", "Model", "Hardware"}:
            return " ".join(value.split())
    return platform.processor()


def _memory_bytes() -> int | None:
    words = _text("/proc/meminfo").split("\n", 1)[0].split()
    return int(words[1]) * 1024 if len(words) == 3 and words[1].isdigit() else None


def _runtime_version() -> str | None:
    names = ("onnxruntime", "onnxruntime-gpu", "onnxruntime-openvino", "onnxruntime-directml")
    return next((f"{name} {version}" for name in names if (version := _version(name))), None)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
