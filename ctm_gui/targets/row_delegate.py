"""Painting of a row of the targets: a name has the room of a badge that is not there."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTreeView

from ctm_gui.targets.tree_model import Column

Index = QModelIndex | QPersistentModelIndex


class RowDelegate(QStyledItemDelegate):
    """Paints the cells of a tree of targets.

    Args:
        tree: shows the targets; owns this.
    """

    def __init__(self, tree: QTreeView) -> None:
        super().__init__(tree)
        self._tree = tree

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a cell, a name over the badge's column too where that is empty."""
        has_badge = bool(index.sibling(index.row(), Column.BASIS).data())
        if index.column() == Column.BASIS and not has_badge:
            return
        if index.column() == Column.NAME and not has_badge:
            option.rect.setWidth(self.name_px(index))
        super().paint(painter, option, index)

    def name_px(self, index: Index) -> int:
        """Return the pixels from a name's left end to where its row has something else."""
        px = self._tree.visualRect(index).width()
        if not index.sibling(index.row(), Column.BASIS).data():
            # Nothing where the column is hidden.
            px += self._tree.columnWidth(Column.BASIS)
        return px
