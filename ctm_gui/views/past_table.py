"""The table of past predictions: tags and notes edited in place, and a menu of what can be done."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal, SignalInstance
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QMenu

from ctm_gui.models.past_model import PastModel
from ctm_gui.presenters.past_grid import TAGS
from ctm_gui.views.tables import GridView

_LEAST_PX = {"model": 150, "device": 180, TAGS: 90, "note": 110}


class PastTable(GridView):
    """A row for each prediction.

    Signals:
        reopen, compare, record, delete: what the user asks for of the selected rows.
    """

    reopen = Signal()
    compare = Signal()
    record = Signal()
    delete = Signal()

    def __init__(self, model: PastModel) -> None:
        super().__init__(model, "Predictions of the past", _LEAST_PX)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.DoubleClicked
        )
        self.open_action = self._add("Open Again", self.reopen)
        self._add("Compare with Now", self.compare)
        self.record_action = self._add("Record Measured Latency…", self.record)
        delete = self._add("Delete", self.delete)
        delete.setShortcut(QKeySequence.StandardKey.Delete)

    @property
    def is_edited(self) -> bool:
        """Whether a cell is being edited."""
        return self.state() is QAbstractItemView.State.EditingState

    def edit_tags(self) -> None:
        """Edit the tags of the current row, where another column has the cursor."""
        index = self.currentIndex()
        if index.isValid():
            column = [c.key for c in self.grid_model.grid.columns].index(TAGS)
            self.edit(index.siblingAtColumn(column))

    def copy_menu(self) -> QMenu:
        menu = super().copy_menu()
        one = self.selected_rows().size == 1
        self.open_action.setEnabled(one)
        self.record_action.setEnabled(one)
        return menu

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

    def _add(self, text: str, signal: SignalInstance) -> QAction:
        return self.add_row_action(text, lambda _: signal.emit())
