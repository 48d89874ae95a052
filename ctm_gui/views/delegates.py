"""Painting of table cells: text, the bar of a share, the lines of the matrix."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ctm_gui.models.grid_model import GridModel
from ctm_gui.models.prediction_models import FASTEST_ROLE, TREND_ROLE
from ctm_gui.presenters.operators import OperatorsGrid
from ctm_gui.theme import CELL_PADDING_PX, LIGHT, Theme

Index = QModelIndex | QPersistentModelIndex
# Looked up once: a few hundred cells ask for them each time.
_SELECTED, _CURRENT = QStyle.StateFlag.State_Selected, QStyle.StateFlag.State_HasFocus
_BACKGROUND, _ON_BACKGROUND = QPalette.ColorRole.Highlight, QPalette.ColorRole.HighlightedText
_TEXT = QPalette.ColorRole.Text
# Room for a text like 99.99 % to the right of a share's bar, and least width of bar and text.
SHARE_TEXT_PX, LEAST_SHARE_PX = 66, 150
_MARK = "✓ "


class CellDelegate(QStyledItemDelegate):
    """Paints a grid's cell in its colour without asking the style, which takes half as long again.

    A table of twenty rows and a dozen columns is painted anew at each step of the wheel.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme``."""
        self._theme = theme

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
            text = metrics.elidedText(text, option.textElideMode, room.width())
        painter.drawText(room, side, text)


class ShareDelegate(CellDelegate):
    """A bar at the left, as long as the share is of the largest one; the text at the right."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the cell, and its bar to the left of the text."""
        super().paint(painter, option, index)
        grid = cast("GridModel", index.model()).grid
        length = grid.bar_length(index.row()) if isinstance(grid, OperatorsGrid) else 0.0
        if length:
            selected = _SELECTED in option.state
            colour = QColor(self._theme.on_accent if selected else self._theme.series[0])
            room = QRectF(option.rect).adjusted(4, 4, -SHARE_TEXT_PX, -4)
            room.setWidth(room.width() * length)
            painter.fillRect(room, colour)


class VariantDelegate(CellDelegate):
    """Paints a cell line by line; the fastest that meets the budget is bold and marked."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        trend = index.data(TREND_ROLE)
        # Only cells of targets have a trend; names of models are plain cells.
        if trend is None:
            super().paint(painter, option, index)
            return
        lines, fastest = str(index.data()).split("\n"), bool(index.data(FASTEST_ROLE))
        self.initStyleOption(option, index)
        # The style draws background and focus alone: the lines differ in font and colour.
        option.text = ""
        style = option.widget.style() if option.widget else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        selected = _SELECTED in option.state
        painter.save()
        for number, line in enumerate(lines):
            font = QFont(option.font)
            font.setBold(fastest and number == 0)
            painter.setFont(font)
            painter.setPen(self._colour(number, trend, selected=selected, lines=len(lines)))
            self._write(painter, option.rect, line, number, len(lines), marked=font.bold())
        painter.restore()

    def _write(
        self,
        painter: QPainter,
        cell: QRect,
        line: str,
        number: int,
        lines: int,
        *,
        marked: bool,
    ) -> None:
        metrics = QFontMetrics(painter.font())
        inside = cell.adjusted(CELL_PADDING_PX, 0, -CELL_PADDING_PX, 0)
        top = inside.top() + (inside.height() - lines * metrics.height()) // 2
        room = QRect(inside.left(), top + number * metrics.height(), inside.width(), 0)
        room.setHeight(metrics.height())
        text = f"{_MARK}{line}" if marked else line
        short = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, short)

    def _colour(self, number: int, trend: int, *, selected: bool, lines: int) -> QColor:
        if selected:
            return QColor(self._theme.on_accent)
        if number == 0:
            return QColor(self._theme.text if lines > 1 else self._theme.muted)
        return QColor({-1: self._theme.good, 1: self._theme.bad}.get(trend, self._theme.muted))
