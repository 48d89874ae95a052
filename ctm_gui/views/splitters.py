"""Splitters whose parts never vanish."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget


def splitter(orientation: Qt.Orientation, *widgets: QWidget) -> QSplitter:
    """Return a splitter of ``widgets``; none of them can be pushed together to nothing."""
    made = QSplitter(orientation)
    for widget in widgets:
        made.addWidget(widget)
    made.setChildrenCollapsible(False)
    return made
