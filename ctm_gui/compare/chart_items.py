"""Painting of the latency chart: dots, intervals, labels, badges, names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from ctm_gui.compare.chart import Bar, ChartLayout, GroupBox
from ctm_gui.compare.words import Badge, BadgeStyle
from ctm_gui.widgets.axes import AT_LEFT, SELECTED_ALPHA, PaintedAxis, faded, first_ticks
from ctm_gui.widgets.geometry import shared_widths
from ctm_gui.widgets.theme import Theme
from ctm_gui.widgets.view_options import ViewOptions

BADGE_PX = 15.0
_CHIP_PADDING_PX = 4.0
_SMALLER = 0.85
_PADDING_PX = 5.0
_ROUND_PX = 4.0


def badge_font(font: QFont) -> QFont:
    """Return the font of badges beside text in ``font``."""
    small = QFont(font)
    # Qt fonts have a size in pixels or in points; the other of the two is -1.
    if font.pixelSize() > 0:
        small.setPixelSize(round(font.pixelSize() * _SMALLER))
    else:
        small.setPointSizeF(font.pointSizeF() * _SMALLER)
    return small


def paint_badge(painter: QPainter, frame: QRectF, badge: Badge, theme: Theme, font: QFont) -> None:
    """Paint a badge into its frame."""
    colour = QColor(theme.warn if badge.style is BadgeStyle.WARNING else theme.muted)
    filled = badge.style is BadgeStyle.FILLED
    pen = QPen(colour, 1.0)
    if badge.style is BadgeStyle.DASHED:
        pen.setStyle(Qt.PenStyle.DashLine)
    elif badge.style is BadgeStyle.PLAIN:
        pen = QPen(Qt.PenStyle.NoPen)
    painter.setPen(pen)
    # The surface under the words: lines of the grid would cross them out.
    painter.setBrush(colour if filled else QColor(theme.surface))
    painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), _ROUND_PX, _ROUND_PX)
    painter.setFont(font)
    painter.setPen(QColor(theme.surface) if filled else colour)
    painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, badge.text)


LABEL_GAP_PX = 8.0
DOT_PX = 5.0  # radius
INTERVAL_PX = 6.0
LIMIT_PX = 22.0  # length of a limit's arrow
_BAND_ALPHA = 84
PADDING_PX = 8.0
_MIN_DOUBT_PX = 150.0


@dataclass(slots=True, kw_only=True)
class ChartState:
    """State that the parts of the chart paint; the chart changes it and asks for a repaint.

    ``budget_x`` is the place of the budget line on the axis, None where it is hidden;
    ``names_px`` is the width of the names on the left.
    """

    layout: ChartLayout
    options: ViewOptions
    font: QFont
    log: bool = False
    selected: frozenset[int] = field(default_factory=frozenset)
    current: int | None = None
    budget_x: float | None = None
    budget_text: str = ""
    names_px: float = 0.0
    ruler: LabelRuler = field(init=False)

    def __post_init__(self) -> None:
        self.ruler = LabelRuler(self.font)

    @property
    def theme(self) -> Theme:
        """Colours of the parts."""
        return self.options.theme


def colour_of(theme: Theme, series: int) -> QColor:
    """Return the colour of a series; it starts again after the last."""
    return QColor(theme.series[series % len(theme.series)])


def paint_dot(
    painter: QPainter, centre: QPointF, half: float, colour: QColor, theme: Theme, *, over: bool
) -> None:
    """Paint a latency: a disc, or a ring where it is over the budget."""
    rim = 2.0 if over else 1.2
    painter.setPen(QPen(colour if over else QColor(theme.surface), rim))
    painter.setBrush(QColor(theme.surface) if over else colour)
    inner = half - rim / 2 if over else half
    painter.drawEllipse(centre, inner, inner)


def paint_interval(painter: QPainter, low: QPointF, high: QPointF, colour: QColor) -> None:
    """Paint an interval: a pale band with its ends marked."""
    band = QRectF(low.x(), low.y() - INTERVAL_PX / 2, high.x() - low.x(), INTERVAL_PX)
    painter.fillRect(band, faded(colour, _BAND_ALPHA))
    painter.setPen(QPen(colour, 1.4))
    ends = (QLineF(x, band.top() - 1, x, band.bottom() + 1) for x in (low.x(), high.x()))
    painter.drawLines(list(ends))


def paint_diamond(painter: QPainter, centre: QPointF, half: float, theme: Theme) -> None:
    """Paint a hollow diamond: what the engine predicts of a latency that was measured."""
    x, y = centre.x(), centre.y()
    corners = [QPointF(x - half, y), QPointF(x, y - half), QPointF(x + half, y)]
    painter.setPen(QPen(QColor(theme.text), 1.4))
    painter.setBrush(QColor(theme.surface))
    painter.drawPolygon([*corners, QPointF(x, y + half)])


def paint_limit(
    painter: QPainter, limit: QPointF, side: int, colour: QColor, length: float = LIMIT_PX
) -> None:
    """Paint a limit: a stop at the value, and an arrow to the side that the truth lies on.

    Args:
        painter: paints.
        limit: place of the value.
        side: 1 for the right, -1 for the left.
        colour: of both.
        length: of the arrow.
    """
    y, end = limit.y(), QPointF(limit.x() + side * length, limit.y())
    back = end.x() - side * DOT_PX
    painter.setPen(QPen(colour, 2.0))
    painter.drawLines(
        [
            QLineF(limit.x(), y - DOT_PX, limit.x(), y + DOT_PX),
            QLineF(limit, end),
            QLineF(back, y - DOT_PX + 1, end.x(), y),
            QLineF(back, y + DOT_PX - 1, end.x(), y),
        ]
    )


class LabelRuler:
    """Measures the labels and badges of bars, the same words once."""

    def __init__(self, font: QFont) -> None:
        self._metrics, self.small = QFontMetricsF(font), badge_font(font)
        self._words: dict[str, float] = {}
        self._badges: dict[Badge, float] = {}

    def label_width(self, bar: Bar) -> float:
        """Return the pixels that a bar's label takes."""
        if bar.label not in self._words:
            self._words[bar.label] = self._metrics.horizontalAdvance(bar.label)
        return self._words[bar.label]

    def width(self, bar: Bar) -> float:
        """Return the pixels that a bar's label and badges take."""
        arrow = LIMIT_PX if bar.limit > 0 else 0.0
        badges = sum(self.badge_width(badge) + LABEL_GAP_PX for badge in bar.badges)
        return self.label_width(bar) + badges + arrow

    def badge_width(self, badge: Badge) -> float:
        """Return the pixels that a badge takes."""
        if badge not in self._badges:
            words = QFontMetricsF(self.small).horizontalAdvance(badge.text)
            self._badges[badge] = words + 2 * _PADDING_PX
        return self._badges[badge]


