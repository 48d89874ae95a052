"""Maps of attention between operators and hardware metrics, one model on one target."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from ctm_gui.attention.grid import LATENCY, AttentionGrid
from ctm_gui.attention.learned import LearnedSummary
from ctm_gui.attention.map import Cell, MapLayout
from ctm_gui.attention.map_view import AttentionMap
from ctm_gui.attention.summary import AttentionSummary
from ctm_gui.widgets.basic import (
    ContentOrMessage,
    add_view_keys,
    hbox,
    holder,
    label,
    splitter,
    vbox,
)
from ctm_gui.widgets.filtered_table import PATH_ELIDE, PATH_PX, FilteredTable
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.ordering import IndexArray
from ctm_gui.widgets.save_plot import CSV, PNG, SVG, save_button, save_table
from ctm_gui.widgets.table_view import in_parts
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.records import Device
from predictor.presentation.wording import shown
from predictor.services.prediction.explain import OperatorTable

_WITH_TABLE_PX = 1100
_NOTHING_YET = "Drop a model and tick a target to see what its operators are most sensitive to."
_NO_ATTENTION = (
    "This prediction is analytic: it adds up arithmetic and traffic, and has no attention. "
    "Attention is shown for predictions of the CloserToMe engine, whose basis in "
    "Compare is from specs, calibrated or measured."
)


class AttentionView(QWidget):
    """Maps of attention over a table of the same weights, in the same order.

    Signals:
        operators_selected: the user selected operators: intp [K], and the current one or None.
        operator_activated: the user asks for an operator in the operator table: its index.

    Args:
        options: the theme.
    """

    operators_selected = Signal(object, object)
    operator_activated = Signal(int)

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._summary: AttentionSummary | None = None
        self._prepared: AttentionSummary | None = None
        self._table: OperatorTable | None = None
        self._device: Device | None = None
        self._model = GridModel(parent=self)
        self.table = FilteredTable(self._model, "Attention", min_width_px={"name": PATH_PX})
        self.table.setTextElideMode(PATH_ELIDE)
        self._make_controls()
        self.map = AttentionMap(options)
        self._arrange()
        self._connect()
        self.show_table(None)

    def show_table(
        self,
        table: OperatorTable | None,
        message: str = "",
        device: Device | None = None,
        summary: AttentionSummary | None = None,
    ) -> None:
        """Show the attention of an operator table, or say why there is none.

        Args:
            table: the operators.
            message: why there is no table.
            device: of the target, which names its metrics and has their values.
            summary: of the table, where it was worked out before.
        """
        has_attention = table is not None and table.attention and table.attention.metrics
        if table is None or device is None or not table.names or not has_attention:
            reason = shown(message) if message else _NOTHING_YET
            self._show_nothing(reason if table is None or not table.names else _NO_ATTENTION)
            return
        self._table, self._device, self._prepared = table, device, summary
        attention = table.attention
        self.maps_box.setVisible(attention is not None and attention.learned is not None)
        self._stack.show_content()
        self._show_maps()

    def select_operators(self, operators: IndexArray, current: int | None) -> None:
        """Select operators, or the types that they are of."""
        if self._summary is None or not isinstance(self._model.grid, AttentionGrid):
            return
        row_of = self._model.grid.rows.row_of
        row = None if current is None else int(row_of[current])
        self.table.select_rows(np.unique(row_of[operators]), row)

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        self.table.focus_search()

    def save(self, path: Path) -> None:
        """Save the maps as SVG or PNG, or their numbers as CSV, by the path's ending.

        Raises:
            HostError: the picture cannot be written.
        """
        grid = self._model.grid
        if path.suffix.lower() == ".csv":
            save_table(self, path, in_parts(grid, grid.as_csv, grid.order))
        else:
            self.map.save(path)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the room to the maps where the table would cut the names of their metrics."""
        super().resizeEvent(event)
        self.table.setHidden(event.size().width() < _WITH_TABLE_PX)

    def _make_controls(self) -> None:
        self.group_box = QCheckBox("&Group by type")
        self.group_box.setToolTip("One row a type of operator: the mean of its operators.")
        self.maps_box = QComboBox()
        self.maps_box.setAccessibleName("Maps")
        for words, is_learned in (("Shares of time", False), ("What was learned", True)):
            self.maps_box.addItem(words, is_learned)
        self.maps_box.setToolTip(
            "What the time of operators goes to, or what was learned of operators like these "
            "beside others of their kind."
        )
        self.save_button = save_button(
            "attention",
            self.save,
            (SVG, PNG, CSV),
            text="S&ave…",
            tip="Save the maps as a picture, or their numbers as CSV.",
        )
        self.pairs = label(role="heading", name="What operators are most sensitive to")
        self.cell = label(role="muted", name="Cell under the cursor")

    def _arrange(self) -> None:
        controls = hbox(
            (self.table.search_box, 1),
            self.table.matches,
            self.maps_box,
            self.group_box,
            self.table.copy_button,
            self.save_button,
        )
        left = holder((self.map, 1), self.cell)
        parts = splitter(
            Qt.Orientation.Horizontal, left, self.table, sizes=(640, 360), stretch=(2, 1)
        )
        content = holder(controls, self.pairs, (parts, 1))
        self._stack = ContentOrMessage(content, name="Message")
        vbox(self._stack, of=self, margins=0)

    def _connect(self) -> None:
        self.table.search_box.textChanged.connect(self._show_map)
        self.group_box.toggled.connect(self._show_rows)
        self.maps_box.currentIndexChanged.connect(self._show_maps)
        self.map.cell_chosen.connect(self._on_cell)
        self.map.row_activated.connect(self._activate)
        self.table.row_activated.connect(self._activate)
        self.table.rows_selected.connect(self._on_rows)
        self._model.layoutChanged.connect(self._show_map)
        add_view_keys(self, QKeySequence.StandardKey.Find, self.focus_search)

    def _show_maps(self) -> None:
        """Show the maps that are chosen."""
        table, device = self._table, self._device
        if table is None or device is None:
            return
        is_learned = self.maps_box.currentData() is True and not self.maps_box.isHidden()
        usual = self._prepared or AttentionSummary(table, device)
        self._summary = LearnedSummary(table, device) if is_learned else usual
        for part in (self.pairs, self.map):
            part.setToolTip(self._summary.meaning())
        self._show_rows()

    def _show_nothing(self, reason: str) -> None:
        self._summary = self._table = self._device = self._prepared = None
        self.map.show_nothing()
        self.table.show_nothing()
        self._stack.show_message(reason)

    def _show_rows(self, *_: object) -> None:
        """Show another attention, or the same one by operators or by types."""
        if self._summary is None:
            return
        summary = self._summary
        rows = summary.types if self.group_box.isChecked() else summary.operators
        self.pairs.setText(summary.pairs(rows))
        is_first = not self._model.grid.columns
        # Rows of types are others than those of operators: nothing stays selected.
        self.table.selectionModel().reset()
        self.table.show_grid(AttentionGrid(summary, rows))
        if is_first:
            self.table.sort_by(LATENCY, descending=True)
        self.table.fit_columns()
        self.table.scrollToTop()
        self._show_map()

    def _show_map(self, *_: object) -> None:
        grid = self._model.grid
        if isinstance(grid, AttentionGrid):
            self.map.show_layout(MapLayout(grid.summary, grid.rows, grid.order))
            self._on_rows(self.table.selected_rows(), self.table.current_row())

    def _on_rows(self, rows: IndexArray, current: int | None) -> None:
        self.map.select_rows(rows.tolist(), current)
        self._show_cell()
        grid = self._model.grid
        if isinstance(grid, AttentionGrid):
            operators = np.flatnonzero(np.isin(grid.rows.row_of, rows))
            self.operators_selected.emit(operators, self._operator_of(current))

    def _on_cell(self, cell: Cell) -> None:
        self.map.choose(cell)
        self.table.select_rows([cell.row], cell.row)

    def _show_cell(self) -> None:
        grid, cell = self._model.grid, self.map.cell
        if isinstance(grid, AttentionGrid) and cell is not None:
            self.cell.setText(MapLayout(grid.summary, grid.rows, grid.order).sentence(cell))
        else:
            self.cell.setText("Click a cell, or move with the arrow keys, to read it.")

    def _operator_of(self, row: int | None) -> int | None:
        """Return the operator of a row, the slowest of a type."""
        grid = self._model.grid
        if row is None or not isinstance(grid, AttentionGrid):
            return None
        operators = np.flatnonzero(grid.rows.row_of == row)
        return int(operators[np.argmax(grid.summary.table.latency_ms[operators])])

    def _activate(self, row: int) -> None:
        operator = self._operator_of(row)
        if operator is not None:
            self.operator_activated.emit(operator)
