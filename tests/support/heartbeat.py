"""How long the window's thread computes without a break, in processor time of a usual core.

Other work on the machine lengthens a turn of the event loop on the clock of the wall. Processor
time leaves out what others ran, but not that a core is slow, or is shared and has cold caches: a
small piece of reference work says how slow, before and after what is measured.
"""

from __future__ import annotations

import os
import time
from itertools import pairwise
from statistics import median
from typing import Final

import psutil
from PySide6.QtCore import QObject, Qt, QTimer

BEAT_MS: Final = 5
LIMIT_MS: Final = 50.0
# What is done for the first time takes longer, and a shared core changes its pace by 1.7 within a
# measurement, which reference work at its ends does not see: the least of some attempts counts,
# and the first that is quick enough ends them.
ATTEMPTS: Final = 6

# Of reference work on a usual core: one where ``import onnx, numpy`` takes 0.15 s. That of
# docs/results/command_speed.md is a little faster.
REFERENCE_MS: Final = 3.0
_REPETITIONS: Final = 5


def reference_work() -> None:
    """Compute for REFERENCE_MS on a usual core."""
    texts: dict[int, str] = {}
    for number in range(20_000):
        texts[number % 997] = str(number)


def slowness() -> float:
    """Return the time of reference work now over that on a usual core, at least 1."""
    times_ms = []
    for _ in range(_REPETITIONS):
        begin_s = time.thread_time()
        reference_work()
        times_ms.append((time.thread_time() - begin_s) * 1e3)
    return max(median(times_ms) / REFERENCE_MS, 1.0)


def longest_turn_ms(beats_ms: list[float]) -> float:
    """Return the most that was computed between two beats.

    Args:
        beats_ms: processor time of the window's thread at each beat.
    """
    return max((after - before for before, after in pairwise(beats_ms)), default=0.0)


class Heartbeat(QObject):
    """Notes the processor time of the window's thread at the beats of a precise timer on it."""

    def __init__(self) -> None:
        super().__init__()
        self._beats_ms: list[float] = []
        self._slowness = 1.0
        self._program_s = 0.0
        self._timer = QTimer(self, interval=BEAT_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin anew."""
        self._slowness = slowness()
        self._program_s = _program_s()
        self._beats_ms = [_computed_ms()]
        self._timer.start()

    def stop(self) -> float:
        """Return the longest stall since the start, in ms of a usual core."""
        self._beat()
        self._timer.stop()
        self._program_s = _program_s() - self._program_s
        self._slowness = max(self._slowness, slowness())
        return longest_turn_ms(self._beats_ms) / self._slowness

    @property
    def slowness(self) -> float:
        """The time of the reference work, beside what was measured, over that on a usual core."""
        return self._slowness

    @property
    def computed_ms(self) -> float:
        """What the thread computed from the start to the stop, in the same ms."""
        return (self._beats_ms[-1] - self._beats_ms[0]) / self._slowness

    @property
    def program_s(self) -> float:
        """What the program computed from the start to the stop, with its child processes."""
        return self._program_s / self._slowness

    def _beat(self) -> None:
        self._beats_ms.append(_computed_ms())


def _computed_ms() -> float:
    return time.thread_time() * 1e3


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
