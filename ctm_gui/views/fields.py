"""Fields of forms with the window's undo, and the field of the latency budget."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDoubleSpinBox, QLineEdit, QPlainTextEdit, QWidget

from predictor.core.units import significant

# One key undoes one step of the whole form, not of a field.
_WINDOWS_KEYS = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)
_LARGEST_MS = 1e6


class FormLineEdit(QLineEdit):
    """A line that leaves the undo keys to the window."""

    def event(self, event: QEvent) -> bool:
        if _is_windows(event):
            # An ignored ShortcutOverride leaves the keys to the window's shortcut.
            event.ignore()
            return False
        return super().event(event)

    def show_text(self, text: str) -> None:
        """Show a text that was not typed here; the cursor stays while it is the same."""
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)


class FormTextEdit(QPlainTextEdit):
    """A text that leaves the undo keys to the window; plain, so that nothing is read as markup."""

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
    """Whether Qt offers undo or redo to the focused widget before the window's shortcut."""
    return (
        event.type() is QEvent.Type.ShortcutOverride
        and isinstance(event, QKeyEvent)
        and any(event.matches(key) for key in _WINDOWS_KEYS)
    )


class BudgetBox(QDoubleSpinBox):
    """A budget in milliseconds; zero means none.

    Signals:
        budget_edited: the user set the budget: milliseconds, or None.
    """

    budget_edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(0.0, _LARGEST_MS)
        self.setDecimals(4)
        self.setSuffix(" ms")
        self.setSpecialValueText("no budget")
        # One change at the end of typing: 1, 12 and 120 ms would be three budgets.
        self.setKeyboardTracking(False)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.setAccessibleName("Latency budget in milliseconds; zero for none")
        self.valueChanged.connect(self._emit_budget)

    def set_budget_ms(self, budget_ms: float | None) -> None:
        """Show a budget without emitting ``budget_edited``."""
        blocked = self.blockSignals(True)
        self.setValue(budget_ms or 0.0)
        self.blockSignals(blocked)

    def textFromValue(self, value: float) -> str:
        """Write a budget without trailing zeros."""
        return significant(value, 6)

    def _emit_budget(self, value: float) -> None:
        self.budget_edited.emit(value or None)
