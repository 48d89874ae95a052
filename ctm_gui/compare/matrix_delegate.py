"""Painting of the matrix: a number on its colour."""

from __future__ import annotations

from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from ctm_gui.compare.item_models import MatrixModel
from ctm_gui.widgets.cell_delegate import CellDelegate, Index


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
