"""A sentence above the tabs, for as long as what it says is so."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget


class Noticed(QWidget):
    """A widget with room for a notice above it."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.notice = QLabel()
        self.notice.setTextFormat(Qt.TextFormat.PlainText)
        self.notice.setWordWrap(True)
        self.notice.setProperty("role", "notice")
        self.notice.setAccessibleName("Notice")
        self.notice.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.notice.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.notice)
        layout.addWidget(widget, 1)

    def say(self, sentence: str) -> None:
        """Show a sentence, or none where it is empty."""
        self.notice.setText(sentence)
        self.notice.setVisible(bool(sentence))
