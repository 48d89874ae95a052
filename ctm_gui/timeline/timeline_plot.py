"""The strip of operators over time: zoom by the wheel, pan by dragging, steps by keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QWidget

from ctm_gui.operators.rows import operator_unit
from ctm_gui.timeline.strip import Bars, Row, Strip, module_forms
from ctm_gui.widgets.axes import (
    AT_LEFT,
    AT_RIGHT,
    SELECTED_ALPHA,
    PaintedAxis,
    PixelItem,
    ValueAxis,
    faded,
    first_ticks,
    hatch_lines,
)
from ctm_gui.widgets.basic import vbox
from ctm_gui.widgets.canvas import Canvas
from ctm_gui.widgets.ordering import IndexArray
from ctm_gui.widgets.theme import Theme
from ctm_gui.widgets.theme_change import follow_theme
from ctm_gui.widgets.view_options import ViewOptions
from predictor.services.prediction.explain import BOUND_TYPES
from predictor.services.prediction.timeline import LANES, Module

_NAMES_PX = 84
_FRAME_PX = 56  # of the axis and the margins
_BAR_PX = 2.5  # narrower operators share their column of pixels
_WORDS_PX = 18.0  # narrower bars have no room for a name
_PALE = 70  # alpha of what is not bound by compute, so that words on it can be read
_HATCH_PX = 14.0
_ZOOM = 1.5
_MIN_VIEW = 1e-5  # of the whole time
_AHEAD = 0.1  # of the view: from where on the current operator is brought to its middle
_MAX_MARKED = 500


class _RowNames(PaintedAxis):
    """Names of the rows on the left."""

    def __init__(self, plot: TimelinePlot) -> None:
        super().__init__("left")
        self._plot = plot
        self.setWidth(_NAMES_PX)

    def paint_in(self, painter: QPainter, rect: QRectF) -> None:
        painter.setFont(self._plot.font())
        painter.setPen(QColor(self._plot.theme.muted))
        for row in self._plot.strip.rows if self._plot.strip else ():
            room = QRectF(rect.left(), rect.top() + row.top_px, rect.width() - 8, row.height_px)
            painter.drawText(room, AT_RIGHT, row.name)


class TimelinePlot(QWidget):
    """Operators one after another; a click chooses an operator or a module.

    Signals:
        operators_chosen: the user chose operators: intp [K], and the current one or None.

    Args:
        options: unit and theme.
    """

    operators_chosen = Signal(object, object)

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        self.strip: Strip | None = None
        self._selected = np.zeros(0, dtype=np.intp)
        self._current: int | None = None
        self._time_axis, self._names = ValueAxis("bottom"), _RowNames(self)
        axes = {"left": self._names, "bottom": self._time_axis}
        self.canvas = Canvas(self, self._tooltip, axes, (4, 8, 10, 4))
        self.box = self.canvas.getViewBox()
        self.box.invertY(True)
        self.box.setMouseEnabled(x=True, y=False)
        self.box.sigResized.connect(self._fit)
        self._item = PixelItem(self.box, self._paint)
        vbox(self.canvas, of=self, margins=0)
        self.canvas.scene().sigMouseClicked.connect(self._clicked)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Timeline")
        follow_theme(self, options, self._draw_ground)
        options.unit_changed.connect(self._show_unit)
        self._show_unit()

    @property
    def theme(self) -> Theme:
        """Colours of the bars."""
        return self._options.theme

    def show_strip(self, strip: Strip | None) -> None:
        """Show another strip from its beginning to its end; None lets go of it."""
        self.strip = strip
        self._selected, self._current = np.zeros(0, dtype=np.intp), None
        if strip is not None:
            total = max(strip.timeline.total_ms, 1e-9)
            self.box.setLimits(xMin=0.0, xMax=total, minXRange=total * _MIN_VIEW)
            minimum, maximum = strip.heights_px
            self.setMinimumHeight(minimum + _FRAME_PX)
            self.setMaximumHeight(maximum + _FRAME_PX)
            self._fit()
            self.setAccessibleDescription(f"{strip.timed.size} operators; the table says the same.")
            self.show_all()
        self._repaint()

    def _fit(self, *_: object) -> None:
        """Let the rows share the height over the axis, a unit of the box a pixel."""
        if self.strip is not None:
            height_px = self.box.rect().height()
            self.strip.fit(height_px)
            self.box.setYRange(0, height_px, padding=0)
            self._repaint()

    def show_all(self) -> None:
        """Show the whole time."""
        if self.strip is not None:
            self.box.setXRange(0.0, max(self.strip.timeline.total_ms, 1e-9), padding=0)

    def zoom(self, factor: float) -> None:
        """Show ``factor`` times less of the time, about the current operator if it is in view."""
        left, right = self.view_ms
        centre = (left + right) / 2
        if self.strip is not None and self._current is not None:
            start, end = self.strip.timeline.ends_ms[self._current : self._current + 2].tolist()
            if left <= (start + end) / 2 <= right:
                centre = (start + end) / 2
        self.box.setXRange(
            centre - (centre - left) / factor, centre + (right - centre) / factor, padding=0
        )

    @property
    def view_ms(self) -> tuple[float, float]:
        """Ends of the view."""
        left, right = self.box.viewRange()[0]
        return float(left), float(right)

    def select(self, operators: IndexArray, current: int | None) -> None:
        """Mark operators, intp [K], and bring the one with the cursor into view."""
        self._selected, self._current = operators, current
        if self.strip is not None and current is not None:
            self._reveal(self.strip, current)
        self._repaint()

    def _show_unit(self) -> None:
        unit = operator_unit(self._options.unit)
        self._time_axis.setScale(unit.from_ms(1.0))
        self._time_axis.setLabel(f"Time ({unit})")

    def _draw_ground(self) -> None:
        self.canvas.setBackground(self.theme.surface)
        self._time_axis.setPen(QPen(QColor(self.theme.grid)))
        self._time_axis.setTextPen(QPen(QColor(self.theme.muted)))

    def _tooltip(self, position: QPoint) -> str:
        """Return the tooltip of a pixel of the canvas."""
        if self.strip is None:
            return ""
        at = self.box.mapSceneToView(self.canvas.mapToScene(position))
        hit = self._hit(self.strip, at)
        if isinstance(hit, Module):
            return self.strip.module_details(hit, self._options.unit)
        return "" if hit is None else self.strip.details(hit, self._options.unit)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left, Right, Home and End step through the operators; + and - zoom, Escape shows all."""
        strip, key = self.strip, Qt.Key(event.key())
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if strip is None:
            super().keyPressEvent(event)
        elif key in steps:
            self._choose(strip.next_operator(self._current, steps[key]))
        elif key in {Qt.Key.Key_Home, Qt.Key.Key_End} and strip.timed.size:
            self._choose(int(strip.timed[0 if key == Qt.Key.Key_Home else -1]))
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self.zoom(_ZOOM)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / _ZOOM)
        elif key == Qt.Key.Key_Escape:
            self.show_all()
        else:
            super().keyPressEvent(event)

    def _choose(self, operator: int | None) -> None:
        if operator is not None:
            self.operators_chosen.emit(np.array([operator], dtype=np.intp), operator)

    def _clicked(self, event: Any) -> None:
        # pyqtgraph's MouseClickEvent has no types.
        if self.strip is None or event.button() is not Qt.MouseButton.LeftButton:
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        hit = self._hit(self.strip, self.box.mapSceneToView(event.scenePos()))
        if not isinstance(hit, Module):
            self._choose(hit)
            return
        if event.double():
            self.box.setXRange(*self.strip.span_ms(hit), padding=0)
        operators = self.strip.operators_of(hit)
        self.operators_chosen.emit(operators, int(operators[0]) if operators.size else None)

    def _hit(self, strip: Strip, at: QPointF) -> int | Module | None:
        """Return the operator or module at a place of the box: ms and pixels."""
        row = strip.row_at(at.y())
        if row is None:
            return None
        if row < strip.depth:
            return strip.module_at(row, at.x())
        return strip.operator_at(at.x())

    def _reveal(self, strip: Strip, operator: int) -> None:
        """Move the view so that an operator is in it; it zooms in no further."""
        start, end = strip.timeline.ends_ms[operator : operator + 2].tolist()
        left, right = self.view_ms
        span = right - left
        if left <= start and end <= right:
            return
        first = start - _AHEAD * span if end - start > span else (start + end - span) / 2
        first = min(max(first, 0.0), max(strip.timeline.total_ms - span, 0.0))
        self.box.setXRange(first, first + span, padding=0)

    def _repaint(self) -> None:
        self._item.refresh()
        self._names.update()

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        strip = self.strip
        if strip is None:
            return
        painter.setFont(self.font())
        self._paint_grid(painter, rect)
        self._paint_selection(painter, rect, strip)
        for level in range(strip.depth):
            self._paint_modules(painter, rect, strip, level)
        for row in range(1 + len(LANES)):
            place = strip.rows[strip.depth + row]
            self._paint_row(painter, rect, strip, place, row)
        self._paint_cursor(painter, rect, strip)

    def _paint_grid(self, painter: QPainter, rect: QRectF) -> None:
        left, right = self.view_ms
        painter.setPen(QPen(QColor(self.theme.grid), 1.0))
        for time in first_ticks(self._time_axis, left, right, rect.width()):
            x = (time - left) / (right - left) * rect.width()
            painter.drawLine(QPointF(x, 0), QPointF(x, rect.height()))

    def _x(self, time_ms: float, rect: QRectF) -> float:
        """Return a time in pixels, a little outside the view at most."""
        left, right = self.view_ms
        x = (time_ms - left) / (right - left) * rect.width()
        return float(min(max(x, -2.0), rect.width() + 2.0))

    def _paint_modules(self, painter: QPainter, rect: QRectF, strip: Strip, level: int) -> None:
        row = strip.rows[level]
        for module, left, right in strip.modules_in_view(
            level, self.view_ms, rect.width(), _BAR_PX
        ):
            room = QRectF(left, row.top_px, right - left - 1, row.height_px)
            painter.setBrush(QColor(self.theme.background))
            painter.setPen(QPen(QColor(self.theme.outline), 1.0))
            painter.drawRect(room)
            self._paint_words(painter, room, module_forms(module), self.theme.text)

    def _paint_row(
        self, painter: QPainter, rect: QRectF, strip: Strip, place: Row, row: int
    ) -> None:
        """Paint the operators, or one lane of their parts."""
        bars = strip.bars(row, self.view_ms, rect.width(), _BAR_PX)
        for bound in range(len(BOUND_TYPES)):
            # A lane is of one kind whatever binds the operator.
            colour = QColor(self.theme.series[(2, 0, 1)[row - 1] if row else bound])
            columns = bars.columns[bars.bound == bound].tolist()
            narrow = [QRectF(x, place.top_px, 1.0, place.height_px) for x in columns]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRects(narrow)
        if row:
            painter.drawRects([room for _, room in self._rooms(bars, place)])
            return
        for operator, room in self._rooms(bars, place):
            self._paint_operator(painter, room, strip, operator)

    @staticmethod
    def _rooms(bars: Bars, place: Row) -> list[tuple[int, QRectF]]:
        edges = zip(
            bars.operators.tolist(), bars.left_px.tolist(), bars.right_px.tolist(), strict=True
        )
        return [
            (operator, QRectF(left, place.top_px, right - left - 1.0, place.height_px))
            for operator, left, right in edges
        ]

    def _paint_operator(self, painter: QPainter, room: QRectF, strip: Strip, operator: int) -> None:
        """Paint one operator: compute solid, memory hatched below, launch hollow."""
        bound = int(strip.bound[operator])
        colour = QColor(self.theme.series[bound])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour if bound == 0 else faded(colour, _PALE if bound == 1 else 0))
        painter.drawRect(room)
        if bound:
            painter.setPen(QPen(colour, 1.2))
            painter.drawRect(room.adjusted(0.6, 0.6, -0.6, -0.6))
        if bound == 1 and room.width() > 4:
            lower = room.adjusted(1, room.height() - _HATCH_PX, -1, -1)
            painter.drawLines([point for line in hatch_lines(lower) for point in line])
        words = room.adjusted(0, 0, 0, -_HATCH_PX)
        ink = self.theme.surface if bound == 0 else self.theme.text
        self._paint_words(painter, words, strip.name_forms(operator), ink)

    def _paint_words(
        self, painter: QPainter, room: QRectF, forms: Iterable[str], colour: str
    ) -> None:
        """Write the longest form of a name that has room; where none has, there is a tooltip."""
        in_view = room.intersected(QRectF(0, room.top(), self.box.rect().width(), room.height()))
        if in_view.width() < _WORDS_PX:
            return
        metrics = QFontMetricsF(self.font())
        fits = (form for form in forms if metrics.horizontalAdvance(form) <= in_view.width() - 8)
        painter.setPen(QColor(colour))
        painter.drawText(in_view.adjusted(4, 0, -4, 0), AT_LEFT, next(fits, ""))

    def _paint_selection(self, painter: QPainter, rect: QRectF, strip: Strip) -> None:
        left, right = self.view_ms
        colour = faded(self.theme.accent, SELECTED_ALPHA)
        chosen = self._selected[np.isin(self._selected, strip.in_view(left, right))]
        for operator in chosen[:_MAX_MARKED].tolist():
            start, end = strip.timeline.ends_ms[operator : operator + 2].tolist()
            x = self._x(start, rect)
            width = max(self._x(end, rect) - x, 1.0)
            painter.fillRect(QRectF(x, 0, width, rect.height()), colour)

    def _paint_cursor(self, painter: QPainter, rect: QRectF, strip: Strip) -> None:
        """Frame the current operator through all rows."""
        if self._current is None:
            return
        start, end = strip.timeline.ends_ms[self._current : self._current + 2].tolist()
        left, right = self.view_ms
        if end < left or start > right:
            return
        x, width = self._x(start, rect), max(self._x(end, rect) - self._x(start, rect), 2.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self.theme.accent), 2.0))
        painter.drawRect(QRectF(x, 1, width - 1, rect.height() - 2))
