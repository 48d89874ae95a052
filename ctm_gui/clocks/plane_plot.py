"""The heat map of latency over two clocks, with the budget's contour and the chosen clocks."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from ctm_gui.attention.map_items import heat_table
from ctm_gui.clocks.plane import Plane, contour
from ctm_gui.widgets.plots import RING_PX, PointPlot
from predictor.core.units import LatencyUnit
from predictor.core.wording import batch_of, latency_text, number
from predictor.services.prediction.clocks import DOMAINS

_RADIUS_PX = 5.0
_LEVELS = 5  # latencies that are written into the map


class PlanePlot(PointPlot):
    """Latency over two clocks; light is fast.

    Signals:
        clocks_chosen: the user clicked a place: MHz across, MHz upwards.
    """

    clocks_chosen = Signal(float, float)

    def __init__(self, parent: QWidget | None = None) -> None:
        self._plane: Plane | None = None
        self._budget_ms: float | None = None
        self._labels: list[QRectF] = []  # those of this painting
        self._unit = LatencyUnit.MS
        name = "Latency over the clocks"
        super().__init__({}, name, name, parent)

    def show_plane(self, plane: Plane | None) -> None:
        """Show another plane."""
        self._plane = plane
        if plane is not None:
            plot = self.canvas.getPlotItem()
            for side, domain in (("bottom", plane.across), ("left", plane.up)):
                name = DOMAINS.get(domain, "")
                plot.setLabel(side, f"{name[:1].upper()}{name[1:]} clock (MHz)" if name else "")
                plot.getAxis(side).enableAutoSIPrefix(False)
                plot.getAxis(side).setStyle(showValues=bool(domain))
            ends = [
                (values[0], max(values[-1], values[0] + 1))
                for values in (plane.columns, plane.rows)
            ]
            self._box.setRange(xRange=ends[0], yRange=ends[1], padding=0)
            low, high = plane.latency_ms.min(), plane.latency_ms.max()
            self.setAccessibleDescription(f"{number(low)} to {number(high)} ms")
        self._item.refresh()

    def set_budget_ms(self, budget_ms: float | None) -> None:
        """Show the budget's contour."""
        self._budget_ms = budget_ms
        self._item.refresh()

    def set_unit(self, unit: LatencyUnit) -> None:
        """Write latencies in ``unit``."""
        self._unit = unit
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
        return latency_text(latency_ms, self._unit, batch)

    def _mhz(self, point: QPointF) -> tuple[float, float] | None:
        """Return the clocks at a point of the canvas; None outside the map."""
        x_px, y_px = self._inside(point)
        rect = self._box.rect()
        if self._plane is None or not (0 <= x_px <= rect.width() and 0 <= y_px <= rect.height()):
            return None
        (left, right), (bottom, top) = self._box.viewRange()
        x = left + (right - left) * x_px / rect.width()
        return x, top - (top - bottom) * y_px / rect.height()

    def _place(self, x: float, y: float) -> QPointF:
        (left, right), (bottom, top) = self._box.viewRange()
        rect = self._box.rect()
        return QPointF(
            (x - left) / (right - left) * rect.width(),
            (top - y) / (top - bottom) * rect.height(),
        )

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        plane = self._plane
        if plane is None:
            return
        painter.setFont(self.font())
        self._labels = []
        self._paint_cells(painter, rect, plane)
        if self._budget_ms is not None:
            self._paint_contour(painter, rect, plane, self._budget_ms, budget=True)
        self._paint_levels(painter, rect, plane)
        clocks = plane.clocked.clocks
        y = getattr(clocks, plane.up) if plane.up else (plane.rows[0] + 0.5)
        centre = self._place(getattr(clocks, plane.across), y)
        # At the edge, where default clocks lie, it would be cut off.
        room = _RADIUS_PX + RING_PX + 1
        x_px = min(max(centre.x(), room), rect.width() - room)
        y_px = min(max(centre.y(), room), rect.height() - room)
        self._paint_chosen(painter, QPointF(x_px, y_px))

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
        lines = self._lines(plane, level_ms)
        if not lines:
            return
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

    def _lines(self, plane: Plane, level_ms: float) -> list[QLineF]:
        if len(plane.rows) > 1:
            ends = contour(plane, level_ms)
            return [QLineF(self._place(a, b), self._place(c, d)) for a, b, c, d in ends]
        row = plane.latency_ms[0]
        if not row.min() < level_ms < row.max():
            return []
        x = float(np.interp(-level_ms, -row, plane.columns))  # latency falls along the axis
        across = self._place(x, plane.rows[0]).x()
        return [] if math.isnan(across) else [QLineF(across, 0, across, self._box.rect().height())]

    def _paint_chosen(self, painter: QPainter, centre: QPointF) -> None:
        painter.setPen(QPen(QColor(self._theme.surface), 2.0))
        painter.setBrush(QColor(self._theme.accent))
        painter.drawEllipse(centre, _RADIUS_PX, _RADIUS_PX)
        self._paint_ring(painter, centre, _RADIUS_PX)
