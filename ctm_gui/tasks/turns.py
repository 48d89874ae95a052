"""Work that would stall the window, done piece by piece between its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QTimer


def in_turns(work: Iterator[None], owner: QObject) -> None:
    """Run a generator from one ``yield`` to the next, one stretch per turn of the event loop.

    Keys and painting come between the stretches. The rest is left undone when ``owner`` is
    deleted.

    Args:
        work: the generator; each of its stretches takes a few milliseconds.
        owner: of the timer.
    """
    # A timer of its own: calls that are posted one by another would all run in the same turn.
    timer = QTimer(owner, interval=0)
    # Tests wait until no timer of this name is left.
    timer.setObjectName("turns")

    def advance() -> None:
        for _ in work:
            # Anew, after the stretch: else it would overtake timers that came due meanwhile.
            timer.start()
            return
        timer.stop()
        timer.deleteLater()

    timer.timeout.connect(advance)
    timer.start()


class NextTurn(QTimer):
    """One piece of work that is done in a later turn of the event loop, however often it is asked.

    Args:
        work: called once, without arguments.
        owner: of the timer; pending work is dropped with it.
    """

    def __init__(self, work: Callable[[], object], owner: QObject) -> None:
        super().__init__(owner, interval=0, singleShot=True)
        self.timeout.connect(work)
