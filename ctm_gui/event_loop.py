"""Python in Qt's event loop: garbage on the window's thread only, Ctrl+C as the close button."""

from __future__ import annotations

import gc
import signal
import socket
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QSocketNotifier, QTimer

_INTERVAL_MS: Final = 200
_MANY: Final = 20_000  # young objects, which take 5 to 10 ms to look through
_PATIENCE: Final = 50  # intervals
_OLDEST: Final = 2
_GROWTH: Final = 1.25


class GarbageTimer(QObject):
    """Collects garbage by the rules of Python's own collector, on the window's thread.

    That collector runs on the thread that allocates: off the window's it would end QObjects.

    Args:
        parent: ends with it.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._old_objects = 0  # after the last collection of all
        self._waited = 0  # intervals in a row with many young objects
        self.keep_all()
        gc.disable()
        timer = QTimer(self)
        timer.timeout.connect(self.collect_if_due)
        timer.start(_INTERVAL_MS)

    def keep_all(self) -> None:
        """Leave what is loaded so far out of later collections: it stays until the end.

        To look through it would stop the window for 30 to 170 ms each time.
        """
        gc.freeze()

    def collect_if_due(self) -> None:
        """Collect the oldest generation that is due, with the younger ones.

        One is due once its threshold is passed; the oldest only when it has grown by a quarter too.
        Many young objects are most often those that a worker builds and soon drops: they are looked
        through only when they stay.
        """
        if gc.get_count()[0] > _MANY and self._waited < _PATIENCE:
            self._waited += 1
            return
        self._waited = 0
        due = [
            generation
            for generation, (count, threshold) in enumerate(
                zip(gc.get_count(), gc.get_threshold(), strict=True)
            )
            # A threshold of 0 switches a generation off.
            if 0 < threshold < count
        ]
        if _OLDEST in due and self._has_grown():
            gc.collect()
            self._old_objects = len(gc.get_objects(generation=_OLDEST))
        elif due:
            gc.collect(min(max(due), _OLDEST - 1))

    def _has_grown(self) -> bool:
        return len(gc.get_objects(generation=_OLDEST)) > _GROWTH * self._old_objects


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
