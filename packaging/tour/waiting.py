"""Letting the window work between the steps of the tour."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QDeadlineTimer, QEventLoop, QTimer

from ctm_gui.application import Application
from predictor.core.errors import HostError

SETTLE_MS = 60_000
REPAINT_MS = 150  # plots and delegates paint in the turns of the loop after a change


def settle(app: Application, scene: str) -> None:
    """Let the application work until what it shows is true to what was asked for.

    Raises:
        HostError: it does not come to rest.
    """
    deadline = QDeadlineTimer(SETTLE_MS)
    turn(REPAINT_MS)
    while not app.workspace.settled:
        if deadline.hasExpired():
            raise HostError(
                scene, "the window was still busy after a minute", "report it as a defect"
            )
        turn(REPAINT_MS)
    turn(REPAINT_MS)


def wait(done: Callable[[], bool], limit_ms: int = SETTLE_MS) -> None:
    """Run the event loop until something that the store or another process does is done.

    Raises:
        HostError: it is not done in time.
    """
    deadline = QDeadlineTimer(limit_ms)
    while not done():
        if deadline.hasExpired():
            raise HostError("the tour", "a step did not end", "report it as a defect")
        turn(REPAINT_MS)


def turn(milliseconds: int) -> None:
    """Run the event loop for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()  # sleeps between events: asked for them in turns, it would starve the workers
