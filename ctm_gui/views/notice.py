"""A sentence above the tabs, for as long as what it says is so."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from ctm_gui.views.parts import bare_column, plain_label


class Noticed(QWidget):
    """A widget with room for a notice above it."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self.notice = plain_label(role="notice", name="Notice")
        self.notice.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.notice.hide()
        layout = bare_column(self)
        layout.setSpacing(0)
        layout.addWidget(self.notice)
        layout.addWidget(widget, 1)

    def say(self, sentence: str) -> None:
        """Show a sentence, or none where it is empty."""
        self.notice.setText(sentence)
        self.notice.setVisible(bool(sentence))
