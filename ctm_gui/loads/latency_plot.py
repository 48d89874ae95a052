"""Plot of the distribution of each stream's latency, with its deadline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPen, QPolygonF

from ctm_gui.widgets.axes import AT_LEFT, ValueAxis, faded
from ctm_gui.widgets.geometry import logs
from ctm_gui.widgets.ordering import FloatArray
from ctm_gui.widgets.plots import PointPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.wording import number, shown
from predictor.services.loads.answers import SHARES, StreamAnswer
from predictor.services.serving.sentences import percent

_BAND_ALPHA, _GROUND_ALPHA = 50, 200
_MARGIN = 0.08  # of the axis across, in powers of ten
_AT_TOP = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft
_LEGEND_PX, _KEY_PX, _NAME_GAP_PX = 16, 22, 14  # of a name: height, its line, to the next one
_MAX_HEADROOM = 0.5
_TICK_PX = 44.0  # numbers of up to four digits
_MAX_CURVES = 8
_ENDLESS = "no limit: a unit has more to do than it can"


class Distribution(NamedTuple):
    """Latencies of a stream, float64 [shares] each, infinite ones NaN, and its deadline in ms."""

    name: str
    low: FloatArray
    median: FloatArray
    high: FloatArray
    deadline_ms: float | None

    @property
    def is_endless(self) -> bool:
        """Whether no share of the items is done in time."""
        return bool(np.isnan(self.median).all())


def distribution_of(answer: StreamAnswer) -> Distribution:
    """Return the latencies of a stream."""
    values = np.array([(b.low, b.median, b.high) for b in answer.distribution_ms], np.float64)
    low, median, high = np.where(np.isfinite(values), values, np.nan).T
    stream = answer.stream
    return Distribution(shown(stream.name), low, median, high, stream.deadline_ms)


class _ShareAxis(ValueAxis):
    """The axis of shares in percent: over 100 there is room for the names of the curves."""

    def tickValues(
        self, low: float, high: float, size: float
    ) -> list[tuple[float | None, list[float]]]:
        """Return the ticks up to 100 %."""
        levels = super().tickValues(low, high, size)
        return [(step, [value for value in values if value <= 100]) for step, values in levels]


class LatencyPlot(PointPlot):
    """A curve a stream over latency, its 80 % interval as a band, its deadline a dashed line.

    The names of the streams stand over the curves.

    Args:
        options: the theme.
    """

    def __init__(self, options: ViewOptions) -> None:
        self._streams: Sequence[Distribution] = ()
        self._current: int | None = None
        axes = {"bottom": ValueAxis("bottom"), "left": _ShareAxis("left")}
        axes["bottom"].label_px = _TICK_PX
        name = "Latencies of the streams and their deadlines"
        super().__init__(options, axes, name, name)
        axes["bottom"].setLogMode(x=True, y=False)
        self.canvas.setLabel("bottom", "Latency (ms)")
        self.canvas.setLabel("left", "Items done (%)")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._box.sigResized.connect(self._fit_names)

    def show_streams(self, answers: Sequence[StreamAnswer]) -> None:
        """Draw other streams, up to eight."""
        self._current = None
        self._streams = [distribution_of(answer) for answer in answers[:_MAX_CURVES]]
        ends = np.concatenate([
            np.zeros(0),
            *(end for stream in self._streams for end in (stream.low, stream.median, stream.high)),
            [stream.deadline_ms for stream in self._streams if stream.deadline_ms],
        ])  # fmt: skip
        places = logs(ends)
        finite = places[np.isfinite(places)]  # an item without stages takes no time
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 2.0)
        across = low - _MARGIN, max(high, low + 0.3) + _MARGIN
        self._box.setRange(xRange=across, padding=0)
        self._fit_names()
        self.setAccessibleDescription("; ".join(map(_sentence, answers)) or "There is no stream.")
        self._item.refresh()

    def _fit_names(self, *_: object) -> None:
        """Leave room for the names over the curves."""
        rect = self._box.rect()
        names = _LEGEND_PX * (1 + self.names_px(rect.width())[-1][1]) if self._streams else 0
        share = min((names + 4) / max(rect.height(), 1.0), _MAX_HEADROOM)
        self._box.setRange(yRange=(-2.0, (102.0 + 2 * share) / (1 - share)), padding=0)

    def names_px(self, width: float) -> list[tuple[float, int, str]]:
        """Return left end, row and text of each name, side by side as far as there is room."""
        metrics = QFontMetricsF(self.font())
        names: list[tuple[float, int, str]] = []
        left, row = 6.0, 0
        for stream in self._streams:
            words = f"{stream.name}: {_ENDLESS}" if stream.is_endless else stream.name
            room = width - _KEY_PX - 12
            text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room)
            needed = _KEY_PX + metrics.horizontalAdvance(text)
            if names and left + needed > width - 6:
                left, row = 6.0, row + 1
            names.append((left, row, text))
            left += needed + _NAME_GAP_PX
        return names

    def points_px(self) -> FloatArray:
        lines = [self._line(stream.median) for stream in self._streams]
        return np.concatenate([np.zeros((0, 2)), *lines])

    def details(self, index: int) -> str:
        place, share = divmod(index, len(SHARES))
        stream = self._streams[place]
        ends = f"{number(stream.low[share])} to {_end(stream.high[share])} ms"
        done = f"{percent(SHARES[share], 1)} of the items within {number(stream.median[share])} ms"
        deadline = (
            "" if stream.deadline_ms is None else f"\nDeadline {number(stream.deadline_ms)} ms"
        )
        return f"{stream.name}\n{done}, 80 % interval {ends}{deadline}"

    def choose(self, index: int | None) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._current = index
        self._item.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right step through the shares of the curves, and say them."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        points = self.points_px()
        if step is None or not len(points):
            super().keyPressEvent(event)
            return
        here = -1 if self._current is None else self._current
        self._current = min(max(here + step, 0), len(points) - 1)
        words = self.details(self._current)
        self.setAccessibleDescription(words.replace("\n", ", "))
        self._item.refresh()

    def _line(self, values: FloatArray) -> FloatArray:
        """Return latencies at all shares in pixels, float64 [shares, 2]."""
        return self._places(logs(values), 100 * np.array(SHARES))

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        if not self._streams:
            return
        self._paint_grid(painter, rect)
        painter.setFont(self.font())
        for place, stream in enumerate(self._streams):
            colour = QColor(self._theme.series[place])
            self._paint_curve(painter, rect, stream, colour)
            self._paint_deadline(painter, rect, stream, place)
        self._paint_legend(painter, rect)
        if self._current is not None:
            self._paint_current(painter, rect, self._current)

    def _paint_curve(
        self, painter: QPainter, rect: QRectF, stream: Distribution, colour: QColor
    ) -> None:
        low, high = self._line(stream.low), self._line(stream.high)
        high[np.isnan(high[:, 0]), 0] = rect.width()  # it has no end
        if not np.isnan(low).any():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(faded(colour, _BAND_ALPHA))
            outline = [*low.tolist(), *reversed(high.tolist())]
            painter.drawPolygon(QPolygonF([QPointF(*point) for point in outline]))
        middle = self._line(stream.median)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1.8))
        points = [QPointF(*point) for point in middle[~np.isnan(middle[:, 0])].tolist()]
        painter.drawPolyline(points)

    def _paint_deadline(
        self, painter: QPainter, rect: QRectF, stream: Distribution, place: int
    ) -> None:
        if stream.deadline_ms is None:
            return
        top_of_line = self._place(math.log10(stream.deadline_ms), 100.0)
        x = top_of_line.x()
        painter.setPen(QPen(QColor(self._theme.series[place]), 1.4, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(x, top_of_line.y(), x, rect.height()))
        text = f"{number(stream.deadline_ms)} ms"
        width = painter.fontMetrics().horizontalAdvance(text) + 6
        left = x - width - 3 if x + width > rect.width() else x + 3
        top = rect.height() - (place + 1) * _LEGEND_PX - 4
        room = QRectF(left, top, width, _LEGEND_PX)
        # It may stand on the band of another stream.
        painter.fillRect(room, faded(self._theme.surface, _GROUND_ALPHA))
        painter.setPen(QColor(self._theme.text))
        painter.drawText(room, AT_LEFT, text)

    def _paint_current(self, painter: QPainter, rect: QRectF, index: int) -> None:
        """Paint the ring around a point, and its words below the names."""
        x, y = self.points_px()[index].tolist()
        self._paint_ring(painter, QPointF(rect.width() if math.isnan(x) else x, y), 0.0)
        top = 4 + _LEGEND_PX * (1 + self.names_px(rect.width())[-1][1])
        painter.setPen(QColor(self._theme.text))
        lines = int(rect.height()) - top
        flags = _AT_TOP | Qt.TextFlag.TextWordWrap
        painter.drawText(QRectF(6, top, rect.width() - 12, lines), flags, self.details(index))

    def _paint_legend(self, painter: QPainter, rect: QRectF) -> None:
        for place, (left, row, text) in enumerate(self.names_px(rect.width())):
            middle = 2 + (row + 0.5) * _LEGEND_PX
            painter.setPen(QPen(QColor(self._theme.series[place]), 3.0))
            painter.drawLine(QLineF(left, middle, left + _LEGEND_PX, middle))
            painter.setPen(QColor(self._theme.text))
            room = QRectF(left + _KEY_PX, middle - _LEGEND_PX / 2, rect.width(), _LEGEND_PX)
            painter.drawText(room, AT_LEFT, text)


def _end(value: float) -> str:
    return "∞" if math.isnan(value) else number(value)


def _sentence(answer: StreamAnswer) -> str:
    stream = answer.stream
    ends = (answer.p50_ms, answer.p90_ms, answer.p99_ms)
    values = "/".join("∞" if math.isinf(end.median) else number(end.median) for end in ends)
    deadline = "" if stream.deadline_ms is None else f", deadline {number(stream.deadline_ms)} ms"
    return f"{shown(stream.name)}: {values} ms (P50/P90/P99){deadline}"
