"""The matrix page of Compare: targets by models as a heat map, against a baseline."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QTimer, Signal
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QWidget

from ctm_gui.compare.item_models import MatrixModel
from ctm_gui.compare.matrix import CellValue, MatrixGrid, VariantsPresenter, matrix_summary
from ctm_gui.widgets.basic import combo_box, fill_box, hbox, label, named, vbox
from ctm_gui.widgets.cell_delegate import CellDelegate, Index
from ctm_gui.widgets.fields import LatencyBudgetBox
from ctm_gui.widgets.filtered_table import FilteredTable
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.wording import shown


class HeatDelegate(CellDelegate):
    """Paints the colour of a cell under its number."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        model = index.model()
        is_selected = QStyle.StateFlag.State_Selected in option.state
        if isinstance(model, MatrixModel) and not is_selected:
            fill = model.fill(index)
            if fill is not None:
                painter.fillRect(option.rect, fill)
        super().paint(painter, option, index)


_MIN_WIDTHS_PX = {"device": 200, "configuration": 140}
# Under it a sentence would be cut: that of the current row stands below the table then.
_SENTENCE_PX = 300


class MatrixView(QWidget):
    """Targets by models, a number and a colour a cell.

    Signals:
        pair_activated: the user asks for a difference: indices of a model and a target.

    Args:
        options: unit, budget and theme.
        variants: the models.
    """

    pair_activated = Signal(int, int)

    def __init__(self, options: ViewOptions, variants: VariantsPresenter) -> None:
        super().__init__()
        self._options, self._variants = options, variants
        self._model = MatrixModel(options, self)
        self.table = FilteredTable(
            self._model, "Targets by models", "Filter targets…", _MIN_WIDTHS_PX
        )
        self.table.setItemDelegate(HeatDelegate(self))
        self.summary = label(role="heading", name="Summary of the matrix")
        self.answer = label(name="Fastest on the current target")
        self.budget_box = LatencyBudgetBox(options)
        self.value_box = combo_box("Number of a cell", [value.value for value in CellValue])
        self.baseline_box = combo_box("Baseline", letters=10)
        self._arrange()
        self._connect()

    def follow(self) -> None:
        """Show the present matrix."""
        matrix = self._variants.matrix
        if matrix is not None:
            labels = [shown(compared.label) for compared in matrix.models]
            fill_box(self.baseline_box, labels, matrix.baseline)
        self._refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit)  # the table gets its width after this

    def focus_search(self) -> None:
        """Put the cursor into the filter."""
        self.table.focus_search()

    def _arrange(self) -> None:
        controls = hbox(
            named("&Budget", self.budget_box),
            self.budget_box,
            8,
            named("Ce&lls", self.value_box),
            self.value_box,
            8,
            named("B&aseline", self.baseline_box),
            (self.baseline_box, 1),
            (self.table.search_box, 1),
            self.table.matches,
            self.table.copy_button,
        )
        vbox(controls, self.summary, (self.table, 1), self.answer, of=self)

    def _connect(self) -> None:
        self._options.budget_changed.connect(self._refresh)
        self._options.unit_changed.connect(self._refresh)
        self.value_box.currentIndexChanged.connect(self._refresh)
        self.baseline_box.activated.connect(self._variants.choose_baseline)
        self.table.doubleClicked.connect(self._activated)
        self.table.rows_selected.connect(self._show_answer)

    def _refresh(self, *_: object) -> None:
        matrix = self._variants.matrix
        if matrix is None or not len(matrix.comparison.rows):
            self.table.show_nothing()
            return
        value = list(CellValue)[self.value_box.currentIndex()]
        self.table.show_grid(MatrixGrid(matrix, self._options.unit, self._options.budget_ms, value))
        self.table.fit_columns()
        self._fit()
        self.summary.setText("\n".join([matrix_summary(matrix), *matrix.notes]))

    def _fit(self) -> None:
        """Give the sentences a column where there is room beside the numbers."""
        columns = len(self._model.grid.columns)
        if self._variants.matrix is not None and columns:
            numbers_px = sum(self.table.columnWidth(number) for number in range(columns - 1))
            has_room = self.table.viewport().width() - numbers_px >= _SENTENCE_PX
            self.table.set_columns_visible({"fastest": has_room})
            self._show_answer()

    def _show_answer(self, *_: object) -> None:
        grid, row = self._model.grid, self.table.current_row()
        has_rows = bool(self._model.rowCount())
        is_hidden = has_rows and self.table.isColumnHidden(len(grid.columns) - 1)
        self.answer.setVisible(is_hidden)
        if is_hidden and isinstance(grid, MatrixGrid):
            target = grid.source(0) if row is None else row
            name = grid.matrix.target_title(target).partition("\n")[0]
            self.answer.setText(f"{name}: {grid.columns[-1].text(target)}")

    def _activated(self, index: QModelIndex) -> None:
        pair = self._model.pair_at(index)
        if pair is not None:
            self.pair_activated.emit(*pair)
