"""The store of sessions and signatures, on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject

from ctm_gui.tasks.serial import SerialWorker, Task, TaskContext
from predictor.core.errors import CtmError
from predictor.services.probing.open import Probing, open_probing

T = TypeVar("T")


class ProbingStore(QObject):
    """Runs work with the open store; it is opened when it is first needed.

    Args:
        path: the store's file; None for the usual one.
        parent: owner.
    """

    def __init__(self, path: Path | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path
        self._worker = SerialWorker("probing store", self)
        self._probing: Probing | None = None

    def run(
        self,
        work: Callable[[Probing], T],
        *,
        on_result: Callable[[T], None],
        on_error: Callable[[CtmError], None],
    ) -> Task:
        """Run ``work`` after all earlier work; its outcome comes on the window's thread."""
        return self._worker.submit(
            partial(self._with_store, work), on_result=on_result, on_error=on_error
        )

    def close(self) -> None:
        """Finish all submitted work and close the store."""
        self._worker.close(self._close, finish=True)

    def _with_store(self, work: Callable[[Probing], T], _: TaskContext) -> T:
        if self._probing is None:
            self._probing = open_probing(self.path)
        return work(self._probing)

    def _close(self) -> None:
        if self._probing is not None:
            self._probing.close()
            self._probing = None
