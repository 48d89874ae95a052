"""The table of operators: where the time of one model on one target goes."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
from PySide6.QtCore import QObject, QRectF, Signal
from PySide6.QtGui import QColor, QKeySequence, QPainter
from PySide6.QtWidgets import QCheckBox, QFileDialog, QStyle, QStyleOptionViewItem, QWidget

from ctm_gui.operators.rows import SHARE, OperatorFilter, OperatorsGrid, OperatorSummary, totals
from ctm_gui.operators.type_strip import TypeStrip
from ctm_gui.widgets.basic import (
    ContentOrMessage,
    add_view_keys,
    button,
    hbox,
    holder,
    label,
    vbox,
)
from ctm_gui.widgets.cell_delegate import CellDelegate, Index
from ctm_gui.widgets.filtered_table import PATH_ELIDE, FilteredTable
from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.ordering import BoolArray, IndexArray
from ctm_gui.widgets.save_plot import save_button, save_plot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.records import Device
from predictor.presentation.wording import shown
from predictor.services.prediction.explain import OperatorTable

# Room for a text like 99.99 % to the right of a share's bar, and least width of bar and text.
SHARE_TEXT_PX, MIN_SHARE_PX = 66, 116


class ShareDelegate(CellDelegate):
    """A bar in the colour of what binds, its length that of the share; the text at the right.

    Args:
        options: the theme.
        parent: owner.
    """

    def __init__(self, options: ViewOptions, parent: QObject) -> None:
        super().__init__(parent)
        self._options = options

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the cell, and its bar to the left of the text."""
        super().paint(painter, option, index)
        grid = cast("GridModel", index.model()).grid
        if not isinstance(grid, OperatorsGrid):
            return
        length = grid.bar_length(index.row())
        if length:
            theme = self._options.theme
            selected = QStyle.StateFlag.State_Selected in option.state
            bound = theme.series[grid.bound_at(index.row())]
            colour = QColor(theme.on_accent if selected else bound)
            room = QRectF(option.rect).adjusted(4, 4, -SHARE_TEXT_PX, -4)
            room.setWidth(room.width() * length)
            painter.fillRect(room, colour)


_MIN_WIDTH_PX = {SHARE: MIN_SHARE_PX, "name": 182}
_NOTHING_YET = "Drop a model and tick a target to see where its time goes."


