"""Fields whose undo is the window's, not their own: one key undoes one step of the whole form."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

_WINDOWS_KEYS = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)


class FormLineEdit(QLineEdit):
    """A line whose undo keys go to the window."""

    def event(self, event: QEvent) -> bool:
        if _is_windows(event):
            event.ignore()
            return False
        return super().event(event)

    def show_text(self, text: str) -> None:
        """Show a text that was not typed here; the cursor stays while it is the same."""
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)


class FormTextEdit(QPlainTextEdit):
    """A text whose undo keys go to the window; plain, so that nothing is read as markup."""

    def __init__(self) -> None:
        super().__init__()
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)

    def event(self, event: QEvent) -> bool:
        if _is_windows(event):
            event.ignore()
            return False
        return super().event(event)

    def show_text(self, text: str) -> None:
        """Show a text that was not typed here; the cursor stays while it is the same."""
        if text != self.toPlainText():
            self.setPlainText(text)


def _is_windows(event: QEvent) -> bool:
    """Whether a widget is asked if it wants undo or redo for itself."""
    return (
        event.type() is QEvent.Type.ShortcutOverride
        and isinstance(event, QKeyEvent)
        and any(event.matches(key) for key in _WINDOWS_KEYS)
    )
