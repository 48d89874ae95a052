"""The curve of a sweep: dots with their interval as a band, measured ones as diamonds."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPen, QPolygonF

from ctm_gui.compare.chart_items import DOT_PX, paint_diamond, paint_dot
from ctm_gui.compare.sweep import curve, point_words
from ctm_gui.widgets.axes import ValueAxis, faded
from ctm_gui.widgets.geometry import nearest_point
from ctm_gui.widgets.ordering import FloatArray
from ctm_gui.widgets.plots import PointPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.records import Basis
from predictor.presentation.columns import axis_title
from predictor.services.prediction.sweep import Sweep

_REACH_PX = 16.0
_BAND_ALPHA = 60
_MARGIN = 0.08
_TITLES = {"batch": "Batch", "threads": "Threads"}
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class _ChoiceAxis(ValueAxis):
    """A logarithmic axis with a tick at each choice, whose log10 are ``places``."""

    def __init__(self) -> None:
        super().__init__("bottom", lambda value: f"{value:.0f}")
        self.places: list[float] = []

    def tickValues(
        self,
        low: float,  # noqa: ARG002 (pyqtgraph's signature)
        high: float,  # noqa: ARG002
        size: float,  # noqa: ARG002
    ) -> list[tuple[float | None, list[float]]]:
        """Return one level of labelled ticks."""
        return [(1.0, self.places)]


class SweepPlot(PointPlot):
    """Latency over the batch or over the threads; both axes are logarithmic.

    Left and Right, or a click, point at one of its dots.

    Args:
        options: unit and theme.
        kind: of the sweep, "batch" or "threads".

    Signals:
        pointed: the words of the dot that is pointed at; empty where none is any more.
    """

    pointed = Signal(str)

    def __init__(self, options: ViewOptions, kind: str) -> None:
        self._sweep: Sweep | None = None
        self._values: FloatArray = np.zeros((3, 0))
        self._current: int | None = None
        self._choices = _ChoiceAxis()
        axes = {"bottom": self._choices, "left": ValueAxis("left")}
        name = f"Latency over {kind}"
        super().__init__(options, axes, name, name)
        self.canvas.setLabel("bottom", _TITLES[kind])
        for axis in axes.values():
            axis.setLogMode(x=True, y=True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_sweep(self, sweep: Sweep | None) -> None:
        """Show another sweep; None for an empty plot."""
        self._sweep, unit = sweep, self._options.unit
        self._values = np.zeros((3, 0)) if sweep is None else curve(sweep, unit)
        self.canvas.setLabel("left", axis_title(unit))
        self._current = None
        if sweep is not None:
            self.setAccessibleDescription(
                "; ".join(
                    point_words(sweep, place, unit).replace("\n", ", ")
                    for place in range(len(sweep.predictions))
                )
            )
            self._set_ranges(sweep)
        self._item.refresh()

    def choose_at(self, point: QPointF) -> None:
        self._point_at(self._nearest_dot(point))

    def tooltip_at(self, point: QPointF) -> str:
        """Return the tooltip of a point of the canvas, plain text."""
        place = self._nearest_dot(point)
        return "" if place is None or self._sweep is None else self._words(self._sweep, place)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self._current is None and self._sweep is not None:
            self._point_at(self._sweep.now)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right go from dot to dot."""
        step = _STEPS.get(Qt.Key(event.key()), 0)
        if not step or self._sweep is None:
            super().keyPressEvent(event)
            return
        now = self._sweep.now if self._current is None else self._current
        self._point_at(min(max(now + step, 0), len(self._sweep.predictions) - 1))

    def _point_at(self, place: int | None) -> None:
        self._current = place
        self._item.refresh()
        sweep = self._sweep
        words = "" if place is None or sweep is None else self._words(sweep, place)
        self.pointed.emit(words.replace("\n", ", "))

    def _nearest_dot(self, point: QPointF) -> int | None:
        """Return the dot near a point of the canvas, None where there is none."""
        if self._sweep is None:
            return None
        pixels = np.array([self._pixel(place) for place in range(self._values.shape[1])])
        return nearest_point(pixels, self._inside(point), _REACH_PX)

    def _words(self, sweep: Sweep, place: int) -> str:
        return point_words(sweep, place, self._options.unit)

    def _set_ranges(self, sweep: Sweep) -> None:
        choices = np.log10(sweep.choices)
        self._choices.places = choices.tolist()
        positive = self._values[self._values > 0]
        heights = np.log10(positive) if positive.size else np.zeros(1)
        (left, right), (low, high) = (
            (float(values.min()), float(values.max())) for values in (choices, heights)
        )
        across, up = max(right - left, 0.1) * _MARGIN, max(high - low, 0.3) * _MARGIN
        self._box.setRange(
            xRange=(left - across, right + across), yRange=(low - up, high + up), padding=0
        )

    def _pixel(self, place: int, row: int = 0) -> tuple[float, float]:
        value = float(self._values[row, place])
        if self._sweep is None or not value > 0:
            return math.nan, math.nan
        (left, right), (bottom, top) = self._box.viewRange()
        rect = self._box.rect()
        x = (math.log10(self._sweep.choices[place]) - left) / (right - left) * rect.width()
        return x, (top - math.log10(value)) / (top - bottom) * rect.height()

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        sweep = self._sweep
        if sweep is None:
            return
        self._paint_grid(painter, rect)
        colour = QColor(self._theme.series[0])
        lines = [self._line(row) for row in range(3)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(faded(colour, _BAND_ALPHA))
        painter.drawPolygon(QPolygonF([*lines[1], *reversed(lines[2])]))
        now = self._pixel(sweep.now)[0]
        if not math.isnan(now):
            painter.setPen(QPen(QColor(self._theme.muted), 1.0, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(now, 0, now, rect.height()))
        painter.setPen(QPen(colour, 1.6))
        painter.drawPolyline(lines[0])
        for place, prediction in enumerate(sweep.predictions):
            centre = QPointF(*self._pixel(place))
            if math.isnan(centre.x()):
                continue
            if prediction.basis is Basis.MEASURED:
                paint_diamond(painter, centre, DOT_PX + 1, self._theme)
            else:
                is_over = prediction.fits_memory is False
                paint_dot(painter, centre, DOT_PX, colour, self._theme, over=is_over)
            if place == self._current:
                self._paint_ring(painter, centre, DOT_PX)

    def _line(self, row: int) -> list[QPointF]:
        """Return the points of a row of the curve that have a number."""
        pixels = (self._pixel(place, row) for place in range(self._values.shape[1]))
        return [QPointF(*pixel) for pixel in pixels if not math.isnan(pixel[0])]
