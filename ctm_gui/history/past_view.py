"""The table of past predictions, and the boxes that choose which of them are shown."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QComboBox, QHBoxLayout, QWidget

from ctm_gui.history.past_rows import PERIODS, PastFilter, PastRows
from ctm_gui.history.past_tables import TAGS, PastGrid
from ctm_gui.widgets.basic import combo_box, fill
from ctm_gui.widgets.filtered_table import FilteredTable
from ctm_gui.widgets.grid_model import EditedGridModel
from predictor.core.records import Basis
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import NOTHING, shown


class PastModel(EditedGridModel):
    """Shows a PastGrid."""

    grid: PastGrid

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(PastGrid(PastRows(), LatencyUnit.MS), parent)


_BOX_PX = 180
_LETTERS = 7  # of a choice in a closed box, at least; its list shows all of it
# At 1024 pixels the time of a prediction is in view.
_MIN_WIDTHS_PX = {"model": 150, "device": 210, "configuration": 165, TAGS: 90, "note": 110}


class PastTable(FilteredTable):
    """A row for each prediction; tags and notes are edited in place."""

    def __init__(self, model: PastModel) -> None:
        hint = "Filter by model, device, engine, tag, note…"
        super().__init__(model, "Predictions of the past", hint, _MIN_WIDTHS_PX)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.DoubleClicked
        )

    def edit_tags(self) -> None:
        """Edit the tags of the current row, where another column has the cursor."""
        index = self.currentIndex()
        if index.isValid():
            self.edit(index.siblingAtColumn(self.column(TAGS)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F2 and not self._is_editable(self.currentIndex()):
            self.edit_tags()
            return
        super().keyPressEvent(event)

    def _activate(self, index: QModelIndex) -> None:
        # A double click on tags or a note edits them.
        if not self._is_editable(index):
            super()._activate(index)

    def _is_editable(self, index: QModelIndex) -> bool:
        return bool(index.flags() & Qt.ItemFlag.ItemIsEditable)


class PastFilterBar(QWidget):
    """Search, model, target, basis, tag, time, and the number of rows left in a table.

    Args:
        table: shows the rows.

    Signals:
        changed: another choice was made.
    """

    changed = Signal()

    def __init__(self, table: FilteredTable) -> None:
        super().__init__()
        self._table = table
        bases = [(basis.words, basis.words) for basis in Basis]
        self.model_box = _box("Model", ("All models", ""))
        self.device_box = _box("Device", ("All devices", ""))
        self.basis_box = _box("Basis", ("Every basis", ""), *bases, ("no number", NOTHING))
        self.tag_box = _box("Tag", ("All tags", ""))
        self.period_box = _box("Time", *PERIODS)
        self.measured_box = QCheckBox("&Measured only")
        self.all_runs_box = QCheckBox("Ever&y run")
        self.all_runs_box.setToolTip("Show older predictions of a model on a target too.")
        boxes = (self.model_box, self.device_box, self.basis_box, self.tag_box, self.period_box)
        layout = QHBoxLayout(self)
        # The search has most of the room, names of models and devices some.
        wide = ((table.search_box, 4), (self.model_box, 1), (self.device_box, 1))
        ticks = (self.measured_box, self.all_runs_box)
        fill(layout, *wide, self.basis_box, self.tag_box, self.period_box, margins=0)
        self.ticks = ticks
        table.search_box.textChanged.connect(self.changed)
        for box in boxes:
            box.activated.connect(self.changed)
        self.measured_box.toggled.connect(self.changed)
        self.all_runs_box.toggled.connect(self.changed)

    def show_choices(self, data: PastRows) -> None:
        """Offer the models, devices and tags of the data; the choice stays."""
        _fill(self.model_box, [(shown(name), name) for name in data.models()])
        _fill(self.device_box, [(shown(name), identity) for name, identity in data.devices()])
        _fill(self.tag_box, [(shown(tag), tag) for tag in data.tags()])
        self.tag_box.setVisible(self.tag_box.count() > 1)

    def wanted(self) -> PastFilter:
        """Return the chosen filter."""
        return PastFilter(
            search=self._table.words,
            model=self.model_box.currentData() or "",
            device_id=self.device_box.currentData() or "",
            basis=self.basis_box.currentData() or "",
            tag=self.tag_box.currentData() or "",
            days=self.period_box.currentData(),
            measured=self.measured_box.isChecked(),
            newest=not self.all_runs_box.isChecked(),
        )


def _box(name: str, *items: tuple[str, object]) -> QComboBox:
    box = combo_box(name, letters=_LETTERS)
    box.setMaximumWidth(_BOX_PX)
    for words, data in items:
        box.addItem(words, data)
    return box


def _fill(box: QComboBox, items: Sequence[tuple[str, str]]) -> None:
    if [box.itemData(place) for place in range(1, box.count())] == [data for _, data in items]:
        return
    chosen = box.currentData()
    while box.count() > 1:
        box.removeItem(1)
    for words, data in items:
        box.addItem(words, data)
    box.setCurrentIndex(max(box.findData(chosen), 0))
