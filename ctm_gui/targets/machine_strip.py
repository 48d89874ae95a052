"""The line above the targets on this machine: what is being measured, or why nothing was."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from ctm_gui.devices.this_machine import ThisMachine
from ctm_gui.targets.choice import TargetSelection
from ctm_gui.widgets.basic import button, fill, label


class MachineStrip(QWidget):
    """Progress with Cancel while this machine is measured, else the reason with Measure Now.

    It is hidden where there is nothing to say: this machine is measured, or not ticked.

    Args:
        machine: followed, cancelled and measured.
        selection: says whether it is ticked.
    """

    def __init__(self, machine: ThisMachine, selection: TargetSelection) -> None:
        super().__init__()
        self._machine, self._selection = machine, selection
        self.words = label(role="muted")
        self.button = button("Cancel", act=self._act)
        fill(QHBoxLayout(self), (self.words, 1), self.button, margins=0, spacing=8)
        machine.changed.connect(self._show)
        selection.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        machine, is_moving = self._machine, bool(self._machine.state)
        is_ticked = self._selection.is_selected(self._selection.catalogue.machine_id)
        self.setVisible(is_moving or (is_ticked and bool(machine.reason)))
        self.words.setText(machine.state or machine.reason)
        self.button.setText("Cancel" if is_moving else "Measure Now")
        name = "Stop measuring this PC" if is_moving else "Measure this PC now"
        self.button.setAccessibleName(name)

    def _act(self) -> None:
        if self._machine.state:
            self._machine.cancel()
        else:
            self._machine.measure()
