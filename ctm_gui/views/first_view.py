"""The first tab: ways to begin while there is no model, the comparison from then on."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QWidget

from ctm_gui.presenters.shelf import ModelShelf
from ctm_gui.views.start_page import StartPage


class FirstView(QStackedWidget):
    """Shows ``start`` or another view, by whether a shelf has models."""

    def __init__(self, shelf: ModelShelf, other: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.start = StartPage()
        self._shelf, self._other = shelf, other
        self.addWidget(self.start)
        self.addWidget(other)
        shelf.inserted.connect(self._follow)
        shelf.removed.connect(self._follow)

    def _follow(self, *_: object) -> None:
        self.setCurrentWidget(self._other if self._shelf.entries else self.start)