class OperatorsView(QWidget):
    """Operators of one model on one target, ranked by their share of the latency.

    Attributes:
        strip: bars of the time by type, which another part of the page may show.
        model_name: label of the model, which names its files.

    Signals:
        node_data_requested: the user wants the values as node data: the Path to write.
        type_chosen: the user chose a type, or all: its label and that of before, empty for all.

    Args:
        options: unit and theme.
    """

    node_data_requested = Signal(object)
    type_chosen = Signal(str, str)

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        self._summary: OperatorSummary | None = None
        self._device: Device | None = None
        self.model_name = ""
        self._type: int | None = None
        self._model = GridModel(parent=self)
        self.table = FilteredTable(self._model, "Operators", min_width_px=_MIN_WIDTH_PX)
        self.table.mask_of = self._mask
        self.table.setTextElideMode(PATH_ELIDE)
        self._make_controls()
        self._shares = ShareDelegate(options, self)
        self.strip = TypeStrip(options)
        self._arrange()
        self._connect()
        self.show_table(None)

    def show_table(
        self,
        table: OperatorTable | None,
        message: str = "",
        device: Device | None = None,
        summary: OperatorSummary | None = None,
    ) -> None:
        """Show an operator table, or say why there is none.

        Args:
            table: the operators.
            message: why there is no table.
            device: of the target, which names its metrics; needed where there is attention.
            summary: of the table, where it was worked out before.
        """
        self._device = device
        if table is None or not table.names:
            self._summary = None
            self.table.show_nothing()
            self._stack.show_message(shown(message) if message else _NOTHING_YET)
            return
        self._summary = summary or OperatorSummary(table)
        self._type = None
        self._stack.show_content()
        self.table.clearSelection()
        self._refresh()
        self.table.fit_columns()
        self.table.scrollToTop()

    def show_type(self, label: str) -> None:
        """Show the operators of one type alone; all where there is none of that label."""
        times = self._summary.type_times if self._summary is not None else ()
        labels = [time.label for time in times]
        self._type = labels.index(label) if label in labels else None
        self._show_type()
        self.table.filter()

    def select_operators(self, operators: IndexArray, current: int | None) -> None:
        """Select operators, intp [K]; those that are not shown are left out."""
        self.table.select_rows(operators, current)

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        self.table.focus_search()

    def save_plot(self, path: Path) -> None:
        """Save the bars of time by type as SVG or PNG by the path's ending.

        Raises:
            HostError: the file cannot be written.
        """
        save_plot(self.strip.plot, path, "Time by operator type")

    def _make_controls(self) -> None:
        self.hide_box = QCheckBox("Hide &zero-cost operators")
        self.hide_box.setToolTip(
            "Leave out views and fused operators, which take no time of their own."
        )
        self.type_button = button("", "Show all types again.", name="All types")
        self.type_button.hide()
        self.save_button = save_button("operator types", self.save_plot)
        self.node_data_button = button(
            "&Node Data…", "Save latency and share of every operator for Google's Model Explorer."
        )
        self.totals = label(role="muted", name="Totals")

    def _arrange(self) -> None:
        controls = hbox(
            (self.table.search_box, 1),
            self.table.matches,
            self.type_button,
            self.hide_box,
            self.table.copy_button,
            self.save_button,
            self.node_data_button,
        )
        content = holder(controls, self.strip, (self.table, 1), self.totals)
        self._stack = ContentOrMessage(content)
        vbox(self._stack, of=self, margins=0)

    def _connect(self) -> None:
        self.hide_box.toggled.connect(self.table.filter)
        self.type_button.clicked.connect(lambda: self._choose_type(None))
        self.strip.chosen.connect(self._choose_type)
        self.node_data_button.clicked.connect(self._ask_for_node_data)
        self._model.layoutChanged.connect(self._show_totals)
        self._model.modelReset.connect(self._show_totals)
        add_view_keys(self, QKeySequence.StandardKey.Find, self.focus_search)
        self._options.unit_changed.connect(self._show_unit)
        self._options.theme_changed.connect(self.table.viewport().update)

    def _show_unit(self) -> None:
        self._refresh()
        self.table.fit_columns()

    def _refresh(self) -> None:
        if self._summary is None:
            return
        is_first = not self._model.grid.columns
        grid = OperatorsGrid(self._summary, self._options.unit, self._device)
        self.table.show_grid(grid)
        # Where nothing is said of any operator, the room is the other columns'.
        self.table.set_columns_visible({"flags": any(self._summary.table.flags)})
        if is_first:
            # The delegate and the first order need columns to be there.
            self.table.setItemDelegateForColumn(self.table.column(SHARE), self._shares)
            self.table.sort_by(SHARE, descending=True)
        self.strip.show_times(self._summary.type_times)
        self._show_type()

    def _mask(self, grid: Grid) -> BoolArray:
        if self._summary is None:
            return np.ones(grid.count, dtype=np.bool_)
        types = None if self._type is None else self._summary.type_times[self._type].types
        chosen = OperatorFilter(self.table.words, types, self.hide_box.isChecked())
        return self._summary.mask(chosen)

    def _show_type(self) -> None:
        self.strip.set_current(self._type)
        self.type_button.setVisible(self._type is not None)
        if self._summary is not None and self._type is not None:
            words = self._summary.type_times[self._type].label.replace("&", "&&")
            self.type_button.setText(f"Type: {words} ✕")

    def _show_totals(self, *_: object) -> None:
        if self._summary is not None:
            unit = self._options.unit
            self.totals.setText(totals(self._summary.table, self._model.grid.order, unit))

    def _choose_type(self, index: int | None) -> None:
        if self._summary is not None:
            times = self._summary.type_times
            now, before = ("" if at is None else times[at].label for at in (index, self._type))
            self.show_type(now)
            self.type_chosen.emit(now, before)

    def _ask_for_node_data(self) -> None:
        name = f"{Path(self.model_name).stem or 'operators'}.json"
        chosen, _ = QFileDialog.getSaveFileName(self, "Save node data", name, "JSON (*.json)")
        if chosen:
            path = Path(chosen)
            self.node_data_requested.emit(path if path.suffix else path.with_suffix(".json"))
