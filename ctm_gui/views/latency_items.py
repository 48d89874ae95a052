"""Painting of the latency chart: bars, whiskers, bound ticks, names and legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyqtgraph as pg
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from ctm_gui.presenters.latency_chart import Bar, ChartLayout, GroupBox
from ctm_gui.presenters.widths import shared_widths
from ctm_gui.theme import Theme
from ctm_gui.views.plots import hatch_lines
from predictor.core.units import significant

LABEL_GAP_PX = 8.0
_TINT = 56  # alpha of a bar over the budget under its hatching
_SELECTED = 44  # alpha of the stripe behind a selected row
_PADDING_PX = 8.0
_DETAIL_SHARE = 0.42  # of the names' width, at most, for the configuration
_LEGEND_PX = 26
_BUDGET_TEXT_PX = 16
_SWATCH_PX = 16
_ENTRY_GAP_PX = 16


@dataclass(slots=True)
class ChartState:
    """What the parts of the chart paint; the chart changes it and asks for a repaint.

    ``budget_x`` is where the budget line stands on the axis, None where it does not show.
    """

    layout: ChartLayout
    theme: Theme
    font: QFont
    log: bool = False
    selected: frozenset[int] = field(default_factory=frozenset)
    current: int | None = None
    budget_x: float | None = None
    budget_text: str = ""


def colour_of(theme: Theme, series: int) -> QColor:
    """Return the colour of a series; it starts again after the last."""
    return QColor(theme.series[series % len(theme.series)])


def _alpha(colour: QColor, alpha: int) -> QColor:
    faded = QColor(colour)
    faded.setAlpha(alpha)
    return faded


def paint_bar(painter: QPainter, rect: QRectF, colour: QColor, *, over: bool) -> None:
    """Paint a bar: solid, or pale with an outline and hatching where it is over the budget."""
    if not over:
        painter.fillRect(rect, colour)
        return
    painter.fillRect(rect, _alpha(colour, _TINT))
    painter.setPen(QPen(colour, 1.4))
    painter.drawLines([QLineF(start, end) for start, end in hatch_lines(rect)])
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(rect)


def paint_haloed(painter: QPainter, lines: Sequence[QLineF], theme: Theme, width: float) -> None:
    """Paint lines with a rim in the colour of the surface, readable on any bar."""
    for colour, extra in ((theme.surface, 2.4), (theme.text, 0.0)):
        pen = QPen(QColor(colour), width + extra)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawLines(list(lines))


class BarPainter:
    """Paints the bars that the view box shows."""

    def __init__(self, state: ChartState, box: pg.ViewBox) -> None:
        self._state = state
        self._box = box

    def __call__(self, painter: QPainter, rect: QRectF) -> None:
        """Paint into the view box's rectangle."""
        state = self._state
        (left, right), (top, bottom) = self._box.viewRange()
        scale = rect.width() / (right - left)
        painter.setFont(state.font)
        self._separators(painter, rect, top, bottom)
        for bar in state.layout.bars:
            if bar.top_px + state.layout.row_px < top or bar.top_px > bottom:
                continue
            self._bar(painter, bar, rect, top, lambda x: (self._position(x) - left) * scale)

    def _position(self, value: float) -> float:
        if not self._state.log:
            return value
        return math.log10(value) if value > 0 else -math.inf

    def _separators(self, painter: QPainter, rect: QRectF, top: float, bottom: float) -> None:
        if len(self._state.layout.models) < 2:
            return
        painter.setPen(QPen(QColor(self._state.theme.grid), 1.0))
        for group in self._state.layout.groups:
            y = group.top_px + group.height_px - top
            if 0 <= y <= bottom - top:
                painter.drawLine(QLineF(0, y, rect.width(), y))

    def _bar(
        self,
        painter: QPainter,
        bar: Bar,
        rect: QRectF,
        top: float,
        x_of: Callable[[float], float],
    ) -> None:
        state = self._state
        row = QRectF(0, bar.top_px - top, rect.width(), state.layout.row_px)
        self._stripe(painter, bar, row)
        if bar.value is None:
            self._words(painter, bar, row, LABEL_GAP_PX, QColor(state.theme.muted))
            return
        inset = 5.0 if state.layout.row_px > 20 else 2.5
        end = max(x_of(bar.value), 1.0)
        body = QRectF(0, row.top() + inset, end, row.height() - 2 * inset)
        paint_bar(painter, body, colour_of(state.theme, bar.series), over=bar.over)
        reach = self._whisker(painter, bar, body, x_of)
        if bar.bound is not None:
            x = max(x_of(bar.bound), 1.0)
            tick = QLineF(x, body.top() - 2, x, body.bottom() + 2)
            paint_haloed(painter, [tick], state.theme, 2.0)
        text = QColor(state.theme.bad if bar.over else state.theme.text)
        self._words(painter, bar, row, max(end, reach) + LABEL_GAP_PX, text)

    def _stripe(self, painter: QPainter, bar: Bar, row: QRectF) -> None:
        if bar.row in self._state.selected:
            painter.fillRect(row, _alpha(QColor(self._state.theme.accent), _SELECTED))
        if bar.row == self._state.current:
            painter.setPen(QPen(QColor(self._state.theme.accent), 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(row.adjusted(0.5, 0.5, -0.5, -0.5))

    def _whisker(
        self, painter: QPainter, bar: Bar, body: QRectF, x_of: Callable[[float], float]
    ) -> float:
        """Paint the interval and return how far right it reaches."""
        if bar.low is None or bar.high is None:
            return 0.0
        low, high = max(x_of(bar.low), 0.0), x_of(bar.high)
        y, cap = body.center().y(), min(4.0, body.height() / 2)
        lines = [
            QLineF(low, y, high, y),
            QLineF(low, y - cap, low, y + cap),
            QLineF(high, y - cap, high, y + cap),
        ]
        paint_haloed(painter, lines, self._state.theme, 1.3)
        return high

    def _words(self, painter: QPainter, bar: Bar, row: QRectF, x: float, colour: QColor) -> None:
        room = row.right() - x - 2
        text = QFontMetricsF(self._state.font).elidedText(
            bar.label, Qt.TextElideMode.ElideRight, room
        )
        painter.setPen(colour)
        painter.drawText(
            QRectF(x, row.top(), max(room, 0), row.height()),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
            text,
        )


class NameAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """The targets' names on the left: the device in the text's colour, the configuration muted."""

    def __init__(self, state: ChartState) -> None:
        super().__init__("left")
        self._state = state

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 (Qt's signature)
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        """Paint the names of the groups in view."""
        rect = QRectF(self.mapRectFromParent(self.geometry()))
        top, bottom = self.linkedView().viewRange()[1]
        painter.setClipRect(rect)
        painter.setFont(self._state.font)
        for group in self._state.layout.groups:
            if group.top_px + group.height_px >= top and group.top_px <= bottom:
                y = rect.top() + group.top_px - top
                self._group(
                    painter, group, QRectF(_PADDING_PX, y, rect.width() - 14, group.height_px)
                )

    def _group(self, painter: QPainter, group: GroupBox, room: QRectF) -> None:
        metrics, theme = QFontMetricsF(self._state.font), self._state.theme
        right = Qt.AlignmentFlag.AlignRight
        if room.height() >= 2 * metrics.height() + 2:
            middle = room.center().y()
            upper = QRectF(room.left(), middle - metrics.height(), room.width(), metrics.height())
            self._text(painter, group.name, upper, theme.text, right)
            lower = upper.translated(0, metrics.height())
            self._text(painter, group.detail, lower, theme.muted, right)
            return
        detail_px = min(metrics.horizontalAdvance(group.detail) + 1, room.width() * _DETAIL_SHARE)
        name = room.adjusted(0, 0, -detail_px - _PADDING_PX, 0)
        self._text(painter, group.name, name, theme.text, Qt.AlignmentFlag.AlignLeft)
        detail = room.adjusted(room.width() - detail_px, 0, 0, 0)
        self._text(painter, group.detail, detail, theme.muted, right)

    def _text(
        self, painter: QPainter, text: str, room: QRectF, colour: str, side: Qt.AlignmentFlag
    ) -> None:
        metrics = QFontMetricsF(self._state.font)
        painter.setPen(QColor(colour))
        painter.drawText(
            room,
            Qt.AlignmentFlag.AlignVCenter | side,
            metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room.width() + 1),
        )


class ValueAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """The axis of latencies, with plain numbers on a logarithmic scale too."""

    def logTickStrings(
        self,
        values: Sequence[float],
        scale: float,  # noqa: ARG002
        spacing: float | None,  # noqa: ARG002
    ) -> list[str]:
        """Write powers of ten as numbers; ``spacing`` None marks the unlabelled ticks between."""
        return [significant(10.0**value, 2) for value in values]


class LegendAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """A legend above the plot, part of the scene so that a saved plot has it too."""

    def __init__(self, state: ChartState) -> None:
        super().__init__("top")
        self._state = state
        self.fit()

    def fit(self) -> None:
        """Take the height of the entries, and of the budget's line of text where there is one."""
        budget = 0 if self._state.budget_x is None else _BUDGET_TEXT_PX
        self.setHeight(_LEGEND_PX + budget)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 (Qt's signature)
        widget: QWidget | None = None,  # noqa: ARG002
    ) -> None:
        """Paint one entry for each model and for each mark that the chart holds."""
        rect = QRectF(self.mapRectFromParent(self.geometry()))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._state.font)
        self._entries(painter, QRectF(rect.left(), rect.top(), rect.width(), _LEGEND_PX))
        if self._state.budget_x is not None:
            self._budget(painter, rect.adjusted(0, _LEGEND_PX, 0, 0), self._state.budget_x)

    def _entries(self, painter: QPainter, room: QRectF) -> None:
        layout, metrics = self._state.layout, QFontMetricsF(self._state.font)
        names = layout.models if len(layout.models) > 1 else ()
        entries: list[tuple[str, Callable[[QRectF], None]]] = [
            (name, partial(self._swatch, painter, series)) for series, name in enumerate(names)
        ]
        entries += self._marks(painter)
        natural = [metrics.horizontalAdvance(text) + 2 for text, _draw in entries]
        fixed_px = (_SWATCH_PX + 6 + _ENTRY_GAP_PX) * len(entries)
        widths = shared_widths(natural, room.width() - fixed_px, 24.0)
        x = room.left()
        for (text, draw), width in zip(entries, widths, strict=True):
            draw(QRectF(x, room.center().y() - 5, _SWATCH_PX, 10))
            x += _SWATCH_PX + 6
            painter.setPen(QColor(self._state.theme.muted))
            painter.drawText(
                QRectF(x, room.top(), width, room.height()),
                Qt.AlignmentFlag.AlignVCenter,
                metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width),
            )
            x += width + _ENTRY_GAP_PX

    def _budget(self, painter: QPainter, room: QRectF, budget_x: float) -> None:
        """Write the budget over its line, inside the plot."""
        left, right = self.linkedView().viewRange()[0]
        width = QFontMetricsF(self._state.font).horizontalAdvance(self._state.budget_text) + 2
        x = room.left() + (budget_x - left) / (right - left) * room.width() - width / 2
        x = min(max(x, room.left()), room.right() - width)
        painter.setPen(QColor(self._state.theme.bad))
        painter.drawText(
            QRectF(x, room.top(), width, room.height()),
            Qt.AlignmentFlag.AlignCenter,
            self._state.budget_text,
        )

    def _swatch(self, painter: QPainter, series: int, swatch: QRectF) -> None:
        paint_bar(painter, swatch, colour_of(self._state.theme, series), over=False)

    def _marks(self, painter: QPainter) -> list[tuple[str, Callable[[QRectF], None]]]:
        bars, theme = self._state.layout.bars, self._state.theme

        def over(swatch: QRectF) -> None:
            paint_bar(painter, swatch, QColor(theme.muted), over=True)

        def bound(swatch: QRectF) -> None:
            x = swatch.center().x()
            paint_haloed(painter, [QLineF(x, swatch.top(), x, swatch.bottom())], theme, 2.0)

        def interval(swatch: QRectF) -> None:
            y = swatch.center().y()
            lines = [QLineF(swatch.left(), y, swatch.right(), y)]
            lines += [QLineF(x, y - 4, x, y + 4) for x in (swatch.left(), swatch.right())]
            paint_haloed(painter, lines, theme, 1.3)

        marks: list[tuple[str, Callable[[QRectF], None]]] = []
        if any(bar.over for bar in bars):
            marks.append(("over budget", over))
        if any(bar.bound is not None for bar in bars):
            marks.append(("bound", bound))
        if any(bar.low is not None for bar in bars):
            marks.append(("80 % interval", interval))
        return marks
