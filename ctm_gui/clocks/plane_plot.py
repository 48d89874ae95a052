"""Latency over two clocks as a heat map, over one as a curve, with budget and chosen clocks."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen

from ctm_gui.attention.map_items import heat_table
from ctm_gui.clocks.plane import Plane, contour
from ctm_gui.widgets.ordering import FloatArray
from ctm_gui.widgets.plots import RING_PX, PointPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.text import capitalised
from predictor.devices.operating import DOMAINS
from predictor.presentation.columns import axis_title
from predictor.presentation.wording import batch_of, interval_ms, latency_text, number

_RADIUS_PX = 5.0
_HEADROOM = 1.05  # over a curve
_RIGHT_MARGIN = 0.02  # of the width, at the right of a curve
_LEVELS = 5  # latencies that are written into the map


class PlanePlot(PointPlot):
    """Latency over two clocks, where light is fast; over the clock of a device that has one.

    Signals:
        clocks_chosen: the user clicked a place: MHz across, MHz upwards.

    Args:
        options: unit, budget and theme.
    """

    clocks_chosen = Signal(float, float)

    def __init__(self, options: ViewOptions) -> None:
        self._plane: Plane | None = None
        self._labels: list[QRectF] = []  # those of this painting
        name = "Latency over the clocks"
        super().__init__(options, {}, name, name)
        options.budget_changed.connect(self._item.refresh)

    def show_plane(self, plane: Plane | None) -> None:
        """Show another plane."""
        self._plane = plane
        if plane is not None:
            for side, domain in (("bottom", plane.across), ("left", plane.up)):
                title = f"{capitalised(DOMAINS[domain])} clock (MHz)" if domain else ""
                self.canvas.setLabel(side, title or axis_title(self._options.unit))
            # A curve begins at zero: its height is the latency.
            upwards = plane.rows if plane.up else [0.0, self._curve(plane).max() * _HEADROOM]
            ends = [
                (values[0], max(values[-1], values[0] + 1e-9))
                for values in (plane.columns, upwards)
            ]
            if not plane.up:  # beside the last clock there is room for the mark of the default
                ends[0] = ends[0][0], ends[0][1] + _RIGHT_MARGIN * (ends[0][1] - ends[0][0])
            self._box.setRange(xRange=ends[0], yRange=ends[1], padding=0)
            low, high = plane.latency_ms.min(), plane.latency_ms.max()
            self.setAccessibleDescription(f"{number(low)} to {number(high)} ms")
        self._item.refresh()

    def choose_at(self, point: QPointF) -> None:
        place = self._mhz(point)
        if place is not None:
            self.clocks_chosen.emit(*place)

    def tooltip_at(self, point: QPointF) -> str:
        """Return clocks and latency at a point of the canvas, plain text."""
        place, plane = self._mhz(point), self._plane
        if place is None or plane is None:
            return ""
        column = int(np.abs(plane.columns - place[0]).argmin())
        row = int(np.abs(plane.rows - place[1]).argmin())
        parts = [f"{DOMAINS[plane.across]} {number(plane.columns[column], 4)} MHz"]
        if plane.up:
            parts.append(f"{DOMAINS[plane.up]} {number(plane.rows[row], 4)} MHz")
        return f"{', '.join(parts)}\n{self._text(plane.latency_ms[row, column])}"

    def _text(self, latency_ms: float) -> str:
        plane = self._plane
        batch = 1 if plane is None else batch_of(plane.clocked.prediction.configuration)
        return latency_text(latency_ms, self._options.unit, batch)

    def _mhz(self, point: QPointF) -> tuple[float, float] | None:
        """Return the clocks at a point of the canvas; None outside the map."""
        x_px, y_px = self._inside(point)
        rect = self._box.rect()
        if self._plane is None or not (0 <= x_px <= rect.width() and 0 <= y_px <= rect.height()):
            return None
        (left, right), (bottom, top) = self._box.viewRange()
        x = left + (right - left) * x_px / rect.width()
        return x, top - (top - bottom) * y_px / rect.height()

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        plane = self._plane
        if plane is None:
            return
        painter.setFont(self.font())
        self._labels = []
        if not plane.up:
            self._paint_curve(painter, rect, plane)
            return
        self._paint_cells(painter, rect, plane)
        budget_ms = self._options.budget_ms
        if budget_ms is not None:
            self._paint_contour(painter, rect, plane, budget_ms, budget=True)
        self._paint_levels(painter, rect, plane)
        clocks = plane.clocked.clocks
        centre = self._place(getattr(clocks, plane.across), getattr(clocks, plane.up))
        self._paint_chosen(painter, self._in_map(centre, rect))

    @staticmethod
    def _in_map(centre: QPointF, rect: QRectF) -> QPointF:
        """Return a mark's place moved inwards: at the edge, where default clocks lie, it is cut."""
        room = _RADIUS_PX + RING_PX + 1
        x_px = min(max(centre.x(), room), rect.width() - room)
        return QPointF(x_px, min(max(centre.y(), room), rect.height() - room))

    def _curve(self, plane: Plane) -> FloatArray:
        """Return the latency over the only clock in the unit, float64 [C]."""
        unit, batch = self._options.unit, batch_of(plane.clocked.prediction.configuration)
        return np.array([unit.from_ms(ms, batch) for ms in plane.latency_ms[0].tolist()])

    def _paint_curve(self, painter: QPainter, rect: QRectF, plane: Plane) -> None:
        """Paint the latency over the only clock, the budget as a line, the chosen clock."""
        self._paint_grid(painter, rect)
        pairs = zip(plane.columns.tolist(), self._curve(plane).tolist(), strict=True)
        painter.setPen(QPen(QColor(self._theme.series[0]), 2.0))
        painter.drawPolyline([self._place(x, y) for x, y in pairs])
        prediction = plane.clocked.prediction
        batch = batch_of(prediction.configuration)
        unit, budget_ms = self._options.unit, self._options.budget_ms
        if budget_ms is not None:
            y = self._place(0.0, unit.from_ms(budget_ms, batch)).y()
            if 0 <= y <= rect.height():
                line = QLineF(0, y, rect.width(), y)
                self._paint_level(painter, rect, [line], budget_ms, budget=True)
        x, interval = getattr(plane.clocked.clocks, plane.across), interval_ms(prediction)
        painter.setPen(QPen(QColor(self._theme.series[0]), 1.4))
        ends = [self._place(x, unit.from_ms(ms, batch)) for ms in interval if ms is not None]
        painter.drawPolyline([self._in_map(end, rect) for end in ends])
        if prediction.latency_ms is not None:
            centre = self._place(x, unit.from_ms(prediction.latency_ms, batch))
            self._paint_chosen(painter, self._in_map(centre, rect))

    def _paint_cells(self, painter: QPainter, rect: QRectF, plane: Plane) -> None:
        logs = np.log(plane.latency_ms)
        span = max(float(logs.max() - logs.min()), 1e-9)
        shades = (255 * (logs - logs.min()) / span).astype(int)
        table = heat_table(self._theme)
        rows, columns = logs.shape
        width, height = rect.width() / columns, rect.height() / rows
        # Sharp edges: between smooth ones the surface would show as a grid.
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        for row in range(rows):
            top = rect.height() - (row + 1) * height
            for column in range(columns):
                red, green, blue = table[shades[row, column]][:3].tolist()
                cell = QRectF(column * width, top, width + 1, height + 1)
                painter.fillRect(cell, QColor(red, green, blue))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)

    def _paint_levels(self, painter: QPainter, rect: QRectF, plane: Plane) -> None:
        low, high = float(plane.latency_ms.min()), float(plane.latency_ms.max())
        for level in np.geomspace(low, max(high, low * 1.001), _LEVELS + 2)[1:-1].tolist():
            self._paint_contour(painter, rect, plane, level, budget=False)

    def _paint_contour(
        self, painter: QPainter, rect: QRectF, plane: Plane, level_ms: float, *, budget: bool
    ) -> None:
        """Paint the line of a latency with its number beside, where it is in the map."""
        ends = contour(plane, level_ms)
        lines = [QLineF(self._place(a, b), self._place(c, d)) for a, b, c, d in ends]
        if lines:
            self._paint_level(painter, rect, lines, level_ms, budget=budget)

    def _paint_level(
        self, painter: QPainter, rect: QRectF, lines: list[QLineF], level_ms: float, *, budget: bool
    ) -> None:
        """Paint lines of one latency and its number."""
        colour = QColor(self._theme.bad if budget else self._theme.muted)
        style = Qt.PenStyle.DashLine if budget else Qt.PenStyle.SolidLine
        painter.setPen(QPen(colour, 2.4 if budget else 1.0, style))
        painter.drawLines(lines)
        text = self._text(level_ms)
        size = painter.fontMetrics().boundingRect(text).size()
        # The budget at the lower end of its line, the others at the upper.
        ends = [line.p1() for line in lines]
        at = max(ends, key=lambda p: p.y()) if budget else min(ends, key=lambda p: p.y())
        box = QRectF(at.x() + 3, at.y() + (-18 if budget else 3), size.width() + 8, 16)
        box.moveRight(min(box.right(), rect.width() - 2))
        box.moveBottom(min(box.bottom(), rect.height() - 2))
        if any(box.intersects(other) for other in self._labels):
            return
        self._labels.append(box)
        painter.fillRect(box, QColor(self._theme.surface))
        painter.setPen(QColor(self._theme.bad if budget else self._theme.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_chosen(self, painter: QPainter, centre: QPointF) -> None:
        painter.setPen(QPen(QColor(self._theme.surface), 2.0))
        painter.setBrush(QColor(self._theme.accent))
        painter.drawEllipse(centre, _RADIUS_PX, _RADIUS_PX)
        self._paint_ring(painter, centre, _RADIUS_PX)
