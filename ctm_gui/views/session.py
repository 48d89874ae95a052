"""What the window takes up again where the last session left it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QByteArray
from PySide6.QtWidgets import QMainWindow, QSplitter, QTabWidget

from ctm_gui import settings as table
from ctm_gui.settings import Setting, Settings
from predictor.core.units import LatencyUnit

FIRST_SIZE = (1280, 800)


class Session:
    """Restores and remembers how a window is laid out.

    Args:
        window: whose geometry it is.
        tabs: whose current tab it is.
        splitters: whose states they are, by setting.
        settings: where they are kept.
    """

    def __init__(
        self,
        window: QMainWindow,
        tabs: QTabWidget,
        splitters: Mapping[Setting[bytes], QSplitter],
        settings: Settings,
    ) -> None:
        self._window = window
        self._tabs = tabs
        self._splitters = splitters
        self._settings = settings

    def restore(self) -> None:
        """Lay the window out as it was; as it is first where nothing is remembered."""
        if not self._window.restoreGeometry(QByteArray(self._settings.get(table.GEOMETRY))):
            self._window.resize(*FIRST_SIZE)
        for setting, splitter in self._splitters.items():
            splitter.restoreState(QByteArray(self._settings.get(setting)))
        tab = self._settings.get(table.TAB)
        self._tabs.setCurrentIndex(tab if 0 <= tab < self._tabs.count() else 0)

    def remember(self) -> None:
        """Keep the layout."""
        self._settings.set(table.GEOMETRY, bytes(self._window.saveGeometry().data()))
        for setting, splitter in self._splitters.items():
            self._settings.set(setting, bytes(splitter.saveState().data()))
        self._settings.set(table.TAB, self._tabs.currentIndex())


def remembered_unit(settings: Settings) -> LatencyUnit:
    """Return the unit of the last session; milliseconds where it says none that we know."""
    unit = settings.get(table.UNIT)
    return LatencyUnit(unit) if unit in list(LatencyUnit) else LatencyUnit.MS
