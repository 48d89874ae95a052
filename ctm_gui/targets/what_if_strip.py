"""The banner over the views while a what-if is set."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from ctm_gui.targets.choice import TargetSelection
from ctm_gui.targets.what_ifs import sentence
from ctm_gui.widgets.basic import button, fill, label


class WhatIfStrip(QWidget):
    """A line that names the targets with a what-if, and resets them; hidden while there is none.

    Args:
        selection: has the what-ifs.
    """

    def __init__(self, selection: TargetSelection) -> None:
        super().__init__()
        self._selection = selection
        self.words = label(role="warn", name="What-ifs")
        self.reset = button("Reset", act=selection.reset_what_ifs, name="Reset what-ifs")
        fill(QHBoxLayout(self), (self.words, 1), self.reset, margins=(10, 4, 8, 4))
        selection.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        names = {device.id: device.name for device in self._selection.selected}
        text = sentence(self._selection.what_ifs, names)
        self.words.setText(text)
        self.setVisible(bool(text))
