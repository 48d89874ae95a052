"""A label that gives way: what has no room is left out and shown as its tip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel

from ctm_gui.tooltips import as_tooltip


class ElidedLabel(QLabel):
    """One line of plain text that ends in an ellipsis where it is too long; the whole as tip."""

    def __init__(self) -> None:
        super().__init__()
        self._full = ""
        self.setTextFormat(Qt.TextFormat.PlainText)

    def set_full_text(self, text: str) -> None:
        """Show a text, as far as there is room."""
        self._full = text
        # Qt would read what looks like markup as markup, and load what it names.
        self.setToolTip(as_tooltip(text) if "<" in text else text)
        self._elide()

    def minimumSizeHint(self) -> QSize:
        return QSize(40, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        metrics = self.fontMetrics()
        text = metrics.elidedText(self._full, Qt.TextElideMode.ElideRight, self.width())
        if text != self.text():
            self.setText(text)
