"""Work on the comparison, off the window's thread and only while somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QObject

from ctm_gui.presenters.prediction_run import Comparison
from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from predictor.core.errors import CtmError

T = TypeVar("T")


class ComparisonFollower(QObject):
    """Works on the newest comparison while somebody looks; ``_begin`` is what it does.

    Args:
        worker: the thread that predictions are made on.
        parent: owner.
    """

    def __init__(self, worker: SerialWorker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._comparison = Comparison()
        self._task: Task | None = None
        self._active = False
        self._stale = True

    @property
    def settled(self) -> bool:
        """Whether what is shown is true to the comparison and to the choice."""
        return self._task is None

    def set_comparison(self, comparison: Comparison) -> None:
        """Follow a new comparison; what was chosen stays chosen where it is in it."""
        if comparison is not self._comparison:
            self._comparison = comparison
            self._refresh()

    def set_active(self, *, active: bool) -> None:
        """Note whether anybody looks; what is not looked at is not computed."""
        self._active = active
        if active and self._stale:
            self._refresh()

    def _refresh(self) -> None:
        """Drop what is being worked out and begin anew, later where nobody looks."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        self._stale = not self._active
        if self._active:
            self._begin()

    def _begin(self) -> None:
        """Show what can be said at once, or submit the work."""
        raise NotImplementedError

    def _submit(
        self,
        work: Callable[[TaskContext], T],
        on_result: Callable[[T], None],
        on_error: Callable[[CtmError], None],
    ) -> None:
        self._task = self._worker.submit(work, on_result=on_result, on_error=on_error)
