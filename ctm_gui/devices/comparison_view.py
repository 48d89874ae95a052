"""Two devices metric by metric in a table."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QLineEdit, QWidget

from ctm_gui.devices.library import DeviceEntry
from ctm_gui.devices.tables import DeviceComparisonGrid, comparison_summary
from ctm_gui.widgets.basic import combo_box, fill_box, hbox, label, named, vbox
from ctm_gui.widgets.fields import make_searchable
from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.table_view import GridView, copy_button
from predictor.core.records import Device
from predictor.presentation.wording import shown


class DeviceComparisonView(QWidget):
    """The current device beside another one that the user chooses."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: tuple[DeviceEntry, ...] = ()
        self._device: Device | None = None
        self.title = label(wraps=False)
        self.other, self._typed = combo_box("Compare with", letters=24), QLineEdit()
        make_searchable(self.other, self._typed)
        self.table = GridView(GridModel(), "Metrics of both devices")
        self.summary = label(role="muted", wraps=False)
        head = hbox(
            self.title,
            named("compared &with", self.other),
            (self.other, 1),
            copy_button(self.table),
        )
        vbox(head, (self.table, 1), self.summary, of=self, margins=8)
        self.other.currentIndexChanged.connect(self._refresh)
        self._typed.editingFinished.connect(self._show_chosen)

    def show_entries(self, entries: Sequence[DeviceEntry]) -> None:
        """Offer devices to compare with; the chosen one stays chosen."""
        chosen = self._chosen()
        key = chosen.key if chosen else ""
        self._entries = tuple(entries)
        keys = [entry.key for entry in self._entries]
        names = [shown(entry.device.name) for entry in self._entries]
        fill_box(self.other, names, keys.index(key) if key in keys else 0)
        self._refresh()

    def show_device(self, device: Device | None) -> None:
        """Compare another device with the chosen one."""
        self._device = device
        self._refresh()

    def choose(self, key: str) -> None:
        """Choose the device to compare with."""
        keys = [entry.key for entry in self._entries]
        if key in keys:
            self.other.setCurrentIndex(keys.index(key))

    def _chosen(self) -> DeviceEntry | None:
        index = self.other.currentIndex()
        return self._entries[index] if 0 <= index < len(self._entries) else None

    def _show_chosen(self) -> None:
        """Write the chosen name again where something else was typed and not chosen."""
        self.other.setEditText(self.other.itemText(self.other.currentIndex()))

    def _refresh(self, *_: object) -> None:
        chosen = self._chosen()
        if self._device is None or chosen is None:
            self.table.show_grid(Grid(0, ()))
            self.title.clear()
            self.summary.clear()
            return
        self.title.setText(shown(self._device.name))
        grid = DeviceComparisonGrid(self._device, chosen.device)
        self.table.show_grid(grid)
        self.table.details_of = lambda row: grid.details(grid.source(row))
        self.table.fit_columns()
        self.summary.setText(comparison_summary(self._device, chosen.device))
