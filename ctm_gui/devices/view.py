"""The Devices tab: all devices at the left, the form, the profile or a comparison at the right."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.devices.comparison_view import DeviceComparisonView
from ctm_gui.devices.form import DeviceForm
from ctm_gui.devices.form_view import DeviceFormView
from ctm_gui.devices.header_view import DeviceHeader
from ctm_gui.devices.library import DeviceLibrary
from ctm_gui.devices.list_rows import DevicesGrid
from ctm_gui.devices.live import LivePrediction
from ctm_gui.devices.profile_plot import DeviceProfile
from ctm_gui.devices.this_machine import MEASURE_TIP, ThisMachine
from ctm_gui.widgets.basic import (
    STRETCH,
    add_view_keys,
    busy_bar,
    button,
    fill,
    hbox,
    label,
    splitter,
    vbox,
)
from ctm_gui.widgets.drop_overlay import refuse_drops
from ctm_gui.widgets.filtered_table import FilteredTable
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.late_view import LateView
from ctm_gui.widgets.typed_ahead import TypedAhead
from ctm_gui.widgets.view_options import ViewOptions


class DevicesList(QWidget):
    """A search box above a table of devices; ``chosen`` gives the key of the current one."""

    chosen = Signal(str)

    def __init__(self, library: DeviceLibrary, form: DeviceForm) -> None:
        super().__init__()
        self._library, self._form = library, form
        self.grid = self._new_grid()
        self.table = FilteredTable(GridModel(self.grid), "Devices", "Search devices (Ctrl+F)")
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        search = hbox((self.table.search_box, 1), self.table.matches)
        vbox(search, self.table, of=self, margins=0)
        self.table.search_box.textChanged.connect(self._show_matches)
        self.table.rows_selected.connect(self._on_rows)
        library.changed.connect(self.refresh)
        form.modified_changed.connect(lambda _: self.refresh())

    def current_key(self) -> str:
        """Return the key of the current device; empty for none."""
        row = self.table.current_row()
        return "" if row is None else self.grid.rows[row].entry.key

    def select(self, key: str) -> None:
        """Make a device current; a search that leaves it out is cleared."""
        row = self.grid.row_of(key)
        if row is None:
            return
        if not self.grid.positions([row]).size:
            self.table.search_box.clear()
        self.table.select_rows([row], row)

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        self.table.focus_search()

    def refresh(self) -> None:
        """Show the library as it is now; order, search and the current device stay."""
        self.grid = self._new_grid()
        # Rows are others after a device was added: the one of the form is selected anew.
        self.table.selectionModel().reset()
        self.table.show_grid(self.grid)
        self._show_matches()
        self.table.fit_columns()

    def _new_grid(self) -> DevicesGrid:
        library = self._library
        return DevicesGrid(library.entries, self._form.is_modified, library.machine)

    def _show_matches(self, *_: object) -> None:
        """Select the device of the form."""
        row = self.grid.row_of(self._form.key)
        self.table.select_rows([] if row is None else [row], row)

    def _on_rows(self, _rows: object, current: int | None) -> None:
        if current is not None:
            self.chosen.emit(self.grid.rows[current].entry.key)


FORM_PAGE, PROFILE_PAGE, COMPARISON_PAGE = 0, 1, 2
_LATER_PAGES = {PROFILE_PAGE: "In its family", COMPARISON_PAGE: "Compare"}
_FILES = "Device files (*.json);;All (*)"
_LIST_PX, _FORM_PX = 380, 560


class DevicesView(LateView):
    """Shows the devices of a library; built when it is first shown.

    The pages of the profile and of the comparison are made at their first use.

    Args:
        options: the theme.
        library: the devices.
        form: the form of the current one.
        machine: measures this machine.
        live: predicts on the device as it is typed.
    """

    def __init__(
        self,
        options: ViewOptions,
        library: DeviceLibrary,
        form: DeviceForm,
        machine: ThisMachine,
        live: LivePrediction,
    ) -> None:
        super().__init__(live)
        self.library, self.form, self.machine, self.live = library, form, machine, live
        self._options = options
        self._profile: DeviceProfile | None = None
        self._comparison: DeviceComparisonView | None = None
        self._places: dict[int, QVBoxLayout] = {}
        self._ahead = TypedAhead(self)
        library.failed.connect(self._ahead.stop)

    @property
    def profile(self) -> DeviceProfile:
        """The page of the device in its family."""
        if self._profile is None:
            self._profile = DeviceProfile(self._options)
            self._places[PROFILE_PAGE].addWidget(self._profile)
            refuse_drops(self._profile)
        return self._profile

    @property
    def comparison(self) -> DeviceComparisonView:
        """The page of two devices."""
        if self._comparison is None:
            self._comparison = DeviceComparisonView()
            self._comparison.show_entries(self.library.entries)
            self._places[COMPARISON_PAGE].addWidget(self._comparison)
            refuse_drops(self._comparison)
        return self._comparison

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        if self.is_built:
            self.list.focus_search()

    def show_device(self, device_id: str) -> None:
        """Make a device current."""
        key = self.library.key_of(device_id)
        if self.is_built:
            self.list.select(key)
        elif key:
            self.form.show(key)

    def make(self) -> None:
        """Make a device of the user's; the cursor goes into the first number that it needs.

        What is typed meanwhile is typed there.
        """
        self._ahead.wait()
        self._once_built(self._make)

    def _make(self) -> None:
        self.pages.setCurrentIndex(FORM_PAGE)
        self.library.make()

    def measure(self) -> None:
        """Show this machine and measure it."""
        self._once_built(self._measure)

    def _measure(self) -> None:
        machine = self.library.machine
        if machine is not None:
            self.list.select(machine.key)
            self.machine.measure()

    def _once_built(self, act: Callable[[], object]) -> None:
        """Do something now, or as soon as the view is complete."""
        if self.is_built:
            act()
        else:
            self.built.connect(act, Qt.ConnectionType.SingleShotConnection)

    def import_files(self) -> None:
        """Ask for device files and make devices of them."""
        paths, _ = QFileDialog.getOpenFileNames(self, "Import devices", "", _FILES)
        self.library.import_files(paths)

    def export_file(self) -> None:
        """Ask where to write the current device's file."""
        entry = self.form.entry
        if entry is None:
            return
        path, _ = QFileDialog.getSaveFileName(
            self, "Export device", f"{entry.device.id}.json", _FILES
        )
        if path:
            self.library.export(entry.key, path)

    def _build(self) -> Iterator[None]:
        parts = splitter(Qt.Orientation.Horizontal)
        vbox(parts, of=self, margins=0)
        self.list = DevicesList(self.library, self.form)
        if not self.form.key and self.list.grid.rows:
            self.form.show(self.list.grid.rows[0].entry.key)
        parts.addWidget(self._build_left())
        yield
        parts.addWidget(self._build_right())
        for place in range(2):
            parts.setStretchFactor(place, 1)
        parts.setSizes([_LIST_PX, _FORM_PX])
        yield
        yield from self.form_view.build()
        self._connect()
        self._show_machine()
        self.list.select(self.form.key)

    def _build_right(self) -> QWidget:
        self.header = DeviceHeader(self.form, self.live)
        self.form_view = DeviceFormView(self.form)
        self.pages = QTabWidget()
        self.pages.setAccessibleName("Device")
        self.pages.addTab(self.form_view, "Form")
        for page, title in _LATER_PAGES.items():
            place = QWidget()
            self._places[page] = vbox(of=place, margins=0)
            self.pages.addTab(place, title)
        right = QWidget()
        vbox(self.header, (self.pages, 1), of=right, margins=0, spacing=4)
        return right

    def _build_left(self) -> QWidget:
        self.new_button = button("&New", "Make a device of your own", self.make)
        self.import_button = button(
            "&Import…", "Make devices from device files, ours or NeuSight's", self.import_files
        )
        self.measure_button = button(
            "&Measure This PC",
            MEASURE_TIP,
            self.measure,
        )
        left, buttons = (
            QWidget(),
            hbox(self.new_button, self.import_button, self.measure_button, STRETCH),
        )
        vbox(buttons, self._build_progress(), (self.list, 1), of=left, margins=8)
        return left

    def _build_progress(self) -> QWidget:
        self._progress, self._moving = QWidget(), QWidget()
        self._progress.hide()
        self._state = label()
        self.cancel_button = button("Cancel", act=self.machine.cancel, name="Stop measuring")
        bar = busy_bar("Measuring this PC", 10)
        fill(QHBoxLayout(self._moving), (bar, 1), self.cancel_button, margins=0)
        vbox(self._state, self._moving, of=self._progress, margins=0)
        return self._progress

    def _connect(self) -> None:
        self.list.chosen.connect(self.form.show)
        self.form.device_changed.connect(self._on_device)
        self.form.device_changed.connect(self._follow_form)
        self.library.changed.connect(self._on_library)
        self.library.made.connect(self._on_made)
        self.header.duplicate.connect(self._duplicate)
        self.form_view.entered.connect(self.header.save_button.setFocus)
        self.header.export.connect(self.export_file)
        self.header.note_requested.connect(self.form_view.show_note)
        self.header.delete.connect(lambda: self.library.delete(self.form.key))
        self.machine.changed.connect(self._show_machine)
        self.pages.currentChanged.connect(self._on_device)
        add_view_keys(self, QKeySequence.StandardKey.Find, self.focus_search)

    def _on_made(self, key: str) -> None:
        self.list.select(key)
        if self.library.is_new(key):
            self.form_view.enter()
        self._ahead.deliver()

    def _duplicate(self) -> None:
        self.pages.setCurrentIndex(FORM_PAGE)
        self.library.duplicate(self.form.key, self.form.check.entry)

    def _follow_form(self) -> None:
        """Mark the form's device in the list: undo may have brought another one."""
        if self.form.key != self.list.current_key():
            self.list.select(self.form.key)

    def _on_library(self) -> None:
        if self._comparison is not None:
            self._comparison.show_entries(self.library.entries)
        self._on_device()

    def _on_device(self, *_: object) -> None:
        """Show the current device, as it is saved, on the page that is looked at."""
        entry = self.form.entry
        device = None if entry is None else entry.device
        if self.pages.currentIndex() == PROFILE_PAGE:
            self.profile.show_device(device, [e.device for e in self.library.entries])
        elif self.pages.currentIndex() == COMPARISON_PAGE:
            self.comparison.show_device(device)

    def _show_machine(self) -> None:
        machine = self.machine
        self._state.setText(machine.state or machine.reason)
        self._moving.setVisible(bool(machine.state))
        self._progress.setVisible(bool(machine.state or machine.reason))
        self.measure_button.setEnabled(not machine.busy)
