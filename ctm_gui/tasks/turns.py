"""Work that would stall the window, done piece by piece between its events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid

# Timers of the work that waits for a turn; the first one runs.
_waiting: deque[QTimer] = deque()


def in_turns(work: Iterator[None], owner: QObject) -> None:
    """Run a generator from one ``yield`` to the next, one stretch per turn of the event loop.

    Keys and painting come between the stretches, and those of other work, one by one. The rest is
    left undone when ``owner`` is deleted.

    Args:
        work: the generator; each of its stretches takes a few milliseconds.
        owner: of the timer.
    """
    # A timer: calls that are posted one by another would all run in the same turn, and so would
    # timers that are due together. One that repeats would overtake those that came due meanwhile.
    timer = QTimer(owner, interval=0, singleShot=True)
    # Tests wait until no timer of this name is left.
    timer.setObjectName("turns")

    def advance() -> None:
        is_left = False
        try:
            for _ in work:
                is_left = True
                break
        finally:
            if not _leave(timer):
                pass  # it went with its owner meanwhile
            elif is_left:
                _wait(timer)
            else:
                timer.deleteLater()

    timer.timeout.connect(advance)
    timer.destroyed.connect(partial(_leave, timer))
    _wait(timer)


def is_work_left() -> bool:
    """Return whether some work of any owner still waits for a turn."""
    return bool(_waiting)


def _wait(timer: QTimer) -> None:
    # One that went with its owner would be the first for good, and nothing behind it would run.
    if isValid(timer) and timer not in _waiting:
        _waiting.append(timer)
    _start_first()


def _leave(timer: QTimer, *_: object) -> bool:
    """Let the next one run; whether this one was still there."""
    is_there = timer in _waiting
    if is_there:
        _waiting.remove(timer)
        _start_first()
    return is_there


def _start_first() -> None:
    if _waiting and not _waiting[0].isActive():
        _waiting[0].start()


class NextTurn(QObject):
    """One piece of work that is done in a later turn of the event loop, however often it is asked.

    No other one, and no stretch of ``in_turns``, is done in the same turn.

    Args:
        work: called once, without arguments.
        owner: of the timer; pending work is dropped with it.
    """

    def __init__(self, work: Callable[[], object], owner: QObject) -> None:
        super().__init__(owner)
        self._work = work
        self._timer = QTimer(self, interval=0, singleShot=True)
        self._timer.timeout.connect(self._run)
        self._timer.destroyed.connect(partial(_leave, self._timer))

    @property
    def is_waiting(self) -> bool:
        """Whether the work is still to be done."""
        return self._timer in _waiting

    def start(self, *_: object) -> None:
        """Do the work in a later turn; nothing once the owner is deleted."""
        _wait(self._timer)

    def stop(self) -> None:
        """Leave the work undone."""
        if isValid(self._timer):
            self._timer.stop()
        _leave(self._timer)

    def _run(self) -> None:
        _leave(self._timer)
        self._work()
