"""Painting of the matrix: the lines of a cell."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionViewItem

from ctm_gui.compare.item_models import FASTEST_ROLE, TREND_ROLE
from ctm_gui.widgets.cell_delegate import CellDelegate, Index
from ctm_gui.widgets.theme import CELL_PADDING_PX

_MARK = "✓ "


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
        selected = QStyle.StateFlag.State_Selected in option.state
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
