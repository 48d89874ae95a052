"""A widget's paints, counted."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget


class Paints(QObject):
    """Tells whether a widget was painted."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.done = False
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        self.done |= event.type() is QEvent.Type.Paint
        return super().eventFilter(watched, event)
