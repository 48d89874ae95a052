"""Keys that belong to one widget."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget


def add_keys(widget: QWidget, keys: QKeySequence.StandardKey, act: Callable[[], None]) -> None:
    """Call ``act`` when ``keys`` are pressed while ``widget`` itself has the focus."""
    action = QAction(widget)
    action.setShortcut(QKeySequence(keys))
    action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
    action.triggered.connect(lambda _checked: act())
    widget.addAction(action)
