"""The Open Recent menu."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from ctm_gui import settings as table
from ctm_gui.settings import Settings
from predictor.core.text import shortened

_SHOWN_CHARACTERS = 80


class RecentMenu(QMenu):
    """Filled from the settings each time it opens; ``path_chosen`` gives a file."""

    path_chosen = Signal(str)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__("Open &Recent", parent)
        self._settings = settings
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        recent = self._settings.get(table.RECENT)
        for path in recent:
            # An ampersand would mark the next letter as the entry's key.
            action = self.addAction(shortened(path, _SHOWN_CHARACTERS).replace("&", "&&"))
            action.triggered.connect(lambda _, path=path: self.path_chosen.emit(path))
        if recent:
            self.addSeparator()
            self.addAction("Clear List").triggered.connect(self._forget)
        else:
            self.addAction("No file yet").setEnabled(False)

    def _forget(self) -> None:
        self._settings.set(table.RECENT, [])
