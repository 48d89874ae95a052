"""The list of devices: shipped and own, with search."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractItemView, QLabel, QLineEdit, QWidget

from ctm_gui.models.grid_model import GridModel
from ctm_gui.presenters.device_form import DeviceForm
from ctm_gui.presenters.devices import DeviceLibrary
from ctm_gui.presenters.devices_grid import DevicesGrid
from ctm_gui.presenters.grid import search_mask
from ctm_gui.views.parts import bare_column, focus_on
from ctm_gui.views.tables import GridView


class DevicesList(QWidget):
    """A search box above a table of devices; ``chosen`` gives the key of the current one."""

    chosen = Signal(str)

    def __init__(
        self, library: DeviceLibrary, form: DeviceForm, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._library, self._form = library, form
        self.grid = self._new_grid()
        self._model = GridModel(self.grid, self)
        self.search_box = QLineEdit(placeholderText="Search devices (Ctrl+F)")
        self.search_box.setClearButtonEnabled(True)
        self.search_box.setAccessibleName("Search devices")
        self.table = GridView(self._model, "Devices")
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._nothing = QLabel("No device matches.")
        self._nothing.setProperty("role", "muted")
        self._nothing.hide()
        layout = bare_column(self)
        for widget in (self.search_box, self.table, self._nothing):
            layout.addWidget(widget)
        self.search_box.textChanged.connect(self._search)
        self.search_box.returnPressed.connect(self.table.setFocus)
        self.table.rows_selected.connect(self._on_rows)
        library.changed.connect(self.refresh)
        form.modified_changed.connect(lambda _: self.refresh())

    def current_key(self) -> str:
        """Return the key of the current device; empty for none."""
        row = self.table.current_row()
        return "" if row is None else self.grid.entries[row].key

    def select(self, key: str) -> None:
        """Make a device current; a search that leaves it out is cleared."""
        row = self.grid.row_of(key)
        if row is None:
            return
        if not self.grid.positions([row]).size:
            self.search_box.clear()
        self.table.select_rows([row], row)

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        focus_on(self.search_box)

    def refresh(self) -> None:
        """Show the library as it is now; order, search and the current device stay."""
        old, self.grid = self.grid, self._new_grid()
        self.grid.sort_like(old)
        self._model.replace(self.grid)
        self._search()
        self.table.fit_columns()

    def _new_grid(self) -> DevicesGrid:
        return DevicesGrid(self._library.entries, self._form.is_modified)

    def _search(self, *_: object) -> None:
        grid = self.grid
        self._model.show_only(search_mask(grid.texts, self.search_box.text()))
        self._nothing.setVisible(not grid.order.size)
        row = grid.row_of(self._form.key)
        self.table.select_rows([] if row is None else [row], row)

    def _on_rows(self, _rows: object, current: int | None) -> None:
        if current is not None:
            self.chosen.emit(self.grid.entries[current].key)
