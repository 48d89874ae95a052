"""Work that would stall the window, done piece by piece between its events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QTimer

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
            if not leave():
                pass  # it went with its owner meanwhile
            elif is_left:
                _waiting.append(timer)
                _start_first()
            else:
                timer.deleteLater()

    def leave() -> bool:
        """Let the next one run; whether this one was still there."""
        is_there = timer in _waiting
        if is_there:
            _waiting.remove(timer)
            _start_first()
        return is_there

    timer.timeout.connect(advance)
    timer.destroyed.connect(leave)
    _waiting.append(timer)
    _start_first()


def _start_first() -> None:
    if _waiting and not _waiting[0].isActive():
        _waiting[0].start()


class NextTurn(QTimer):
    """One piece of work that is done in a later turn of the event loop, however often it is asked.

    Args:
        work: called once, without arguments.
        owner: of the timer; pending work is dropped with it.
    """

    def __init__(self, work: Callable[[], object], owner: QObject) -> None:
        super().__init__(owner, interval=0, singleShot=True)
        self.timeout.connect(work)
