"""Paints the bars of a device: its phases by what they spend their time on, its memory."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ctm_gui.language.parts_bar import PartsBar
from ctm_gui.widgets.theme import LIGHT, Theme
from ctm_gui.widgets.tooltips import as_tooltip

_BAR_PX, _GAP_PX, _SWATCH_PX, _BARS = 12, 6, 9, 3


class PartsPlot(QWidget):
    """Bars one below the other, each between its title and its parts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars: Sequence[PartsBar] = ()
        self._theme = LIGHT
        self.setAccessibleName("What binds the phases, and memory")
        # Text that wraps below it would press it together otherwise.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def _row_px(self) -> int:
        return 2 * self.fontMetrics().height() + _BAR_PX + _GAP_PX

    def show_bars(self, bars: Sequence[PartsBar]) -> None:
        """Show other bars."""
        self.bars = bars
        self.setAccessibleDescription("; ".join(bar.words.replace("\n", ", ") for bar in bars))
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme``."""
        self._theme = theme
        self.update()

    def minimumSizeHint(self) -> QSize:
        return QSize(200, _BARS * self._row_px)

    def sizeHint(self) -> QSize:
        return QSize(280, _BARS * self._row_px)

    def event(self, event: QEvent) -> bool:
        """Say all parts of the bar under the pointer."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = event.pos().y() // self._row_px
            text = self.bars[row].words if row < len(self.bars) else ""
            QToolTip.showText(event.globalPos(), as_tooltip(text) if text else "", self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        painter = QPainter(self)
        for row, bar in enumerate(self.bars):
            room = QRectF(0, row * self._row_px, self.width() - 1, self._row_px)
            self._paint_bar(painter, room, bar)
            self._paint_parts(painter, room, bar)

    def _paint_bar(self, painter: QPainter, room: QRectF, bar: PartsBar) -> None:
        line = painter.fontMetrics().height()
        painter.setPen(QColor(self._theme.bad if bar.is_over else self._theme.text))
        self._write(painter, QRectF(0, room.top(), room.width(), line), bar.title)
        top, x = room.top() + line + 1, 0.0
        for part in bar.parts:
            width = part.length * room.width()
            painter.fillRect(QRectF(x, top, max(width, 1.0), _BAR_PX), self._colour(part.colour))
            x += width
        if bar.limit is not None:
            limit = bar.limit * room.width()
            painter.setPen(QPen(QColor(self._theme.outline), 1.0))
            painter.drawRect(QRectF(0, top, limit, _BAR_PX))
            painter.setPen(QPen(QColor(self._theme.text), 2.0))
            painter.drawLine(QLineF(limit, top - 2, limit, top + _BAR_PX + 2))

    def _paint_parts(self, painter: QPainter, room: QRectF, bar: PartsBar) -> None:
        """Paint the names of the parts with their colours, as many as there is room for."""
        metrics = painter.fontMetrics()
        top, x = room.top() + metrics.height() + _BAR_PX + 2, 0.0
        for part, text in zip(bar.parts, bar.lines, strict=True):
            width = metrics.horizontalAdvance(text) + _SWATCH_PX + 5
            if x and x + width > room.width():
                return
            swatch = QRectF(x, top + (metrics.height() - _SWATCH_PX) / 2, _SWATCH_PX, _SWATCH_PX)
            painter.fillRect(swatch, self._colour(part.colour))
            painter.setPen(QColor(self._theme.muted))
            left = x + _SWATCH_PX + 4
            self._write(painter, QRectF(left, top, room.width() - left, metrics.height()), text)
            x += width + 10

    def _colour(self, place: int) -> QColor:
        return QColor(self._theme.series[place])

    @staticmethod
    def _write(painter: QPainter, room: QRectF, text: str) -> None:
        right = Qt.TextElideMode.ElideRight
        elided = painter.fontMetrics().elidedText(text, right, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, elided)
