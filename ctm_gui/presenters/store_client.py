"""Base of presenters over the store: work on its thread, outcomes, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from PySide6.QtCore import QObject, Signal

from predictor.core.errors import CtmError
from predictor.services.history.history import History

T = TypeVar("T")


class StoreRunner(Protocol):
    """Runs work with the open store on the store's thread."""

    def __call__(
        self,
        work: Callable[[History], T],
        *,
        on_result: Callable[[T], None],
        on_error: Callable[[CtmError], None],
    ) -> None:
        """Run ``work``; its outcome comes back on the window's thread."""


class StoreClient(QObject):
    """Has work done with the store and knows whether any is still to come.

    ``busy_changed`` says that ``busy`` may be another; ``failed`` gives an error, ``done`` a
    sentence on what was done.

    Args:
        run: runs work with the open store.
        parent: owner.
    """

    busy_changed = Signal()
    failed = Signal(object)
    done = Signal(str)

    def __init__(self, run: StoreRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self._waiting = 0

    @property
    def busy(self) -> bool:
        """Whether the store is at work for it."""
        return self._waiting > 0

    def _submit(self, work: Callable[[History], T], on_result: Callable[[T], None]) -> None:
        """Run ``work`` with the store; an error goes to ``failed``."""
        self._wait(1)

        def settle(result: T) -> None:
            self._wait(-1)
            on_result(result)

        self._run(work, on_result=settle, on_error=self._on_error)

    def _on_error(self, error: CtmError) -> None:
        self._wait(-1)
        self.failed.emit(error)

    def _wait(self, step: int) -> None:
        self._waiting += step
        self.busy_changed.emit()
