"""Tables of the window: keyboard, copying as CSV and Markdown, tooltips."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QMenu, QTableView, QToolButton, QToolTip

from ctm_gui.tasks.turns import in_turns
from ctm_gui.widgets.basic import tool_button
from ctm_gui.widgets.cell_delegate import CellDelegate
from ctm_gui.widgets.column_fit import ColumnFit
from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.ordering import BoolArray, IndexArray
from ctm_gui.widgets.tooltips import as_tooltip
from predictor.presentation.wording import NOTHING

# About 12 ms of writing.
_ROWS_A_TURN, _CELLS_A_TURN = 1000, 12_000
_ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter}
_EMPTY = {"", NOTHING}  # cells


class Writer(Protocol):
    """Writes rows of a grid as text, with or without its header."""

    def __call__(self, rows: IndexArray, *, titled: bool) -> str: ...


class GridView(QTableView):
    """A table over a grid model.

    ``details_of`` gives the tooltip of a place, ``mask_of`` the rows of a grid that are shown,
    bool [N]; without them the cell's own text is the tooltip, and every row is shown.

    Args:
        model: its grid has the rows.
        name: for screen readers.
        min_width_px: width under which a column of wider texts is never fitted, by its key.

    Signals:
        row_activated: Enter or a double click on a row; its row in the data.
        rows_selected: the selection changed; its rows in the data as intp [K], and the current
            row or None.
    """

    row_activated = Signal(int)
    rows_selected = Signal(object, object)

    def __init__(
        self, model: GridModel, name: str, min_width_px: Mapping[str, int] | None = None
    ) -> None:
        super().__init__()
        self.grid_model = model
        self.details_of: Callable[[int], str] | None = None
        self.mask_of: Callable[[Grid], BoolArray] | None = None
        self._restoring = False
        self._copies = 0
        self._row_actions: dict[QAction, bool] = {}  # and whether each needs a single row
        self._fit = ColumnFit(self, model, min_width_px or {})
        self.setModel(model)
        self.setItemDelegate(CellDelegate(self))
        # Qt would paint once before it lays the rows out anew, and once more after.
        for changed in (model.modelReset, model.layoutChanged):
            changed.connect(self.executeDelayedItemsLayout)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setWordWrap(False)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        # Tab goes on to the next widget; by default Qt would walk through every cell.
        self.setTabKeyNavigation(False)
        self._set_headers()
        self.copy_csv = self._action("Copy as CSV", self.copy_as_csv)
        self.copy_csv.setShortcut(QKeySequence.StandardKey.Copy)
        self.copy_markdown = self._action("Copy as Markdown", self.copy_as_markdown)
        self.copy_markdown.setShortcut(QKeySequence("Ctrl+Shift+C"))
        self.doubleClicked.connect(self._activate)
        self.selectionModel().selectionChanged.connect(self._emit_selection)
        self.selectionModel().currentRowChanged.connect(self._emit_selection)

    def fit_columns(self) -> None:
        """Set the widths of the columns by their titles and a sample of the rows."""
        self._fit.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share out the new width; a current row that was in view stays there."""
        super().resizeEvent(event)
        self._fit.refit()
        row = self.visualRect(self.currentIndex())
        if row.isValid() and 0 <= row.top() < event.oldSize().height():
            bar = self.verticalScrollBar()
            below = row.bottom() - self.viewport().height() + 1
            # Not by scrollTo, which goes to its column as well.
            bar.setValue(bar.value() + -(-max(below, 0) // row.height()))

    @property
    def is_edited(self) -> bool:
        """Whether a cell is being edited."""
        return self.state() is QAbstractItemView.State.EditingState

    def column(self, key: str) -> int:
        """Return the number of the column named ``key``."""
        return [column.key for column in self.grid_model.grid.columns].index(key)

    def sort_by(self, key: str, *, descending: bool = False) -> None:
        """Sort by the column named ``key`` and show the header's arrow."""
        order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        column, header = self.column(key), self.horizontalHeader()
        # Qt's own function sorts twice: the header's new arrow sorts, and then it does.
        if (header.sortIndicatorSection(), header.sortIndicatorOrder()) == (column, order):
            self.grid_model.sort(column, order)
        else:
            header.setSortIndicator(column, order)

    def set_columns_visible(self, visible: Mapping[str, bool]) -> bool:
        """Show or hide columns by their keys; a copy always holds every column.

        Returns:
            Whether any was hidden or shown: then the columns are fitted too.
        """
        changed = [
            (number, is_visible)
            for number, is_visible in ((self.column(key), on) for key, on in visible.items())
            if self.isColumnHidden(number) is is_visible
        ]
        if changed:
            self._fit.at_work = True
            # Qt keeps the width of a column that stretches in the range of the scroll bar.
            self.horizontalHeader().setStretchLastSection(False)
            for number, is_visible in changed:
                self.setColumnHidden(number, not is_visible)
            self.fit_columns()
            self._fit.at_work = False
        return bool(changed)

    def hide_empty_columns(self, *keys: str) -> None:
        """Hide those of these columns in which no row has anything, and show the others."""
        grid = self.grid_model.grid
        texts = {column.key: column.text for column in grid.columns if column.key in keys}
        self.set_columns_visible(
            {
                key: any(text(row) not in _EMPTY for row in range(grid.count))
                for key, text in texts.items()
            }
        )

    def selected_rows(self) -> IndexArray:
        """Return the selected rows of the data, intp [K] in the order in which they are shown."""
        return self.grid_model.grid.order[self._selected_positions()]

    def select_rows(self, rows: Sequence[int] | IndexArray, current: int | None = None) -> None:
        """Select ``rows`` of the data; those not shown are left out."""
        model, grid = self.grid_model, self.grid_model.grid
        selection = QItemSelection()
        last = model.columnCount() - 1
        # One range a run of neighbours: Qt slows down with the number of ranges in a selection.
        for first, end in _runs(grid.positions(rows)):
            selection.select(model.index(first, 0), model.index(end, last))
        flags = QItemSelectionModel.SelectionFlag
        self._restoring = True
        self.selectionModel().select(selection, flags.ClearAndSelect | flags.Rows)
        place = grid.positions([] if current is None else [current])
        if place.size:
            column = max(self.currentIndex().column(), 0)
            index = model.index(int(place[0]), column)
            self.selectionModel().setCurrentIndex(index, flags.NoUpdate)
            self.scrollTo(index)
        self._restoring = False
        # Once for selection and current row together; both signals were held back above.
        self._emit_selection()

    def current_row(self) -> int | None:
        """Return the current row of the data."""
        index = self.currentIndex()
        return self.grid_model.grid.source(index.row()) if index.isValid() else None

    def show_grid(self, grid: Grid) -> None:
        """Show another grid in the order of the one before; the selection stays."""
        grid.sort_like(self.grid_model.grid)
        if self.mask_of is not None:
            grid.show_only(self.mask_of(grid))
        self.keeping_selection(lambda: self.grid_model.replace(grid))

    def show_nothing(self) -> None:
        """Let go of the rows; columns and order stay for the next grid."""
        if self.grid_model.grid.count:
            self.show_grid(self.grid_model.grid.without_rows())

    def filter(self, *_: object) -> None:
        """Show the rows of the mask as it is now."""
        mask_of, grid = self.mask_of, self.grid_model.grid
        if mask_of is not None:
            self.keeping_selection(lambda: self.grid_model.show_only(mask_of(grid)))

    def keeping_selection(self, change: Callable[[], None]) -> None:
        """Call ``change``, which resets the model, and restore the selection."""
        rows, current = self.selected_rows(), self.current_row()
        change()
        count = self.grid_model.grid.count
        still_there = current is not None and current < count
        self.select_rows(rows[rows < count], current if still_there else None)

    def copy_as_csv(self) -> None:
        """Copy the selected rows as CSV, all rows shown where none is selected."""
        self._copy(self.grid_model.grid.as_csv)

    def copy_as_markdown(self) -> None:
        """Copy the selected rows as a Markdown table, all rows shown where none is selected."""
        self._copy(self.grid_model.grid.as_markdown)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter activates the current row; typing does not search, the filter field does.

        The Enter that ends an editor comes here too and activates nothing.
        """
        if event.key() in _ENTER and self.currentIndex().isValid() and not self.is_edited:
            self._activate(self.currentIndex())
            return
        super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: Qt's own search asks for every cell of a column and would stall."""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the rows."""
        self.copy_menu().popup(event.globalPos())

    def add_row_action(
        self, text: str, run: Callable[[int], object], *, of_one: bool = False
    ) -> QAction:
        """Offer something to do with rows in the context menu.

        Args:
            text: its words.
            run: called with the current row of the data.
            of_one: whether it needs a single row to be selected.
        """

        def run_on_current() -> None:
            row = self.current_row()
            if row is not None:
                run(row)

        action = self._action(text, run_on_current)
        self._row_actions[action] = of_one
        return action

    def copy_menu(self) -> QMenu:
        """Return the menu of the rows, which is deleted when it is closed."""
        menu = QMenu(self)
        has_current, is_one = self.current_row() is not None, self.selected_rows().size == 1
        for action, of_one in self._row_actions.items():
            action.setEnabled(is_one if of_one else has_current)
        if self._row_actions:
            menu.addActions(list(self._row_actions))
            menu.addSeparator()
        menu.addActions([self.copy_csv, self.copy_markdown])
        # The table owns the menu: every right click would leave one behind.
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return menu

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the details of the row under the pointer, as plain text."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._show_tooltip(event.pos(), event.globalPos())
            return True
        return super().viewportEvent(event)

    def tooltip_text(self, index: QModelIndex) -> str:
        """Return the tooltip of a cell: details of its row, else its whole text."""
        if not index.isValid():
            return ""
        if self.details_of is not None:
            return self.details_of(index.row())
        return str(index.data(Qt.ItemDataRole.ToolTipRole) or index.data() or "")

    def _show_tooltip(self, position: QPoint, global_position: QPoint) -> None:
        text = self.tooltip_text(self.indexAt(position))
        QToolTip.showText(global_position, as_tooltip(text) if text else "", self)

    def _set_headers(self) -> None:
        rows, columns = self.verticalHeader(), self.horizontalHeader()
        rows.hide()
        rows.setSectionResizeMode(rows.ResizeMode.Fixed)
        rows.setDefaultSectionSize(self.fontMetrics().height() + 8)
        columns.setHighlightSections(False)
        # A header asks for each column whether all of its rows are selected, at every painting:
        # 0.2 s with 10 000 selected rows. Ours does not show it, so it gets a selection of its own.
        columns.setSelectionModel(QItemSelectionModel(self.grid_model, columns))
        columns.setStretchLastSection(True)
        columns.setSectionsMovable(True)
        columns.sectionResized.connect(self._column_resized)
        # A third click on a title returns to the order of the data.
        columns.setSortIndicatorClearable(True)
        columns.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)

    def _column_resized(self, section: int, _old: int, _new: int) -> None:
        # The last column stretches by itself.
        if (
            not self._fit.at_work
            and not self.isColumnHidden(section)
            and section != self._fit.last_visible
        ):
            self._fit.is_users = True

    def _action(self, text: str, run: Callable[[], None]) -> QAction:
        action = QAction(text, self)
        # Two tables in one window would make the same key ambiguous, and Qt would call neither.
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(run)
        self.addAction(action)
        return action

    def _activate(self, index: QModelIndex) -> None:
        self.row_activated.emit(self.grid_model.grid.source(index.row()))

    def _selected_positions(self) -> IndexArray:
        """Return where selected rows are shown, ascending."""
        chosen = np.zeros(self.grid_model.rowCount(), dtype=np.bool_)
        for part in self.selectionModel().selection().toList():
            chosen[part.top() : part.bottom() + 1] = True
        return np.flatnonzero(chosen)

    def _copy(self, write: Writer) -> None:
        """Copy few rows at once and many piece by piece, so that the window goes on."""
        rows = self._rows_to_copy()
        self._copies += 1
        work = self._write_to_clipboard(write, rows, self._copies)
        # A small copy is on the clipboard at once, so that a paste right after it is right.
        if rows.size > _rows_a_turn(self.grid_model.grid):
            in_turns(work, self)
        else:
            list(work)

    def _write_to_clipboard(self, write: Writer, rows: IndexArray, copy: int) -> Iterator[None]:
        parts = []
        for part in in_parts(self.grid_model.grid, write, rows):
            parts.append(part)
            yield
            if copy != self._copies:
                return  # a later copy takes its place
        _to_clipboard("".join(parts))

    def _rows_to_copy(self) -> IndexArray:
        chosen = self.selected_rows()
        return chosen if chosen.size else self.grid_model.grid.order

    def _emit_selection(self, *_: object) -> None:
        if not self._restoring:
            self.rows_selected.emit(self.selected_rows(), self.current_row())


def in_parts(grid: Grid, write: Writer, rows: IndexArray) -> Iterator[str]:
    """Write ``rows`` of a grid piece by piece, each in some milliseconds; together they are it."""
    step = _rows_a_turn(grid)
    for start in range(0, max(rows.size, 1), step):
        yield write(rows[start : start + step], titled=start == 0)


def _rows_a_turn(grid: Grid) -> int:
    return min(_ROWS_A_TURN, max(_CELLS_A_TURN // max(len(grid.copied_columns), 1), 1))


def copy_button(table: GridView) -> QToolButton:
    """Return a button with the menu of copies from ``table``."""
    made = tool_button("Copy", "Copy the selected rows; all rows shown where none is selected.")
    made.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    made.addActions([table.copy_csv, table.copy_markdown])
    return made


def _to_clipboard(text: str) -> None:
    # As plain text only: mime data made in Python is deleted after the interpreter has ended, when
    # the clipboard still owns it then, and crashes the process at its exit.
    QGuiApplication.clipboard().setText(text)


def _runs(positions: IndexArray) -> list[tuple[int, int]]:
    """Join ascending positions into runs (first, last)."""
    if not positions.size:
        return []
    breaks = np.flatnonzero(np.diff(positions) > 1)
    firsts = positions[np.concatenate(([0], breaks + 1))]
    lasts = positions[np.concatenate((breaks, [positions.size - 1]))]
    return list(zip(firsts.tolist(), lasts.tolist(), strict=True))
