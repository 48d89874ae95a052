"""How long the window's thread computes without a break, in processor time of a usual core.

Other work on the machine lengthens a turn of the event loop on the clock of the wall. Processor
time leaves out what others ran, but not that a core which is shared, with cold caches, computes
slowly: a small piece of reference work says how slowly, before and after what is measured.
"""

from __future__ import annotations

import os
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import psutil
from PySide6.QtCore import QObject, Qt, QTimer

BEAT_MS: Final = 5
LIMIT_MS: Final = 50.0
# What is done for the first time takes longer: the least of some attempts counts, and the first
# that is quick enough ends them.
ATTEMPTS: Final = 3

# Of reference work on a core that has nothing else to do: there ``import onnx, numpy`` takes 0.13 s
# to 0.15 s of processor time.
REFERENCE_MS: Final = 3.0
_REPETITIONS: Final = 5
_SCHEDULED: Final = Path("/proc/thread-self/schedstat")


def reference_work() -> None:
    """Compute for REFERENCE_MS on a core that has nothing else to do."""
    texts: dict[int, str] = {}
    for number in range(20_000):
        texts[number % 997] = str(number)


def slowness() -> float:
    """Return the time of reference work now, over that on a core with nothing else to do; >= 1."""
    times_ms = []
    for _ in range(_REPETITIONS):
        begin_s = time.thread_time()
        reference_work()
        times_ms.append((time.thread_time() - begin_s) * 1e3)
    return max(median(times_ms) / REFERENCE_MS, 1.0)


class Beat(NamedTuple):
    """Times of the window's thread so far, in ms.

    Attributes:
        computed_ms: processor time of the thread.
        blocked_ms: it slept, or waited for a lock: neither computed nor waited for a processor.
            Linux counts the latter; 0 elsewhere.
        others_ms: processor time of the process's other threads.
    """

    computed_ms: float
    blocked_ms: float = 0.0
    others_ms: float = 0.0


def beat_now() -> Beat:
    """Return the times of the present thread and process."""
    computed_ms = time.thread_time() * 1e3
    others_ms = time.process_time() * 1e3 - computed_ms
    if not _SCHEDULED.exists():
        return Beat(computed_ms, 0.0, others_ms)
    waited_ms = int(_SCHEDULED.read_bytes().split()[1]) / 1e6
    return Beat(computed_ms, time.perf_counter() * 1e3 - computed_ms - waited_ms, others_ms)


def longest_stall_ms(beats: list[Beat]) -> float:
    """Return the longest time that the program itself had the window's thread busy in one go.

    That is what the thread computed, and what it waited while other threads of the program
    computed: one of them may have kept the interpreter.
    """
    return max(
        (
            after.computed_ms
            - before.computed_ms
            + max(
                min(after.blocked_ms - before.blocked_ms, after.others_ms - before.others_ms), 0.0
            )
            for before, after in pairwise(beats)
        ),
        default=0.0,
    )


class Heartbeat(QObject):
    """Notes the beats of a precise timer on the window's thread."""

    def __init__(self) -> None:
        super().__init__()
        self._beats: list[Beat] = []
        self._slowness = 1.0
        self._program_s = 0.0
        self._timer = QTimer(self, interval=BEAT_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin anew."""
        self._slowness = slowness()
        self._program_s = _program_s()
        self._beats = [beat_now()]
        self._timer.start()

    def stop(self) -> float:
        """Return the longest stall since the start, in ms of a core with nothing else to do."""
        self._beat()
        self._timer.stop()
        self._program_s = _program_s() - self._program_s
        self._slowness = max(self._slowness, slowness())
        return longest_stall_ms(self._beats) / self._slowness

    @property
    def computed_ms(self) -> float:
        """What the thread computed from the start to the stop, in the same ms."""
        return (self._beats[-1].computed_ms - self._beats[0].computed_ms) / self._slowness

    @property
    def program_s(self) -> float:
        """What the program computed from the start to the stop, with its child processes."""
        return self._program_s / self._slowness

    def _beat(self) -> None:
        self._beats.append(beat_now())


def _program_s() -> float:
    ended = os.times()
    total = time.process_time() + ended.children_user + ended.children_system
    for child in psutil.Process().children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total
