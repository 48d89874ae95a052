"""The plot of latency against score: the front as steps, dominated models pale."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPen

from ctm_gui.compare.pareto import TradeOff, axis_ranges, point_details
from ctm_gui.widgets.axes import ValueAxis, faded
from ctm_gui.widgets.geometry import nearest_point
from ctm_gui.widgets.plots import PointPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.columns import axis_title
from predictor.presentation.wording import model_name

_RADIUS_PX = 5.5
_REACH_PX = 14.0
_LABEL_GAP_PX = 9.0
_DIMMED = 90


class ParetoPlot(PointPlot):
    """Points of models; those on the front joined by steps.

    Signals:
        model_chosen: the user clicked a point, or came to it by Left or Right: its model's index.
    """

    model_chosen = Signal(int)

    def __init__(self, options: ViewOptions) -> None:
        self._points: TradeOff | None = None
        self._log = False
        self._current: int | None = None
        self._value_axis = ValueAxis("bottom")
        name = "Latency against score"
        super().__init__(options, {"bottom": self._value_axis}, name, name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_trade_off(self, points: TradeOff) -> None:
        """Show other points."""
        self._points = points
        plot = self.canvas.getPlotItem()
        plot.setLabel("bottom", axis_title(points.unit))
        plot.setLabel("left", points.score_name)
        plot.getAxis("left").enableAutoSIPrefix(False)
        plot.getAxis("bottom").enableAutoSIPrefix(False)
        placed = int(points.is_placed.sum())
        self.setAccessibleDescription(f"{placed} models; the table beside it says the same.")
        self._set_ranges()

    def set_log(self, *, log: bool) -> None:
        """Use a logarithmic axis of latency, or a linear one."""
        self._log = log
        self._value_axis.setLogMode(x=log)
        self._set_ranges()

    def select(self, model: int | None) -> None:
        """Mark a model's point."""
        self._current = model
        self._item.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right go to the next faster and slower model."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        placed = [] if self._points is None else np.flatnonzero(self._points.is_placed).tolist()
        if not step or self._points is None or not placed:
            super().keyPressEvent(event)
            return
        placed.sort(key=self._points.values.__getitem__)
        here = placed.index(self._current) + step if self._current in placed else 0
        self.model_chosen.emit(placed[min(max(here, 0), len(placed) - 1)])

    def model_at(self, point: QPointF) -> int | None:
        """Return the model near a point of the canvas, None where there is none."""
        if self._points is None:
            return None
        pixels = np.array([self._pixel(m) for m in range(len(self._points.labels))])
        return nearest_point(pixels, self._inside(point), _REACH_PX)

    def choose_at(self, point: QPointF) -> None:
        model = self.model_at(point)
        if model is not None:
            self.model_chosen.emit(model)

    def tooltip_at(self, point: QPointF) -> str:
        """Return the tooltip of a point of the canvas, plain text."""
        model = self.model_at(point)
        return "" if model is None or self._points is None else point_details(self._points, model)

    def _set_ranges(self) -> None:
        if self._points is None:
            return
        across, up = axis_ranges(self._points, log=self._log)
        self._box.setRange(xRange=across, yRange=up, padding=0)
        self._item.refresh()

    def _pixel(self, model: int) -> tuple[float, float]:
        if self._points is None:
            return math.nan, math.nan
        return self._x(self._points.values[model]), self._y(self._points.scores[model])

    def _x(self, value: float) -> float:
        (left, right), _ = self._box.viewRange()
        place = value
        if self._log:
            place = math.log10(value) if value > 0 else math.nan
        return float((place - left) / (right - left) * self._box.rect().width())

    def _y(self, score: float) -> float:
        _, (bottom, top) = self._box.viewRange()
        return float((top - score) / (top - bottom) * self._box.rect().height())

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        points = self._points
        if points is None:
            return
        painter.setFont(self.font())
        self._paint_grid(painter, rect)
        self._paint_budget(painter, rect, points)
        self._paint_front(painter, points)
        placed = np.flatnonzero(points.is_placed).tolist()
        # The front last, so that pale points never cover it.
        for model in sorted(placed, key=lambda m: bool(points.front[m])):
            self._paint_point(painter, points, model)
        self._paint_labels(painter, rect, points, placed)

    def _paint_budget(self, painter: QPainter, rect: QRectF, points: TradeOff) -> None:
        x = self._x(points.budget) if points.budget else math.nan
        if 0 <= x <= rect.width():
            painter.setPen(QPen(QColor(self._theme.bad), 2.0, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(x, 0, x, rect.height()))

    def _paint_front(self, painter: QPainter, points: TradeOff) -> None:
        painter.setPen(QPen(QColor(self._theme.series[0]), 1.6))
        painter.drawPolyline(self._steps(points))

    def _steps(self, points: TradeOff) -> list[QPointF]:
        values, scores = points.front_path()
        pairs = zip(values.tolist(), scores.tolist(), strict=True)
        return [QPointF(self._x(value), self._y(score)) for value, score in pairs]

    def _paint_point(self, painter: QPainter, points: TradeOff, model: int) -> None:
        x, y = self._pixel(model)
        colour = QColor(self._theme.series[0] if points.front[model] else self._theme.muted)
        if not points.front[model]:
            colour.setAlpha(_DIMMED)
        for whisker in self._whisker(points, model):
            painter.setPen(QPen(faded(colour, _DIMMED), 1.4))
            painter.drawLine(whisker)
        if model == self._current:
            self._paint_ring(painter, QPointF(x, y), _RADIUS_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(QPointF(x, y), _RADIUS_PX, _RADIUS_PX)

    def _whisker(self, points: TradeOff, model: int) -> list[QLineF]:
        """Return the line of a model's interval, none where it has no interval."""
        low, high = self._x(points.lows[model]), self._x(points.highs[model])
        y = self._y(points.scores[model])
        return [] if math.isnan(low + high) else [QLineF(low, y, high, y)]

    def _paint_labels(
        self, painter: QPainter, rect: QRectF, points: TradeOff, placed: list[int]
    ) -> None:
        """Write names where there is room, those of the front first; tooltips have the others."""
        # Points count as taken as well: a name must not cover another point.
        occupied = [_around(*self._pixel(model)) for model in placed]
        lines = _segments(self._steps(points))
        for model in placed:
            lines += _segments(
                [end for w in self._whisker(points, model) for end in (w.p1(), w.p2())]
            )
        metrics = QFontMetricsF(self.font())
        for model in sorted(placed, key=lambda m: not points.front[m]):
            name, point = model_name(points.labels[model]), self._pixel(model)
            short = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, rect.width() / 3)
            # Rather across a line than not at all, and rather in part.
            tries = ((name, occupied + lines), (name, occupied), (short, occupied))
            rooms = ((text, self._room(text, rect, point, obstacles)) for text, obstacles in tries)
            text, room = next((pair for pair in rooms if pair[1] is not None), ("", None))
            if room is None:
                continue
            occupied.append(room)
            painter.fillRect(room, QColor(self._theme.surface))
            on_front = bool(points.front[model])
            painter.setPen(QColor(self._theme.text if on_front else self._theme.muted))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)

    def _room(
        self, text: str, rect: QRectF, point: tuple[float, float], occupied: list[QRectF]
    ) -> QRectF | None:
        metrics = QFontMetricsF(self.font())
        width, height = metrics.horizontalAdvance(text) + 2, metrics.height()
        x, y = point
        gap, small_gap_px = _LABEL_GAP_PX, _LABEL_GAP_PX / 2
        for left, top in (
            (x + gap, y - height / 2),
            (x + small_gap_px, y + small_gap_px),
            (x + small_gap_px, y - small_gap_px - height),
            (x - gap - width, y - height / 2),
            (x - width / 2, y + gap),
            (x - width / 2, y - gap - height),
        ):
            room = QRectF(left, top, width, height)
            if rect.contains(room) and not any(room.intersects(other) for other in occupied):
                return room
        return None


def _around(x: float, y: float) -> QRectF:
    return QRectF(x - _RADIUS_PX, y - _RADIUS_PX, 2 * _RADIUS_PX, 2 * _RADIUS_PX)


def _segments(points: list[QPointF]) -> list[QRectF]:
    """Return the room of each piece of a line of steps."""
    pieces = [QRectF(start, end).normalized() for start, end in pairwise(points)]
    return [piece.adjusted(-1, -1, 1, 1) for piece in pieces]
