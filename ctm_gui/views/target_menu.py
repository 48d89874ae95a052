"""The menu of one target: favourite or not, and which of its configurations is predicted."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from ctm_gui.presenters.targets import TargetSelection
from predictor.core.records import Device
from predictor.core.wording import configuration_text


def target_menu(selection: TargetSelection, device: Device, parent: QWidget) -> QMenu:
    """Return the menu of a device; it goes when it is closed."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    favourite = device.id in selection.favourites
    menu.addAction(
        "Remove from Favourites" if favourite else "Add to Favourites",
        lambda: selection.set_favourite(device.id, favourite=not favourite),
    )
    choices = menu.addMenu("Configuration")
    group = QActionGroup(choices)
    chosen = selection.configuration_of(device)
    for number, configuration in enumerate(device.configurations):
        words = configuration_text(configuration)
        action = choices.addAction(f"{words} (usual)" if number == 0 else words)
        action.setCheckable(True)
        action.setChecked(configuration == chosen)
        group.addAction(action)
        action.triggered.connect(
            lambda _=False, c=configuration: selection.set_configuration(device, c)
        )
    return menu
