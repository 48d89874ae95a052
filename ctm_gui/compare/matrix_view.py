"""The matrix page of Compare: models against a baseline, and the fastest within the budget."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QWidget

from ctm_gui.compare.item_models import VariantsModel
from ctm_gui.compare.matrix import (
    MARK,
    MODEL,
    FastestGrid,
    VariantMatrix,
    VariantsGrid,
    matrix_summary,
)
from ctm_gui.compare.matrix_delegate import VariantDelegate
from ctm_gui.widgets.basic import button, hbox, label, named, splitter, vbox
from ctm_gui.widgets.fields import BudgetBox
from ctm_gui.widgets.filtered_table import FilteredTable
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.table_view import GridView
from ctm_gui.widgets.theme import Theme
from predictor.core.units import LatencyUnit

_MODEL_PX, _DEVICE_PX = 190, 220
_ROW_GAP_PX = 10


class MatrixView(QWidget):
    """Models by targets with differences from the baseline.

    Signals:
        baseline_chosen: the user chose another baseline: the index of its model.
        budget_changed: the user set the budget: milliseconds, or None for no budget.
        pair_activated: the user asks for a difference: indices of a model and a target.
    """

    baseline_chosen = Signal(int)
    budget_changed = Signal(object)
    pair_activated = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._matrix: VariantMatrix | None = None
        self._unit = LatencyUnit.MS
        self._budget_ms: float | None = None
        self._model = VariantsModel(parent=self)
        self.table = FilteredTable(
            self._model, "Models by targets", "Filter models…", {MODEL: _MODEL_PX}
        )
        self._delegate = VariantDelegate(self)
        self.table.setItemDelegate(self._delegate)
        self.fastest = GridView(GridModel(), "Fastest within the budget")
        self._make_controls()
        self._arrange()
        self._connect()

    def show_matrix(self, matrix: VariantMatrix | None) -> None:
        """Show another matrix."""
        self._matrix = matrix
        self._refresh()
        self.table.fit_columns()

    def set_unit(self, unit: LatencyUnit) -> None:
        """Show latencies in ``unit``; differences are times, also where it is a rate."""
        self._unit = unit
        self._refresh()
        self.table.fit_columns()

    def set_budget_ms(self, budget_ms: float | None) -> None:
        """Set the budget without telling that the user did."""
        self._budget_ms = budget_ms
        self.budget_box.set_budget_ms(budget_ms)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme``."""
        self._delegate.set_theme(theme)
        self.table.viewport().update()

    def focus_search(self) -> None:
        """Put the cursor into the filter."""
        self.table.focus_search()

    def _make_controls(self) -> None:
        self.summary = label(role="heading", name="Summary of the matrix")
        self.budget_box = BudgetBox()
        self.baseline_button = button(
            "Ma&ke Baseline",
            "Compare the others with the current model; a click on its circle does the same.",
        )

    def _arrange(self) -> None:
        controls = hbox(
            named("&Budget", self.budget_box),
            self.budget_box,
            8,
            self.baseline_button,
            (self.table.search_box, 1),
            self.table.matches,
            self.table.copy_button,
        )
        parts = splitter(
            Qt.Orientation.Vertical, self.table, self.fastest, sizes=(420, 260), stretch=(3, 2)
        )
        vbox(controls, self.summary, (parts, 1), of=self, margins=0)

    def _connect(self) -> None:
        self.budget_box.budget_edited.connect(self._on_budget)
        self.baseline_button.clicked.connect(self._make_baseline)
        self.table.clicked.connect(self._clicked)
        self.table.doubleClicked.connect(self._activated)

    def _refresh(self) -> None:
        matrix = self._matrix
        if matrix is None or not len(matrix.comparison.rows):
            self.table.show_nothing()
            self.fastest.show_nothing()
            return
        self.table.show_grid(VariantsGrid(matrix, self._unit, self._budget_ms))
        self._set_row_height(matrix)
        self.fastest.show_grid(FastestGrid(matrix, self._budget_ms))
        # Not fitted: that would ask for sentences that nobody sees. The second column stretches.
        self.fastest.setColumnWidth(0, _DEVICE_PX)
        self.summary.setText("\n".join([matrix_summary(matrix), *matrix.notes]))

    def _set_row_height(self, matrix: VariantMatrix) -> None:
        lines = 3 if matrix.has_intervals else 2
        height = lines * self.table.fontMetrics().height() + _ROW_GAP_PX
        self.table.verticalHeader().setDefaultSectionSize(height)

    def _clicked(self, index: QModelIndex) -> None:
        if self._model.grid.columns[index.column()].key == MARK:
            self.baseline_chosen.emit(self._model.grid.source(index.row()))

    def _make_baseline(self) -> None:
        row = self.table.current_row()
        if row is not None:
            self.baseline_chosen.emit(row)

    def _activated(self, index: QModelIndex) -> None:
        pair = self._model.pair_at(index)
        if pair is not None:
            self.pair_activated.emit(*pair)

    def _on_budget(self, budget_ms: float | None) -> None:
        self.set_budget_ms(budget_ms)
        self.budget_changed.emit(budget_ms)
