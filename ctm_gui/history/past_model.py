"""The table of past predictions as a Qt model."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from ctm_gui.history.past_rows import PastRows
from ctm_gui.history.past_tables import NOTE, TAGS, PastGrid
from ctm_gui.widgets.grid_model import GridModel, Index
from predictor.core.units import LatencyUnit


class PastModel(GridModel):
    """Shows a PastGrid.

    ``edited`` gives the row of the data, the key of the column and the text that was typed.
    """

    edited = Signal(int, str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(PastGrid(PastRows(), LatencyUnit.MS), parent)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        if index.isValid() and self._key(index) in {TAGS, NOTE}:
            return flags | Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.EditRole and index.isValid():
            return self._typed(index)
        return super().data(index, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or not index.isValid():
            return False
        # Leaving an editor commits it too: an unchanged text is no change to store.
        if value != self._typed(index):
            self.edited.emit(self.grid.source(index.row()), self._key(index), str(value))
        return True

    def _key(self, index: Index) -> str:
        return self.grid.columns[index.column()].key

    def _typed(self, index: Index) -> str | None:
        """Return the initial text of a cell's editor, unescaped."""
        if not isinstance(self.grid, PastGrid):
            return None
        stored = self.grid.data.rows[self.grid.source(index.row())].stored
        return {TAGS: ", ".join(stored.tags), NOTE: stored.note}.get(self._key(index))
