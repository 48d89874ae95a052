"""The menu bar, from the table of actions."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QMenuBar

from ctm_gui.actions import ACTIONS, MENUS
from ctm_gui.theme import ThemeChoice


def fill_menus(
    bar: QMenuBar, actions: Mapping[str, QAction], recent: QMenu, theme: ThemeChoice
) -> None:
    """Add the menus of the table, with Open Recent below Open Folder.

    Args:
        bar: gets the menus.
        actions: of the table, by id.
        recent: the Open Recent menu.
        theme: whose action is checked.
    """
    themes = QActionGroup(bar)
    for title in MENUS:
        menu = bar.addMenu(title)
        group: str | None = None
        for spec in (spec for spec in ACTIONS if spec.menu == title):
            if group not in {None, spec.group}:
                menu.addSeparator()
            group = spec.group
            menu.addAction(actions[spec.id])
            if spec.group == "theme":
                themes.addAction(actions[spec.id])
            if spec.id == "open_folder":
                menu.addMenu(recent)
    actions[f"theme_{theme.value}"].setChecked(True)
