"""A Qt table model over a grid: it sorts by the grid's index array, never through a proxy."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor

from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.ordering import BoolArray

Index = QModelIndex | QPersistentModelIndex
_NO_PARENT = QModelIndex()
# The overload that says that rows are sorted: the selection then keeps an index a row, not a cell.
_SORT_HINTED = ("QList<QPersistentModelIndex>", "QAbstractItemModel::LayoutChangeHint")
_TO_THE_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
_TO_THE_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class GridModel(QAbstractTableModel):
    """Shows the rows of a grid.

    Args:
        grid: its rows; none of them where None.
        parent: the owner.
    """

    def __init__(self, grid: Grid | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.grid = Grid(0, ()) if grid is None else grid

    def replace(self, grid: Grid) -> None:
        """Show another grid."""
        self.beginResetModel()
        self.grid = grid
        self.endResetModel()

    def show_only(self, visible: BoolArray) -> None:
        """Show the rows where ``visible`` (bool [N]) is true."""
        self.beginResetModel()
        self.grid.show_only(visible)
        self.endResetModel()

    def rowCount(self, parent: Index = _NO_PARENT) -> int:
        """Return the number of visible rows."""
        return 0 if parent.isValid() else len(self.grid.order)

    def columnCount(self, parent: Index = _NO_PARENT) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.grid.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text, alignment or tooltip of a cell."""
        if not index.isValid():
            return None
        column = self.grid.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(self.grid.source(index.row()))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _TO_THE_RIGHT if column.numeric else _TO_THE_LEFT
        if role == Qt.ItemDataRole.ForegroundRole:
            return self.colour(index.row(), index.column())
        return None

    def cell(self, row: int, column: int) -> tuple[str, int, QColor | None]:
        """Return text, alignment and colour of a cell in one call, for the delegate."""
        described = self.grid.columns[column]
        side = _TO_THE_RIGHT if described.numeric else _TO_THE_LEFT
        return described.text(self.grid.source(row)), side, self.colour(row, column)

    def colour(self, row: int, column: int) -> QColor | None:  # noqa: ARG002 - for those that have
        """Return the colour of a cell's text, None where it is that of any text."""
        return None

    def colour_again(self) -> None:
        """Have the cells painted in the colours of another theme."""
        if self.rowCount():
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.ForegroundRole])

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return a column's title or its help."""
        if orientation is Qt.Orientation.Vertical or not 0 <= section < len(self.grid.columns):
            return None
        column = self.grid.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.help or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _TO_THE_RIGHT if column.numeric else _TO_THE_LEFT
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by ``column``, -1 for the order of the data; selection and current row follow."""
        hint = QAbstractTableModel.LayoutChangeHint.VerticalSortHint
        # PySide6's stubs do not know that signals are indexed by overload.
        self.layoutAboutToBeChanged[_SORT_HINTED].emit([], hint)  # type: ignore[index]
        # Selection and current row are persistent indexes; Qt leaves moving them to the model.
        before = self.persistentIndexList()
        rows = [self.grid.source(index.row()) for index in before]
        self.grid.sort(
            column if column >= 0 else None, descending=order is Qt.SortOrder.DescendingOrder
        )
        # Inverse permutation of the order, intp [N]: data row to place.
        position = np.empty(self.grid.count, dtype=np.intp)
        position[self.grid.order] = np.arange(len(self.grid.order))
        after = [
            self.index(int(position[row]), index.column())
            for row, index in zip(rows, before, strict=True)
        ]
        self.changePersistentIndexList(before, after)
        self.layoutChanged[_SORT_HINTED].emit([], hint)  # type: ignore[index]


class EditedGridModel(GridModel):
    """Shows the rows of a grid, cells of which are edited in place.

    Signals:
        edited: the row of the data, the key of the column, and the text that was typed.
    """

    edited = Signal(int, str, str)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags if self._typed(index) is None else flags | Qt.ItemFlag.ItemIsEditable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text; that of its editor is unescaped, with all digits."""
        return self._typed(index) if role == Qt.ItemDataRole.EditRole else super().data(index, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Take what was typed."""
        typed = self._typed(index)
        if role != Qt.ItemDataRole.EditRole or typed is None:
            return False
        # Leaving an editor commits it too: an unchanged text is no change.
        if value != typed:
            key = self.grid.columns[index.column()].key
            self.edited.emit(self.grid.source(index.row()), key, str(value))
        return True

    def _typed(self, index: Index) -> str | None:
        typed = self.grid.columns[index.column()].typed if index.isValid() else None
        return None if typed is None else typed(self.grid.source(index.row()))
