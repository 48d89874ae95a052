"""Fields of forms: lines and texts with the window's undo, boxes of numbers, the budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QCompleter,
    QDoubleSpinBox,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.units import significant

# A style sheet has no say in it: it gives a box's line the frame of the box.
_INSET_PX = 4


if TYPE_CHECKING:
    _SpinBox = QAbstractSpinBox
else:
    _SpinBox = object  # Qt's class comes once, from the box that is mixed with


class _Inset(_SpinBox):
    """Mixed into a box of a number: its words begin where those of other fields do."""

    def __init__(self, **properties: Any) -> None:
        super().__init__(**properties)
        self.lineEdit().setTextMargins(_INSET_PX, 0, 0, 0)

    def sizeHint(self) -> QSize:
        """Return the size that the widest number needs."""
        return super().sizeHint() + QSize(_INSET_PX, 0)

    def minimumSizeHint(self) -> QSize:
        """Return the size under which it is not pressed."""
        return super().minimumSizeHint() + QSize(_INSET_PX, 0)


class NumberBox(_Inset, QSpinBox):
    """A box of a whole number; it takes the properties of its class by name."""


class DecimalBox(_Inset, QDoubleSpinBox):
    """A box of a number with decimals; it takes the properties of its class by name."""


# One key undoes one step of the whole form, not of a field.
_WINDOWS_KEYS = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)
_LARGEST_MS = 1e6
MAX_BATCH, MAX_THREADS = 65_536, 1024  # of a run


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


class ChoiceLineEdit(FormLineEdit):
    """A line for an id that offers those whose id or title has the typed letters.

    Any other id may be typed too.
    """

    def offer(self, titles: Mapping[str, str]) -> None:
        """Offer ids with their titles."""
        completer = _IdCompleter(titles, self)
        self.setCompleter(completer)
        # Qt sets the text itself then, which is no edit to it.
        completer.activated.connect(self.textEdited)


class _IdCompleter(QCompleter):
    """Completes ids by parts of their titles."""

    def __init__(self, titles: Mapping[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        model = QStandardItemModel(self)
        for identity, title in titles.items():
            item = QStandardItem(f"{title} ({identity})")
            item.setData(identity)
            model.appendRow(item)
        self.setModel(model)
        self.setFilterMode(Qt.MatchFlag.MatchContains)
        self.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)

    def pathFromIndex(self, index: QModelIndex | QPersistentModelIndex) -> str:
        return str(index.data(Qt.ItemDataRole.UserRole + 1))


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


def line_edit(name: str, text: str = "", **properties: Any) -> QLineEdit:
    """Return a line to type into.

    Args:
        name: for screen readers.
        text: its first text.
        properties: further ones of its class.
    """
    return QLineEdit(text, **{"accessibleName": name, **properties})


def make_searchable(box: QComboBox, line: QLineEdit) -> None:
    """Let a part of an entry be typed into ``line``, and offer the entries that hold it."""
    box.setEditable(True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    box.setLineEdit(line)
    completer = QCompleter(box.model(), box)
    completer.setFilterMode(Qt.MatchFlag.MatchContains)
    completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
    box.setCompleter(completer)


def _is_windows(event: QEvent) -> bool:
    """Whether Qt offers undo or redo to the focused widget before the window's shortcut."""
    return (
        event.type() is QEvent.Type.ShortcutOverride
        and isinstance(event, QKeyEvent)
        and any(event.matches(key) for key in _WINDOWS_KEYS)
    )


class BudgetBox(DecimalBox):
    """A budget, of milliseconds where nothing else is said; zero means none.

    Args:
        parent: owner.
        unit: after the number.
        name: for screen readers.

    Signals:
        budget_edited: the user set the budget: a number, or None.
    """

    budget_edited = Signal(object)

    def __init__(
        self,
        parent: QWidget | None = None,
        unit: str = "ms",
        name: str = "Latency budget in milliseconds; zero for none",
    ) -> None:
        super().__init__(parent=parent)
        self.setRange(0.0, _LARGEST_MS)
        self.setDecimals(4)
        self.setSuffix(f" {unit}")
        self.setSpecialValueText("no budget")
        # One change at the end of typing: 1, 12 and 120 ms would be three budgets.
        self.setKeyboardTracking(False)
        self.setStepType(DecimalBox.StepType.AdaptiveDecimalStepType)
        self.setAccessibleName(name)
        self.valueChanged.connect(lambda value: self.budget_edited.emit(value or None))

    def show_budget(self, budget: float | None) -> None:
        """Show a budget without emitting ``budget_edited``."""
        blocked = self.blockSignals(True)
        self.setValue(budget or 0.0)
        self.blockSignals(blocked)

    def textFromValue(self, value: float) -> str:
        """Write a budget without trailing zeros."""
        return significant(value, 6)


class LatencyBudgetBox(BudgetBox):
    """The latency budget of the options, which it shows and changes.

    Args:
        options: have the budget.
    """

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        self.budget_edited.connect(options.set_budget_ms)
        options.budget_changed.connect(self._show_budget)
        self._show_budget()

    def _show_budget(self) -> None:
        self.show_budget(self._options.budget_ms)
