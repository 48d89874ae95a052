"""Painting of table cells."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ctm_gui.widgets.elision import elided_path
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.theme import CELL_PADDING_PX

Index = QModelIndex | QPersistentModelIndex
# Looked up once: a few hundred cells ask for them each time.
_SELECTED, _CURRENT = QStyle.StateFlag.State_Selected, QStyle.StateFlag.State_HasFocus
_BACKGROUND, _ON_BACKGROUND = QPalette.ColorRole.Highlight, QPalette.ColorRole.HighlightedText
_TEXT = QPalette.ColorRole.Text
# A table whose texts are cut in front has paths.
_PATHS = Qt.TextElideMode.ElideLeft


class CellDelegate(QStyledItemDelegate):
    """Paints a grid's cell in its colour without asking the style, which takes half as long again.

    A table of twenty rows and a dozen columns is painted anew at each step of the wheel.
    """

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the cell; the row's own background is painted already."""
        rect, palette, state = option.rect, option.palette, option.state
        selected = _SELECTED in state
        if selected:
            painter.fillRect(rect, palette.color(_BACKGROUND))
        if _CURRENT in state:
            painter.setPen(palette.color(_ON_BACKGROUND if selected else _TEXT))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(1, 1, -2, -2))
        text, side, colour = cast("GridModel", index.model()).cell(index.row(), index.column())
        if not text:
            return
        if selected or colour is None:
            colour = palette.color(_ON_BACKGROUND if selected else _TEXT)
        painter.setPen(colour)
        room = rect.adjusted(CELL_PADDING_PX, 0, -CELL_PADDING_PX, 0)
        metrics = option.fontMetrics
        if metrics.horizontalAdvance(text) > room.width():
            if option.textElideMode is _PATHS:
                text = elided_path(metrics, text, room.width())
            else:
                text = metrics.elidedText(text, option.textElideMode, room.width())
        painter.drawText(room, side, text)
