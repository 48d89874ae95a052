"""The first tab: ways to begin while there is no model, the comparison from then on."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QWidget

from ctm_gui.presenters.shelf import ModelShelf
from ctm_gui.views.start_page import StartPage


class FirstView(QStackedWidget):
    """Shows ``start`` or, once it is there, another view, by whether a shelf has models."""

    def __init__(self, shelf: ModelShelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.start = StartPage()
        self._shelf = shelf
        self._other: QWidget | None = None
        self.addWidget(self.start)
        shelf.inserted.connect(self._follow)
        shelf.removed.connect(self._follow)

    def set_other(self, other: QWidget) -> None:
        """Give the view that is shown while there are models."""
        self._other = other
        self.addWidget(other)
        self._follow()

    def _follow(self, *_: object) -> None:
        other = self._other
        self.setCurrentWidget(other if self._shelf.entries and other else self.start)
