"""The Undo and Redo actions say what they would do."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QUndoStack


class StepText(QObject):
    """Keeps the text of an action true to the next step of a stack.

    Args:
        action: whose text it is, and who owns this object.
    """

    def __init__(self, action: QAction) -> None:
        super().__init__(action)
        self._action, self._verb = action, action.text()

    def show(self, what: str) -> None:
        """Say what would be undone or done again."""
        # An ampersand in a file's name would mark the next letter as the entry's key.
        self._action.setText(f"{self._verb} {what.replace('&', '&&')}".strip())


def follow_undo(stack: QUndoStack, undo: QAction, redo: QAction) -> None:
    """Keep text and state of both actions true to ``stack``."""
    stack.canUndoChanged.connect(undo.setEnabled)
    stack.canRedoChanged.connect(redo.setEnabled)
    undo.setEnabled(stack.canUndo())
    redo.setEnabled(stack.canRedo())
    stack.undoTextChanged.connect(StepText(undo).show)
    stack.redoTextChanged.connect(StepText(redo).show)
