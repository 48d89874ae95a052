"""Python in Qt's event loop: garbage on the window's thread only, Ctrl+C as the close button."""

from __future__ import annotations

import gc
import signal
import socket
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier, QTimer

_INTERVAL_MS: Final = 1000


class GarbageTimer(QObject):
    """Collects garbage once a threshold of Python's own collector is passed.

    Args:
        parent: ends with it.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        # The collector runs on the thread that allocates: off the window's it would end QObjects.
        gc.disable()
        timer = QTimer(self)
        timer.timeout.connect(collect_if_due)
        timer.start(_INTERVAL_MS)


def collect_if_due() -> None:
    """Collect the oldest generation whose threshold is passed, with the younger ones."""
    due = [
        generation
        for generation, (count, threshold) in enumerate(
            zip(gc.get_count(), gc.get_threshold(), strict=True)
        )
        # A threshold of 0 switches a generation off.
        if 0 < threshold < count
    ]
    if due:
        gc.collect(max(due))


class InterruptWatch(QObject):
    """Calls ``on_interrupt`` on the window's thread soon after a SIGINT.

    Python runs its signal handlers only between its own instructions, and an idle event loop runs
    none. So the signal also writes a byte into a socket that wakes the loop.

    Args:
        on_interrupt: the reaction to a SIGINT.
    """

    def __init__(self, on_interrupt: Callable[[], object]) -> None:
        super().__init__()
        self._on_interrupt = on_interrupt
        self._read, self._write = socket.socketpair()
        # set_wakeup_fd refuses a socket that blocks. Bytes lost to a full one do no harm.
        self._write.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._wake)
        # Python's own handler would raise KeyboardInterrupt in whichever slot happens to run.
        self._handler = signal.signal(signal.SIGINT, lambda *_: None)
        self._wakeup_fd = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)

    def stop(self) -> None:
        """Restore the former handler of SIGINT."""
        # First: a signal in between must not write into a closed socket.
        signal.set_wakeup_fd(self._wakeup_fd)
        signal.signal(signal.SIGINT, self._handler)
        self._notifier.setEnabled(False)
        self._read.close()
        self._write.close()

    def _wake(self) -> None:
        if signal.SIGINT in self._read.recv(64):
            self._on_interrupt()
