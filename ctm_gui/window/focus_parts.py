"""Keys for the focus: from part to part of the window, copying, selecting all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QLabel, QLineEdit, QWidget

from ctm_gui.widgets.basic import SearchBox
from ctm_gui.widgets.focus import first_focusable, holds


def go_to_part(parts: Sequence[QWidget], step: int, entries: Mapping[QWidget, QWidget]) -> None:
    """Put the focus into the part that is ``step`` places after the one that has it.

    Args:
        parts: of the window, in reading order; those that are hidden are passed over.
        step: 1 for the next part, -1 for the one before.
        entries: where a part is entered that has not had the focus in a table or a text; of the
            other parts the first widget that Tab can reach.
    """
    visible = [part for part in parts if part.isVisible()]
    focused = parts[0].window().focusWidget()
    here = next((i for i, part in enumerate(visible) if holds(part, focused)), None)
    order = range(1, len(visible) + 1)
    start = (-1 if step > 0 else 0) if here is None else here
    for distance in order:
        part = visible[(start + step * distance) % len(visible)]
        target = entries.get(part)
        if target is None or _was_left(part, target):
            target = first_focusable(part)
        if target is not None:
            target.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return


def _was_left(part: QWidget, entry: QWidget) -> bool:
    """Whether a part is entered where it was left: in a table or a text, not in its table's search.

    Elsewhere Qt may have put the focus itself when what had it was hidden.
    """
    last = first_focusable(part)
    is_search = isinstance(last, SearchBox) and isinstance(entry, QAbstractItemView)
    is_content = isinstance(last, QAbstractItemView | QLineEdit) and not is_search
    return last is part.focusWidget() and is_content


def copy_from(focused: QWidget | None) -> None:
    """Copy from the focused widget, as its copy keys do."""
    for action in focused.actions() if focused else ():
        if action.shortcut() == QKeySequence(QKeySequence.StandardKey.Copy):
            action.trigger()
    if isinstance(focused, QLineEdit | QLabel):
        QGuiApplication.clipboard().setText(focused.selectedText())


def select_all_in(focused: QWidget | None) -> bool:
    """Select everything in the widget that has the focus; False where it cannot."""
    if isinstance(focused, QLineEdit | QAbstractItemView):
        focused.selectAll()
        return True
    return False
