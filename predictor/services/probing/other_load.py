"""Work of other programs on this machine, which disturbs a probing."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import psutil

from predictor.core.units import significant
from predictor.presentation.wording import shown

BUSY_SHARE: Final = 0.1
"""Share of the processors in use by other programs from which a machine is too busy."""
LOOK_S: Final = 1.0
"""Seconds over which other programs are observed before a start."""
_NAMED: Final = 2  # programs
_MIN_CORES: Final = 0.05  # of a program that is named
_MIN_SHARE: Final = 0.2  # of the load: less explains nothing of it


@dataclass(frozen=True, slots=True)
class OtherLoad:
    """Processor time of other programs over a while.

    Attributes:
        cores: that they used on average; what the hypervisor took counts too.
        processors: number of the machine's.
        programs: cores by name of the program, the busiest first; those that can be seen.
    """

    cores: float
    processors: int
    programs: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_busy(self) -> bool:
        """Whether a probing should wait."""
        return self.cores > BUSY_SHARE * self.processors

    @property
    def words(self) -> str:
        """The load in a sentence: ``Other programs use 1.2 of 2 cores (firefox 0.9).``."""
        named = ", ".join(
            f"{shown(name)} {significant(cores, 2)}"
            for name, cores in list(self.programs.items())[:_NAMED]
            if cores >= max(_MIN_CORES, _MIN_SHARE * self.cores)
        )
        used = f"{significant(max(self.cores, 0.0), 2)} of {self.processors} cores"
        return f"Other programs use {used}{f' ({named})' if named else ''}."


def busy_words(load: OtherLoad) -> str:
    """Return the effect of a load on a probing, in a sentence or two."""
    if not load.is_busy:
        return f"{load.words} That is quiet enough to measure."
    return f"{load.words} A probing that meets them is slower and often fails its checks: wait."


@dataclass(frozen=True, slots=True)
class _Counters:
    """Seconds since the machine started.

    Attributes:
        time_s: of the clock.
        busy_s: of all processors.
        self_s: of this process and its children.
        programs_s: of each other process that can be seen, by its id and name.
    """

    time_s: float
    busy_s: float
    self_s: float
    programs_s: Mapping[tuple[int, str], float]


class OtherPrograms:
    """Follows the work of other programs; this process and what it started do not count.

    Args:
        named: whether the load is split by program, which takes some milliseconds a call.
    """

    def __init__(self, *, named: bool = True) -> None:
        self._named = named
        self._before = self._counters()

    def since(self) -> OtherLoad:
        """Return the load since the last call, at first since this object was made."""
        before, now = self._before, self._counters()
        self._before = now
        seconds = max(now.time_s - before.time_s, 1e-9)
        used_s = now.busy_s - before.busy_s - (now.self_s - before.self_s)
        programs: Counter[str] = Counter()
        for (process, name), spent_s in now.programs_s.items():
            earlier_s = before.programs_s.get((process, name), spent_s)
            programs[name] += (spent_s - earlier_s) / seconds  # type: ignore[assignment]
        return OtherLoad(
            max(0.0, used_s / seconds), os.cpu_count() or 1, dict(programs.most_common(_NAMED))
        )

    def _counters(self) -> _Counters:
        children = _this_and_children()
        return _Counters(
            time.monotonic(),
            _busy_s(),
            sum(map(_spent_s, children.values())),
            _other_programs_s(set(children)) if self._named else {},
        )


def other_load(seconds: float = LOOK_S, sleep: Callable[[float], object] = time.sleep) -> OtherLoad:
    """Observe the work of other programs for a while.

    Args:
        seconds: how long.
        sleep: waits so long.
    """
    programs = OtherPrograms()
    sleep(seconds)
    return programs.since()


def _busy_s() -> float:
    times = psutil.cpu_times()
    # What guests took is in user and nice already.
    names = ("user", "nice", "system", "irq", "softirq", "steal", "interrupt", "dpc")
    return float(sum(getattr(times, name, 0.0) for name in names))


def _this_and_children() -> dict[int, psutil.Process]:
    this = psutil.Process()
    return {process.pid: process for process in (this, *this.children(recursive=True))}


def _spent_s(process: psutil.Process) -> float:
    """Return the processor time of a process and of its children that have ended."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0  # it has ended: its parent has its time now
    ended_s = getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    return float(times.user + times.system + ended_s)


def _other_programs_s(excluded: set[int]) -> dict[tuple[int, str], float]:
    times_s: dict[tuple[int, str], float] = {}
    for process in psutil.process_iter(["name", "cpu_times"]):
        name, times = process.info["name"], process.info["cpu_times"]
        if process.pid not in excluded and name and times is not None:
            times_s[process.pid, name] = times.user + times.system
    return times_s
