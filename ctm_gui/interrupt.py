"""Ctrl+C in the terminal closes the window as its close button does."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier


class InterruptWatch(QObject):
    """Calls ``on_interrupt`` on the window's thread soon after a SIGINT.

    Python runs its signal handlers only between its own instructions, and an idle event loop runs
    none. So the signal also writes a byte into a socket that wakes the loop.

    Args:
        on_interrupt: what a SIGINT asks for.
        parent: owner.
    """

    def __init__(self, on_interrupt: Callable[[], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._on_interrupt = on_interrupt
        self._read, self._write = socket.socketpair()
        self._write.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._wake)
        self._handler = signal.signal(signal.SIGINT, lambda *_: None)
        self._wakeup_fd = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)

    def stop(self) -> None:
        """Give SIGINT back to who had it."""
        signal.set_wakeup_fd(self._wakeup_fd)
        signal.signal(signal.SIGINT, self._handler)
        self._notifier.setEnabled(False)
        self._read.close()
        self._write.close()

    def _wake(self) -> None:
        if signal.SIGINT in self._read.recv(64):
            self._on_interrupt()
