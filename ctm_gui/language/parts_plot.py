"""Paints the bars of a device: its phases by what they spend their time on, its memory."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ctm_gui.language.rows import PartsBar
from ctm_gui.widgets.tooltips import as_tooltip
from ctm_gui.widgets.view_options import ViewOptions

_BAR_PX, _GAP_PX, _SWATCH_PX, _BARS = 12, 6, 9, 3
_BEHIND_PX = 10  # a part's name
_NAME_PX = _SWATCH_PX + 5 + _BEHIND_PX  # around a part's name


class PartsPlot(QWidget):
    """Bars one below the other, each between its title and its parts.

    Args:
        options: the theme.
    """

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        options.theme_changed.connect(self.update)
        self.bars: Sequence[PartsBar] = ()
        self._lines: list[list[list[int]]] = []  # places of each bar's parts, line by line
        self._visible_lines: list[int] = []  # lines of each bar that there is height for
        self.setAccessibleName("What binds the phases, and memory")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def show_bars(self, bars: Sequence[PartsBar]) -> None:
        """Show other bars."""
        self.bars = bars
        self.setAccessibleDescription("; ".join(bar.words.replace("\n", ", ") for bar in bars))
        self._lay_out()
        self.update()

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self._height_px([1] * max(len(self.bars), _BARS)))

    def sizeHint(self) -> QSize:
        lines = [len(lines) for lines in self._lines]
        return QSize(280, self._height_px(lines + [1] * (_BARS - len(lines))))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def _height_px(self, lines: Sequence[int]) -> int:
        """Return the height of bars with so many lines of names each."""
        count = len(lines)
        return (count + sum(lines)) * self.fontMetrics().height() + count * (_BAR_PX + _GAP_PX)

    def _lay_out(self) -> None:
        """Share out the names of each bar's parts to lines, the longest give way to the height."""
        metrics, room, before = self.fontMetrics(), self.width() - 1, self._lines
        self._lines = [
            lines_of([metrics.horizontalAdvance(text) + _NAME_PX for text in bar.lines], room)
            for bar in self.bars
        ]
        if self._lines != before:
            self.updateGeometry()
        self._visible_lines = [len(lines) for lines in self._lines]
        while (
            max(self._visible_lines, default=1) > 1
            and self._height_px(self._visible_lines) > self.height()
        ):
            self._visible_lines[self._visible_lines.index(max(self._visible_lines))] -= 1

    def _tops(self) -> list[int]:
        """Return the upper end of each bar's title, and the lower end of the last bar."""
        line, tops = self.fontMetrics().height(), [0]
        for lines in self._visible_lines:
            tops.append(tops[-1] + (1 + lines) * line + _BAR_PX + _GAP_PX)
        return tops

    def event(self, event: QEvent) -> bool:
        """Say all parts of the bar under the pointer."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = bisect(self._tops(), event.pos().y()) - 1
            text = self.bars[row].words if row < len(self.bars) else ""
            QToolTip.showText(event.globalPos(), as_tooltip(text) if text else "", self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        painter = QPainter(self)
        rows = zip(self._tops(), self.bars, self._lines, self._visible_lines, strict=False)
        for top, bar, lines, count in rows:
            room = QRectF(0, top, self.width() - 1, 0)
            self._paint_bar(painter, room, bar)
            self._paint_parts(painter, room, bar, lines[:count], is_cut=count < len(lines))

    def _paint_bar(self, painter: QPainter, room: QRectF, bar: PartsBar) -> None:
        line = painter.fontMetrics().height()
        painter.setPen(QColor(self._options.theme.bad if bar.is_over else self._options.theme.text))
        self._write(painter, QRectF(0, room.top(), room.width(), line), bar.title)
        top, x = room.top() + line + 1, 0.0
        for part in bar.parts:
            width = part.length * room.width()
            painter.fillRect(QRectF(x, top, max(width, 1.0), _BAR_PX), self._colour(part.colour))
            x += width
        if bar.limit is not None:
            limit = bar.limit * room.width()
            painter.setPen(QPen(QColor(self._options.theme.outline), 1.0))
            painter.drawRect(QRectF(0, top, limit, _BAR_PX))
            painter.setPen(QPen(QColor(self._options.theme.text), 2.0))
            painter.drawLine(QLineF(limit, top - 2, limit, top + _BAR_PX + 2))

    def _paint_parts(
        self,
        painter: QPainter,
        room: QRectF,
        bar: PartsBar,
        lines: Sequence[Sequence[int]],
        *,
        is_cut: bool,
    ) -> None:
        """Paint the names of the parts with their colours, line by line, a sign for the rest."""
        metrics = painter.fontMetrics()
        height, top = metrics.height(), room.top() + metrics.height() + _BAR_PX + 2
        x, right = 0.0, room.width() - metrics.horizontalAdvance("…")
        for line in lines:
            x = 0.0
            for place in line:
                part, text = bar.parts[place], bar.lines[place]
                swatch = QRectF(x, top + (height - _SWATCH_PX) / 2, _SWATCH_PX, _SWATCH_PX)
                painter.fillRect(swatch, self._colour(part.colour))
                painter.setPen(QColor(self._options.theme.muted))
                left = x + _SWATCH_PX + 4
                self._write(painter, QRectF(left, top, room.width() - left, height), text)
                x += metrics.horizontalAdvance(text) + _NAME_PX
            top += height
        if is_cut:
            self._write(painter, QRectF(min(x, right), top - height, room.width(), height), "…")

    def _colour(self, place: int) -> QColor:
        return QColor(self._options.theme.series[place])

    @staticmethod
    def _write(painter: QPainter, room: QRectF, text: str) -> None:
        right = Qt.TextElideMode.ElideRight
        elided = painter.fontMetrics().elidedText(text, right, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, elided)


def lines_of(widths: Sequence[float], room: float) -> list[list[int]]:
    """Return the places of words in lines of a width, as many words a line as fit, one at least.

    Args:
        widths: of the words, each with its swatch and the gap behind it, in pixels.
        room: pixels of a line.
    """
    lines: list[list[int]] = []
    left = 0.0
    for place, width in enumerate(widths):
        if not lines or width - _BEHIND_PX > left:
            lines.append([])
            left = room
        lines[-1].append(place)
        left -= width
    return lines
