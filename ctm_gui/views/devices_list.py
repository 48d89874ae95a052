"""The list of devices: shipped and own, with search."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractItemView, QWidget

from ctm_gui.models.grid_model import GridModel
from ctm_gui.presenters.device_form import DeviceForm
from ctm_gui.presenters.device_tables import DevicesGrid
from ctm_gui.presenters.devices import DeviceLibrary
from ctm_gui.presenters.grid import search_mask
from ctm_gui.views.tables import GridView
from ctm_gui.views.widgets import SearchBox, label, vbox


class DevicesList(QWidget):
    """A search box above a table of devices; ``chosen`` gives the key of the current one."""

    chosen = Signal(str)

    def __init__(
        self, library: DeviceLibrary, form: DeviceForm, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._library, self._form = library, form
        self.grid = self._new_grid()
        self.search_box = SearchBox("Search devices (Ctrl+F)", "Search devices")
        self.table = GridView(GridModel(self.grid), "Devices")
        self.table.mask_of = lambda _: search_mask(self.grid.texts, self.search_box.text())
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._nothing = label("No device matches.", "muted", wraps=False)
        self._nothing.hide()
        vbox(self.search_box, self.table, self._nothing, of=self, margins=0)
        self.table.filter_by(self.search_box)
        self.search_box.textChanged.connect(self._show_matches)
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
        self.search_box.focus()

    def refresh(self) -> None:
        """Show the library as it is now; order, search and the current device stay."""
        self.grid = self._new_grid()
        # Rows are others after a device was added: the one of the form is selected anew.
        self.table.selectionModel().reset()
        self.table.show_grid(self.grid)
        self._show_matches()
        self.table.fit_columns()

    def _new_grid(self) -> DevicesGrid:
        return DevicesGrid(self._library.entries, self._form.is_modified)

    def _show_matches(self, *_: object) -> None:
        """Select the device of the form, or say that the search leaves none."""
        self._nothing.setVisible(not self.grid.order.size)
        row = self.grid.row_of(self._form.key)
        self.table.select_rows([] if row is None else [row], row)

    def _on_rows(self, _rows: object, current: int | None) -> None:
        if current is not None:
            self.chosen.emit(self.grid.entries[current].key)
