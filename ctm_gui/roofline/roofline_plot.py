"""The plot of the roofline: roofs as lines with their names, operators as points."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPen,
    QPolygonF,
    QResizeEvent,
    QTransform,
)

from ctm_gui.roofline.legend_items import TargetNames
from ctm_gui.roofline.points import (
    GAP_PX,
    Crowd,
    RoofLine,
    RooflinePoints,
    label_places,
)
from ctm_gui.roofline.points_plot import PointsPicture, diameter
from ctm_gui.widgets.axes import ValueAxis, faded
from ctm_gui.widgets.ordering import FloatArray, IndexArray
from ctm_gui.widgets.plots import PointPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.units import format_count
from predictor.services.prediction.explain import BOUND_TYPES
from predictor.services.prediction.roofline import MEASURED

_ROOF_REACH_PX = 5.0
_FIRST_TARGET_SERIES = 3  # series before it are those of what binds
_LEGEND_GAP_PX = 16.0
_MAX_RINGS = 200
_NO_MACS = "no multiplications"


@dataclass(frozen=True, slots=True)
class _Labels:
    """Where the names of roofs are: looked for once for the same points and scale."""

    key: tuple[object, ...]
    places: tuple[tuple[RoofLine, QTransform], ...]


_NO_LABELS = _Labels((), ())


class RooflinePlot(PointPlot):
    """Operators under the roofs; a click chooses one, Left and Right step through them.

    Signals:
        operator_chosen: the user chose an operator: its index.

    Args:
        options: unit and theme.
    """

    operator_chosen = Signal(int)
    reach_px = 12.0

    def __init__(self, options: ViewOptions) -> None:
        self._points: RooflinePoints | None = None
        self._selected = np.zeros(0, dtype=np.intp)
        self._current: int | None = None
        self._labels = _NO_LABELS
        self._saving = False
        axes = {side: ValueAxis(side, format_count) for side in ("bottom", "left")}
        self._names = TargetNames(options, self._colour)
        super().__init__(options, axes | {"top": self._names}, "Roofline", "Roofline")
        self.picture = PointsPicture(options, self)
        self.picture.grown.connect(self._item.refresh)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for axis in axes.values():
            axis.setLogMode(x=True, y=True)

    def show_points(self, points: RooflinePoints | None) -> None:
        """Show other operators; None lets go of them."""
        self._points = points
        self._selected, self._current = np.zeros(0, dtype=np.intp), None
        if points is not None:
            self.canvas.setLabel("bottom", f"{points.operation} a byte")
            self.canvas.setLabel("left", f"{points.operation}/s")
            self.canvas.getAxis("bottom").end = points.axis_end
            self._box.setRange(xRange=points.x_range, yRange=points.y_range, padding=0)
            count = int(points.is_placed.sum())
            self.setAccessibleDescription(f"{count} operators; the table says the same.")
        else:
            self.picture.clear()
            self._labels = _NO_LABELS  # they hold the operators
        self._show_names()
        self._item.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_names()

    def _show_names(self) -> None:
        names = () if self._points is None else self._points.names
        self._names.show_names(names, self._box.rect().width())

    @property
    def has_points(self) -> bool:
        """Whether there is anything to save."""
        return self._points is not None

    def select(self, operators: IndexArray, current: int | None) -> None:
        """Mark operators, intp [K], and the one with the cursor."""
        self._selected, self._current = operators, current
        self._item.refresh()

    def save(self, path: Path) -> None:
        """Save the plot as SVG or PNG by the path's ending.

        Raises:
            HostError: the file cannot be written.
        """
        self._saving = True
        try:
            super().save(path)
        finally:
            self._saving = False

    def points_px(self) -> FloatArray:
        points = self._points
        return np.zeros((0, 2)) if points is None else self._places(points.x, points.y)

    def choose(self, index: int | None) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if index is not None:
            self.operator_chosen.emit(index)

    def details(self, index: int) -> str:
        return "" if self._points is None else self._points.details(index, self._options.unit)

    def tooltip_at(self, point: QPointF) -> str:
        """Return the tooltip at a place of the canvas: of the operator there, or else the roof."""
        words = super().tooltip_at(point)
        if words or self._points is None:
            return words
        line = self._line_at(self._points, QPointF(*self._inside(point)))
        return "" if line is None else self._points.line_details(line)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right step through the operators in their order, Home and End to the ends."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        points, key = self._points, Qt.Key(event.key())
        placed = np.flatnonzero(points.is_placed if points is not None else ())
        if not placed.size or key not in {*steps, Qt.Key.Key_Home, Qt.Key.Key_End}:
            super().keyPressEvent(event)
            return
        here = -1 if self._current is None else int(np.searchsorted(placed, self._current))
        place = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: placed.size - 1}.get(key)
        if place is None:
            place = min(max(here + steps[key], 0), placed.size - 1)
        self.operator_chosen.emit(int(placed[place]))

    def line_px(self, line: RoofLine) -> QLineF:
        """Return a roof in pixels of the box."""
        ends = [self._place(x, y) for x, y in zip(line.x, line.y, strict=True)]
        return QLineF(*ends)

    def _line_at(self, points: RooflinePoints, at: QPointF) -> RoofLine | None:
        for line in points.lines:
            px = self.line_px(line)
            if not px.length() or not px.x1() <= at.x() <= px.x2():
                continue
            along = (at.x() - px.x1()) / max(px.dx(), 1e-9)
            if abs(px.pointAt(along).y() - at.y()) <= _ROOF_REACH_PX:
                return line
        return None

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        points = self._points
        if points is None:
            return
        painter.setFont(self.font())
        self._paint_grid(painter, rect)
        for line in reversed(points.lines):
            painter.setPen(self._pen(line))
            painter.drawLine(self.line_px(line))
        if points.memory_extension is not None:
            painter.setPen(QPen(self._colour(0), 1.2, Qt.PenStyle.DotLine))
            painter.drawLine(QLineF(*(self._place(*end) for end in points.memory_extension)))
        self._paint_lane(painter, rect, points)
        self._paint_labels(painter, rect, points)
        # Last: a name can be read beside a point, a point not under a name.
        if self._saving:
            self.picture.paint_shapes(painter, points, self.points_px())
        else:
            self.picture.paint(painter, rect, points, self._scale, self.points_px)
        self._paint_selection(painter, points)
        self._paint_legend(painter, points)

    def _pen(self, line: RoofLine) -> QPen:
        pen = QPen(self._colour(line.target), 1.6 if line.target == 0 else 1.2)
        if line.roof.origin == MEASURED:
            pen.setStyle(Qt.PenStyle.DashDotLine)
        return pen

    def _colour(self, target: int) -> QColor:
        if target == 0:
            return QColor(self._theme.text)
        series = self._theme.series[_FIRST_TARGET_SERIES:]
        return QColor(series[(target - 1) % len(series)])

    @property
    def _scale(self) -> tuple[object, ...]:
        """What places depend on beside the size of the plot."""
        return tuple(map(tuple, self._box.viewRange()))

    def _paint_selection(self, painter: QPainter, points: RooflinePoints) -> None:
        painter.setPen(QPen(QColor(self._theme.accent), 2.0))
        self._paint_reach(painter, points)
        chosen = self._selected[points.is_placed[self._selected]]
        if self._current is not None and points.is_placed[self._current]:
            chosen = np.append(chosen, self._current)
        # The whole model may be selected; a ring around each would hide the plot.
        chosen = chosen[-_MAX_RINGS:]
        pixels = self._places(points.x[chosen], points.y[chosen])
        for place, size in zip(pixels.tolist(), points.size[chosen].tolist(), strict=True):
            self._paint_ring(painter, QPointF(*place), diameter(size) / 2)

    def _paint_labels(self, painter: QPainter, rect: QRectF, points: RooflinePoints) -> None:
        """Name the roofs of the explained target; those of others are in the legend."""
        key = (points, self._scale, rect.width(), rect.height(), self.font().key())
        if key != self._labels.key:
            self._labels = self._labelled(key, rect, points)
        metrics = QFontMetricsF(self.font())
        for line, place in self._labels.places:
            room = QRectF(QPointF(0, 0), metrics.size(0, line.label))
            painter.save()
            painter.setTransform(place, combine=True)
            painter.fillRect(room, faded(self._theme.surface, 220))
            painter.setPen(QColor(self._theme.text))
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, line.label)
            painter.restore()

    def _labelled(self, key: tuple[object, ...], rect: QRectF, points: RooflinePoints) -> _Labels:
        """Find places for the names where few points and roofs are."""
        metrics, lines = QFontMetricsF(self.font()), [self.line_px(x) for x in points.lines]
        crowd = Crowd(self.points_px(), lines)
        rooms = self._lane_room(rect, points), self._bounds_room(points)
        occupied = [QPolygonF(room) for room in rooms]
        labels = []
        for line, px in zip(points.lines, lines, strict=True):
            if line.target:
                continue
            room = QRectF(QPointF(0, 0), metrics.size(0, line.label))
            places = (
                place
                for place in label_places(line, px, room)
                # One that is cut, or lies on another, cannot be read.
                if rect.contains(place.mapRect(room))
                and not any(place.map(QPolygonF(room)).intersects(other) for other in occupied)
            )
            best = crowd.freest(room, places)
            if best is not None:
                occupied.append(best.map(QPolygonF(room)))
                labels.append((line, best))
        return _Labels(key, tuple(labels))

    def _paint_reach(self, painter: QPainter, points: RooflinePoints) -> None:
        """Draw a line from the operator with the cursor to its roof, with what it reaches of it."""
        operator = self._current
        roof_y = None if operator is None else points.roof_y(operator)
        if operator is None or roof_y is None:
            return
        x = float(points.x[operator])
        below, above = self._place(x, float(points.y[operator])), self._place(x, roof_y)
        painter.drawLine(QLineF(below, above))
        painter.drawLine(QLineF(above - QPointF(5, 0), above + QPointF(5, 0)))
        words, metrics = points.reach_text(operator), QFontMetricsF(self.font())
        room = QRectF(0, 0, metrics.horizontalAdvance(words) + 2 * GAP_PX, metrics.height())
        left = above.x() + GAP_PX
        if left + room.width() > self._box.rect().right():
            left = above.x() - GAP_PX - room.width()
        room.moveTo(left, (below.y() + above.y()) / 2 - room.height() / 2)
        painter.fillRect(room, faded(self._theme.surface, 220))
        painter.save()
        painter.setPen(QColor(self._theme.text))
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, words)
        painter.restore()

    def _lane_room(self, rect: QRectF, points: RooflinePoints) -> QRectF:
        """Return the lane at the right of the axis; empty where nothing stands there."""
        if not points.has_lane:
            return QRectF()
        left = self._place(points.axis_end, points.lane_y).x()
        return QRectF(left, rect.top(), rect.right() - left, rect.height())

    def _paint_lane(self, painter: QPainter, rect: QRectF, points: RooflinePoints) -> None:
        """Paint the lane of operators that multiply nothing, for which the axis does not hold."""
        room = self._lane_room(rect, points)
        if room.isEmpty():
            return
        painter.fillRect(room, QColor(self._theme.background))
        painter.setPen(QPen(QColor(self._theme.outline), 1.0))
        painter.drawLine(QLineF(room.left(), room.top(), room.left(), room.bottom()))
        painter.setPen(QPen(QColor(self._theme.text), 1.6))
        y = self._place(points.axis_end, points.lane_y).y()
        painter.drawLine(QLineF(room.left(), y, room.right(), y))
        painter.save()
        metrics = QFontMetricsF(self.font())
        painter.translate(room.left() + metrics.ascent() + 2, room.bottom() - metrics.height() - 12)
        painter.rotate(-90)
        painter.setPen(QColor(self._theme.muted))
        painter.drawText(QPointF(0, 0), _NO_MACS)
        painter.restore()

    def _bounds_room(self, points: RooflinePoints) -> QRectF:
        """Return the room of the words that say what the shapes mean, below right."""
        metrics, rect = QFontMetricsF(self.font()), self._box.rect()
        words = sum(metrics.horizontalAdvance(_bound_by(k)) + 14 for k in points.bounds)
        width = words + _LEGEND_GAP_PX * (len(points.bounds) + 1)
        height = metrics.height() + GAP_PX
        lane = self._lane_room(rect, points)
        rect = rect if lane.isEmpty() else rect.adjusted(0, 0, -lane.width(), 0)
        return QRectF(rect.right() - width, rect.bottom() - height, width, height)

    def _paint_legend(self, painter: QPainter, points: RooflinePoints) -> None:
        """Write below right what the shapes mean."""
        metrics, room = QFontMetricsF(self.font()), self._bounds_room(points)
        painter.fillRect(room, faded(self._theme.surface, 220))
        x, y = room.left() + _LEGEND_GAP_PX, room.center().y()
        for bound in points.bounds:
            dot = pg.functions.arrayToQPolygonF(np.array([x]), np.array([y]))
            self.picture.paint_shape(painter, dot, bound, 10.0)
            painter.setPen(QColor(self._theme.muted))
            painter.drawText(QPointF(x + 12, y + metrics.ascent() / 2 - 1), _bound_by(bound))
            x += metrics.horizontalAdvance(_bound_by(bound)) + 14 + _LEGEND_GAP_PX


def _bound_by(bound: int) -> str:
    return f"bound by {BOUND_TYPES[bound]}"
