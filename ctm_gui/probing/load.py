"""Work of other programs, looked at again and again while a probing is planned."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal

from ctm_gui.tasks.serial import SerialWorker, TaskContext
from predictor.services.probing.other_load import OtherLoad, OtherPrograms

LOOK_MS = 2000
QUIET_LOOKS = 2
"""Looks in a row without a busy one, after which the machine is idle."""

Look = Callable[[], OtherLoad]


class LoadWatch(QObject):
    """Looks every two seconds, off the window's thread; ``changed`` follows each look.

    Attributes:
        load: at the last look; None before the first.
        quiet: number of looks in a row that were not busy.

    Args:
        open_look: makes what is looked with, on the worker's thread.
        parent: owner.
    """

    changed = Signal()

    def __init__(
        self,
        open_look: Callable[[], Look] = lambda: OtherPrograms().since,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._open_look = open_look
        self._look: Look | None = None
        self._worker = SerialWorker("load of others", self)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._submit)
        self.load: OtherLoad | None = None
        self.quiet = 0

    @property
    def is_idle(self) -> bool:
        """Whether a probing may begin."""
        return self.quiet >= QUIET_LOOKS

    def start(self) -> None:
        """Look from now on."""
        self._forget()
        self._timer.start()
        self._submit()

    def stop(self) -> None:
        """Look no more."""
        self._timer.stop()
        self._forget()

    def close(self) -> None:
        """Stop all work."""
        self._timer.stop()
        self._worker.close()

    def _forget(self) -> None:
        self._worker.cancel_all()
        self._look = None
        self.load, self.quiet = None, 0
        self.changed.emit()

    def _submit(self) -> None:
        if not self._worker.busy:
            self._worker.submit(self._work, on_result=self._on_load, on_error=lambda _: None)

    def _work(self, _: TaskContext) -> OtherLoad | None:
        # The first look has nothing to compare with.
        if self._look is None:
            self._look = self._open_look()
            return None
        return self._look()

    def _on_load(self, load: OtherLoad | None) -> None:
        if load is None:
            return
        self.load = load
        self.quiet = 0 if load.is_busy else self.quiet + 1
        self.changed.emit()
