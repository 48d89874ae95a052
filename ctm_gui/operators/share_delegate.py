"""Painting of an operator's share of the latency."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QObject, QRectF
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from ctm_gui.operators.rows import OperatorsGrid
from ctm_gui.widgets.cell_delegate import CellDelegate, Index
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.view_options import ViewOptions

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