class BarPainter:
    """Paints the latencies that the view box shows, and the grid of the axis under them."""

    def __init__(self, state: ChartState, box: pg.ViewBox, axis: pg.AxisItem) -> None:
        self._state = state
        self._box = box
        self._axis = axis

    def __call__(self, painter: QPainter, rect: QRectF) -> None:
        """Paint into the view box's rectangle."""
        state = self._state
        (left, right), (top, bottom) = self._box.viewRange()
        scale = rect.width() / (right - left)
        painter.setFont(state.font)
        self._grid(painter, rect)
        self._separators(painter, rect, top, bottom)
        for bar in state.layout.bars_between(top, bottom):
            self._bar(painter, bar, rect, top, lambda x: (self._position(x) - left) * scale)

    def _position(self, value: float) -> float:
        if not self._state.log:
            return value
        return math.log10(value) if value > 0 else -math.inf

    def _grid(self, painter: QPainter, rect: QRectF) -> None:
        """Paint a line at each labelled tick; pyqtgraph would paint it over the dots."""
        left, right = self._box.viewRange()[0]
        painter.setPen(QPen(QColor(self._state.theme.grid), 1.0))
        for x in first_ticks(self._axis, left, right, rect.width()):
            x_px = (x - left) / (right - left) * rect.width()
            painter.drawLine(QLineF(x_px, 0, x_px, rect.height()))

    def _separators(self, painter: QPainter, rect: QRectF, top: float, bottom: float) -> None:
        if len(self._state.layout.models) < 2:
            return
        painter.setPen(QPen(QColor(self._state.theme.grid), 1.0))
        for group in self._state.layout.groups_between(top, bottom):
            y = group.top_px + group.height_px - top
            if 0 <= y <= bottom - top:
                painter.drawLine(QLineF(0, y, rect.width(), y))

    def _bar(
        self, painter: QPainter, bar: Bar, rect: QRectF, top: float, x_of: Callable[[float], float]
    ) -> None:
        state = self._state
        row = QRectF(0, bar.top_px - top, rect.width(), state.layout.row_px)
        self._stripe(painter, bar, row)
        if bar.value is None:
            self._words(painter, bar, row, LABEL_GAP_PX, QColor(state.theme.muted))
            return
        colour, y = colour_of(state.theme, bar.series), row.center().y()
        # A logarithmic axis has no place for zero.
        dot = QPointF(max(x_of(bar.value), 0.0), y)
        painter.setPen(QPen(QColor(state.theme.grid), 1.0, Qt.PenStyle.DotLine))
        painter.drawLine(QLineF(0, y, dot.x(), y))
        reach = dot.x() + DOT_PX
        if bar.low is not None and bar.high is not None:
            high = x_of(bar.high)
            paint_interval(painter, QPointF(max(x_of(bar.low), 0.0), y), QPointF(high, y), colour)
            reach = max(reach, high)
        if bar.limit:
            paint_limit(painter, dot, bar.limit, colour)
            reach = max(reach, dot.x() + bar.limit * LIMIT_PX)
        else:
            paint_dot(painter, dot, DOT_PX, colour, state.theme, over=bar.over)
        if bar.predicted is not None:
            centre = QPointF(max(x_of(bar.predicted), 0.0), y)
            paint_diamond(painter, centre, DOT_PX, state.theme)
            reach = max(reach, centre.x() + DOT_PX)
        text = QColor(state.theme.bad if bar.over else state.theme.text)
        x = self._words(painter, bar, row, reach + LABEL_GAP_PX, text)
        self._badges(painter, bar, row, x)

    def _stripe(self, painter: QPainter, bar: Bar, row: QRectF) -> None:
        if bar.row in self._state.selected:
            painter.fillRect(row, faded(self._state.theme.accent, SELECTED_ALPHA))
        if bar.row == self._state.current:
            painter.setPen(QPen(QColor(self._state.theme.accent), 1.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(row.adjusted(0.5, 0.5, -0.5, -0.5))

    def _words(self, painter: QPainter, bar: Bar, row: QRectF, x: float, colour: QColor) -> float:
        """Write the label and return where it ends."""
        painter.setFont(self._state.font)  # badges of the bar before have a smaller one
        room = row.right() - x - 2
        text, width = bar.label, self._state.ruler.label_width(bar)
        if width > room:
            metrics = QFontMetricsF(self._state.font)
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
            width = metrics.horizontalAdvance(text)
        self._clear(painter, bar, row, x, width)
        painter.setPen(colour)
        painter.drawText(QRectF(x, row.top(), max(room, 0), row.height()), AT_LEFT, text)
        return x + width

    def _clear(self, painter: QPainter, bar: Bar, row: QRectF, x: float, width: float) -> None:
        """Clear the row where words go: the budget line would cross them out."""
        if bar.row not in self._state.selected:
            # The frame of the current row stays.
            under = QRectF(x, row.top() + 1, width, row.height() - 2)
            painter.fillRect(under, QColor(self._state.theme.surface))

    def _badges(self, painter: QPainter, bar: Bar, row: QRectF, x: float) -> None:
        """Paint the badges after a label, then why the engine is in doubt where there is room."""
        state, font = self._state, self._state.ruler.small
        for badge in bar.badges:
            width = state.ruler.badge_width(badge)
            x += LABEL_GAP_PX
            frame = QRectF(x, row.center().y() - BADGE_PX / 2, width, BADGE_PX)
            if frame.right() > row.right():
                return
            self._clear(painter, bar, row, x, width)
            paint_badge(painter, frame, badge, state.theme, font)
            x = frame.right()
        painter.setFont(state.font)
        x += LABEL_GAP_PX
        room = row.right() - x - 2
        if bar.doubt and room > _MIN_DOUBT_PX:
            metrics = QFontMetricsF(state.font)
            text = metrics.elidedText(bar.doubt, Qt.TextElideMode.ElideRight, room)
            self._clear(painter, bar, row, x, metrics.horizontalAdvance(text))
            painter.setPen(QColor(state.theme.muted))
            painter.drawText(
                QRectF(x, row.top(), room, row.height()), Qt.AlignmentFlag.AlignVCenter, text
            )


def chip_width(group: GroupBox, metrics: QFontMetricsF) -> float:
    """Return the width of a target's chip."""
    return metrics.horizontalAdvance(group.chip) + 2 * _CHIP_PADDING_PX + 2


def two_lines_px(metrics: QFontMetricsF) -> float:
    """Return the height that a target's name takes with its configuration under it."""
    return 2 * metrics.height() + _CHIP_PADDING_PX


def part_in_view(room: QRectF, view: QRectF, metrics: QFontMetricsF) -> QRectF:
    """Return the part of a group's room that is in view, as high as its words at least."""
    words_px = min(two_lines_px(metrics) + _CHIP_PADDING_PX, room.height())
    top = min(max(room.top(), view.top()), room.bottom() - words_px)
    bottom = max(min(room.bottom(), view.bottom()), top + words_px)
    return QRectF(room.left(), top, room.width(), bottom - top)


class NameAxis(PaintedAxis):
    """The targets' names on the left: the device, how it runs in a frame, the rest muted."""

    def __init__(self, state: ChartState) -> None:
        super().__init__("left")
        self._state = state

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        """Paint the names of the groups in view."""
        top, bottom = self.linkedView().viewRange()[1]
        painter.setClipRect(rect)
        painter.setFont(self._state.font)
        metrics = QFontMetricsF(self._state.font)
        for group in self._state.layout.groups_between(top, bottom):
            y = rect.top() + group.top_px - top
            room = QRectF(PADDING_PX, y, rect.width() - 14, group.height_px)
            self._group(painter, group, part_in_view(room, rect, metrics))

    def _group(self, painter: QPainter, group: GroupBox, room: QRectF) -> None:
        metrics = QFontMetricsF(self._state.font)
        if room.height() >= two_lines_px(metrics):
            middle, height = room.center().y(), metrics.height()
            right = Qt.AlignmentFlag.AlignRight
            upper = QRectF(room.left(), middle - height - 2, room.width(), height)
            self._write(painter, group.name, upper, right)
            lower = upper.translated(0, height + 3)
            self._configuration(painter, group, lower, self._widths(group, lower.width())[1:])
            return
        name_px, *rest_px = self._widths(group, room.width(), metrics.horizontalAdvance(group.name))
        name = room.adjusted(0, 0, name_px - room.width(), 0)
        self._write(painter, group.name, name, Qt.AlignmentFlag.AlignLeft)
        self._configuration(painter, group, room, rest_px)

    def _widths(self, group: GroupBox, room: float, name_px: float = 0.0) -> list[float]:
        """Return the widths of name, chip and detail in a line; the longest give way."""
        metrics = QFontMetricsF(self._state.font)
        natural = [name_px + 2, chip_width(group, metrics), metrics.horizontalAdvance(group.detail)]
        gaps = PADDING_PX * (2 if group.detail else 1)
        return shared_widths(natural, room - gaps, 0.0)

    def _configuration(
        self, painter: QPainter, group: GroupBox, room: QRectF, widths: Sequence[float]
    ) -> None:
        """Paint the chip at the right end, threads and batch before it."""
        chip_px, detail_px = widths
        self._chip(painter, group.chip, room.adjusted(room.width() - chip_px, 0, 0, 0))
        end = -(chip_px + PADDING_PX)
        inside = room.adjusted(room.width() + end - detail_px, 0, end, 0)
        self._write(painter, group.detail, inside, Qt.AlignmentFlag.AlignRight, is_detail=True)

    def _chip(self, painter: QPainter, text: str, room: QRectF) -> None:
        theme, height = self._state.theme, QFontMetricsF(self._state.font).height() + 2
        frame = QRectF(room.left(), room.center().y() - height / 2, room.width(), height)
        painter.setPen(QPen(QColor(theme.muted), 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), _ROUND_PX, _ROUND_PX)
        inside = frame.adjusted(_CHIP_PADDING_PX, 0, -_CHIP_PADDING_PX, 0)
        self._write(painter, text, inside, Qt.AlignmentFlag.AlignHCenter)

    def _write(
        self,
        painter: QPainter,
        text: str,
        room: QRectF,
        side: Qt.AlignmentFlag,
        *,
        is_detail: bool = False,
    ) -> None:
        theme, modes = self._state.theme, Qt.TextElideMode
        painter.setPen(QColor(theme.muted if is_detail else theme.text))
        # The end of a detail may go: "…6 threads" for 96 would lie.
        elide = modes.ElideRight if is_detail else modes.ElideMiddle
        short = QFontMetricsF(self._state.font).elidedText(text, elide, room.width() + 1)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | side, short)
