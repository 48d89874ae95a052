"""Work that would stall the window, done piece by piece between its events."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer


def in_turns(work: Iterator[None], owner: QObject) -> None:
    """Run a generator from one ``yield`` to the next, one stretch per turn of the event loop.

    Keys and painting come between the stretches. The rest is left undone when ``owner`` is
    deleted.

    Args:
        work: the generator; each of its stretches takes a few milliseconds.
        owner: whose work it is.
    """
    # A timer of its own: calls that are posted one by another would all run in the same turn.
    timer = QTimer(owner, interval=0)
    timer.setObjectName("turns")

    def advance() -> None:
        for _ in work:
            return
        timer.stop()
        timer.deleteLater()

    timer.timeout.connect(advance)
    timer.start()
