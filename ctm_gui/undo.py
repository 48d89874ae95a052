"""A step of the window's undo stack."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QUndoCommand


class UndoStep(QUndoCommand):
    """Does something when it is pushed on a stack, takes it back, and does it again.

    Args:
        text: its words in the Edit menu.
        redo: does it, the first time too.
        undo: takes it back.
    """

    def __init__(self, text: str, redo: Callable[[], object], undo: Callable[[], object]) -> None:
        super().__init__(text)
        self._redo, self._undo = redo, undo

    def redo(self) -> None:
        """Do it."""
        self._redo()

    def undo(self) -> None:
        """Take it back."""
        self._undo()
