"""The Measurements page: latencies that the user measured, and probings."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from ctm_gui.devices.this_machine import MEASURE_TIP
from ctm_gui.history.measured_rows import MeasuredGrid, MeasuredPresenter, summary
from ctm_gui.widgets.basic import STRETCH, ContentOrMessage, button, hbox, holder, label, vbox
from ctm_gui.widgets.filtered_table import FilteredTable
from ctm_gui.widgets.grid_model import GridModel

NOTHING_YET = (
    "Latencies that you measured and probings are listed here, and predictions rest on them.\n"
    "Nothing is measured yet.\n\nMeasuring this PC takes ten seconds. Probing a device narrows its "
    "intervals.\nA latency that you measured yourself goes into its row in Answer."
)
_PROBING = "Measure reference networks on a device"
_MIN_WIDTHS_PX = {"what": 170, "device": 200, "how": 150}


class MeasuredView(QWidget):
    """A table of all that was measured, the newest first.

    Args:
        presenter: reads it.

    Signals:
        probing_requested: the user wants to measure a device.
        machine_requested: the user wants to measure this machine.
        device_activated: the user wants to see a device: its id.
    """

    probing_requested = Signal()
    machine_requested = Signal()
    device_activated = Signal(str)

    def __init__(self, presenter: MeasuredPresenter) -> None:
        super().__init__()
        self._presenter = presenter
        self.heading = label(role="heading", name="Summary", wraps=False)
        self.table = FilteredTable(
            GridModel(MeasuredGrid()), "Measurements", "Search model or device", _MIN_WIDTHS_PX
        )
        self.probe_button, self.first_probe_button = (
            button("&Probe a Device…", _PROBING, self.probing_requested.emit) for _ in range(2)
        )
        machine = button("&Measure This PC", MEASURE_TIP, self.machine_requested.emit)
        self.machine_button = machine
        head = hbox(self.heading, STRETCH, self.probe_button)
        search = hbox((self.table.search_box, 1), self.table.matches, self.table.copy_button)
        content, first = holder(head, search, (self.table, 1)), (machine, self.first_probe_button)
        self._content = ContentOrMessage(content, NOTHING_YET, buttons=first)
        vbox(self._content, of=self)
        self.table.row_activated.connect(
            lambda row: self.device_activated.emit(presenter.rows[row].device_id)
        )
        presenter.changed.connect(self._show)
        self._show()

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        self.table.focus_search()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.table.fit_columns()

    def _show(self) -> None:
        rows = self._presenter.rows
        self.heading.setText(summary(rows))
        names = [self._presenter.device_name(row.device_id) for row in rows]
        self.table.show_grid(MeasuredGrid(rows, names))
        # Probings have no latency of their own.
        self.table.hide_empty_columns("measured", "predicted", "interval", "error")
        self.table.fit_columns()
        self._content.show_content(visible=bool(rows))
