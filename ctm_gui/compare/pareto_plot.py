"""The plot of latency against score: the front as steps, dominated models pale."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPen

from ctm_gui.compare.pareto import TradeOff, axis_ranges, point_details
from ctm_gui.widgets.axes import ValueAxis, faded, show_axes
from ctm_gui.widgets.geometry import logs
from ctm_gui.widgets.ordering import FloatArray
from ctm_gui.widgets.plots import PointPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.columns import axis_title
from predictor.presentation.wording import model_name

_RADIUS_PX = 5.5
_LABEL_GAP_PX = 9.0
_DIMMED = 90


class ParetoPlot(PointPlot):
    """Points of models; those on the front joined by steps.

    Signals:
        model_chosen: the user clicked a point, or came to it by Left or Right: its model's index.
    """

    model_chosen = Signal(int)
    reach_px = 14.0

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
        show_axes(self.canvas, has_data=bool(points.is_placed.any()))
        self.canvas.setLabel("bottom", axis_title(points.unit))
        self.canvas.setLabel("left", points.score_name)
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

    def points_px(self) -> FloatArray:
        points = self._points
        return np.zeros((0, 2)) if points is None else self._px(points.values, points.scores)

    def choose(self, index: int | None) -> None:
        if index is not None:
            self.model_chosen.emit(index)

    def details(self, index: int) -> str:
        return "" if self._points is None else point_details(self._points, index)

    def _set_ranges(self) -> None:
        if self._points is None:
            return
        across, up = axis_ranges(self._points, log=self._log)
        self._box.setRange(xRange=across, yRange=up, padding=0)
        self._item.refresh()

    def _px(self, values: FloatArray, scores: FloatArray) -> FloatArray:
        return self._places(logs(values) if self._log else values, scores)

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        points = self._points
        if points is None or not points.is_placed.any():
            return
        painter.setFont(self.font())
        self._paint_grid(painter, rect)
        budget = self._px(np.array([points.budget or math.nan]), np.zeros(1))[0, 0]
        if 0 <= budget <= rect.width():
            painter.setPen(QPen(QColor(self._theme.bad), 2.0, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(budget, 0, budget, rect.height()))
        steps = [QPointF(*place) for place in self._px(*points.front_path()).tolist()]
        painter.setPen(QPen(QColor(self._theme.series[0]), 1.6))
        painter.drawPolyline(steps)
        centres = [QPointF(*place) for place in self.points_px().tolist()]
        whiskers = self._whiskers(points)
        placed = np.flatnonzero(points.is_placed).tolist()
        # The front last, so that pale points never cover it.
        for model in sorted(placed, key=lambda m: bool(points.front[m])):
            on_front = bool(points.front[model])
            if model == self._current:
                self._paint_ring(painter, centres[model], _RADIUS_PX)
            self._paint_point(painter, centres[model], whiskers[model], on_front=on_front)
        # Points count as taken as well: a name must not cover another point.
        lines = _segments(steps, *(whiskers[model] for model in placed))
        self._paint_labels(
            painter, rect, points, {model: centres[model] for model in placed}, lines
        )

    def _whiskers(self, points: TradeOff) -> list[list[QPointF]]:
        """Return the ends of each model's interval, none where it has no interval."""
        lows, highs = (self._px(x, points.scores).tolist() for x in (points.lows, points.highs))
        return [
            [] if math.isnan(low[0] + high[0]) else [QPointF(*low), QPointF(*high)]
            for low, high in zip(lows, highs, strict=True)
        ]

    def _paint_point(
        self, painter: QPainter, centre: QPointF, whisker: list[QPointF], *, on_front: bool
    ) -> None:
        colour = QColor(self._theme.series[0]) if on_front else faded(self._theme.muted, _DIMMED)
        painter.setPen(QPen(faded(colour, _DIMMED), 1.4))
        painter.drawPolyline(whisker)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(centre, _RADIUS_PX, _RADIUS_PX)

    def _paint_labels(
        self,
        painter: QPainter,
        rect: QRectF,
        points: TradeOff,
        centres: Mapping[int, QPointF],
        lines: list[QRectF],
    ) -> None:
        """Write names where there is room, those of the front first; tooltips have the others."""
        reach = QPointF(_RADIUS_PX, _RADIUS_PX)
        occupied = [QRectF(centre - reach, centre + reach) for centre in centres.values()]
        metrics = QFontMetricsF(self.font())
        for model in sorted(centres, key=lambda m: not points.front[m]):
            name, point = model_name(points.labels[model]), centres[model]
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
        self, text: str, rect: QRectF, point: QPointF, occupied: list[QRectF]
    ) -> QRectF | None:
        metrics = QFontMetricsF(self.font())
        width, height = metrics.horizontalAdvance(text) + 2, metrics.height()
        x, y = point.x(), point.y()
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


def _segments(*lines: list[QPointF]) -> list[QRectF]:
    """Return the room of each piece of lines."""
    pieces = [QRectF(*ends).normalized() for line in lines for ends in pairwise(line)]
    return [piece.adjusted(-1, -1, 1, 1) for piece in pieces]
