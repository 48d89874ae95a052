"""The curves of devices along one count of a run, each with its 80 % interval as a band."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from ctm_gui.language.curves import TITLES, Along, Curve
from ctm_gui.widgets.axes import ValueAxis, faded, show_axes
from ctm_gui.widgets.geometry import logs
from ctm_gui.widgets.ordering import FloatArray
from ctm_gui.widgets.plots import PointPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.wording import number

_BAND_ALPHA = 50
_MARGIN = 0.06
_MIN_SPAN = 0.3  # of the upward axis, in powers of ten
_LEGEND_PX = 16
_SMALLEST = 1e-3
_WORDS_GAP_PX = 4  # from a line to what it is


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.2g}"


class CurvePlot(PointPlot):
    """Curves on two logarithmic axes; the present run is a dashed line.

    Args:
        options: the theme.
    """

    def __init__(self, options: ViewOptions) -> None:
        self._curves: Sequence[Curve] = ()
        axes = {
            "bottom": ValueAxis("bottom", _tick),
            "left": ValueAxis("left"),
        }
        name = "Curves of the selected devices"
        super().__init__(options, axes, name, name)
        for axis in axes.values():
            axis.setLogMode(x=True, y=True)
        show_axes(self.canvas, has_data=False)

    def show_curves(self, curves: Sequence[Curve]) -> None:
        """Draw other curves, all along one count; nothing where there are none."""
        self._curves = curves
        show_axes(self.canvas, has_data=bool(curves))
        if curves:
            across, up = TITLES[curves[0].along]
            self.canvas.setLabel("bottom", across)
            self.canvas.setLabel("left", up)
            self._set_ranges()
        ends = [f"{curve.words(0)} … {curve.words(-1)}".replace("\n", ", ") for curve in curves]
        self.setAccessibleDescription("; ".join(ends) or "There is no curve.")
        self._item.refresh()

    def points_px(self) -> FloatArray:
        lines = [self._line(curve, curve.median) for curve in self._curves]
        return np.concatenate([np.zeros((0, 2)), *lines])

    def details(self, index: int) -> str:
        places = [(curve, place) for curve in self._curves for place in range(len(curve.at))]
        curve, place = places[index]
        return curve.words(place)

    def _set_ranges(self) -> None:
        across = np.log10(np.concatenate([curve.at for curve in self._curves]))
        limits = [curve.limit for curve in self._curves if curve.limit]
        up = np.log10(
            np.concatenate([*([c.low, c.high] for c in self._curves), [limits or [1.0]]], axis=None)
            if limits
            else np.concatenate([end for c in self._curves for end in (c.low, c.high)])
        )
        (left, right), (low, high) = (
            (float(values.min()), float(values.max())) for values in (across, up)
        )
        wide = max(right - left, _MIN_SPAN) * _MARGIN
        tall = max(high - low, _MIN_SPAN) * _MARGIN
        # Room for the legend above the highest curve.
        height_px = max(float(self._box.rect().height()), 100.0)
        room = tall + (high - low + tall) * _LEGEND_PX * len(self._curves) / height_px
        self._box.setRange(
            xRange=(left - wide, right + wide), yRange=(low - tall, high + room), padding=0
        )

    def _line(self, curve: Curve, values: FloatArray) -> FloatArray:
        """Return values over the counts of a curve in pixels, float64 [N, 2]."""
        return self._places(logs(curve.at), logs(values))

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        if not self._curves:
            return
        self._paint_grid(painter, rect)
        painter.setFont(self.font())
        now = self._place(math.log10(max(self._curves[0].now, _SMALLEST)), 0.0).x()
        painter.setPen(QPen(QColor(self._theme.muted), 1.0, Qt.PenStyle.DashLine))
        painter.drawLine(QLineF(now, 0, now, rect.height()))
        painter.drawText(QPointF(now + _WORDS_GAP_PX, rect.height() - _WORDS_GAP_PX), "now")
        for place, curve in enumerate(self._curves):
            self._paint_curve(painter, rect, curve, QColor(self._theme.series[place]))
        self._paint_legend(painter, rect)

    def _paint_curve(self, painter: QPainter, rect: QRectF, curve: Curve, colour: QColor) -> None:
        low, middle, high = (
            [QPointF(*place) for place in self._line(curve, values).tolist()]
            for values in (curve.low, curve.median, curve.high)
        )
        if curve.along is not Along.MEMORY:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(faded(colour, _BAND_ALPHA))
            painter.drawPolygon(QPolygonF([*low, *reversed(high)]))
        painter.setPen(QPen(colour, 1.8))
        painter.drawPolyline(middle)
        if curve.limit:
            y = self._place(0.0, math.log10(curve.limit)).y()
            painter.setPen(QPen(colour, 1.4, Qt.PenStyle.DashLine))
            painter.drawLine(QLineF(0, y, rect.width(), y))
            painter.drawText(
                QPointF(_WORDS_GAP_PX, y - _WORDS_GAP_PX), f"limit {number(curve.limit)}"
            )

    def _paint_legend(self, painter: QPainter, rect: QRectF) -> None:
        """Paint the names at the upper right, where a line of its own colour leads to each."""
        metrics = painter.fontMetrics()
        room = rect.width() * 0.7
        for place, curve in enumerate(self._curves):
            name = metrics.elidedText(curve.name, Qt.TextElideMode.ElideMiddle, int(room))
            width = metrics.horizontalAdvance(name)
            top = 2 + place * _LEGEND_PX
            painter.setPen(QPen(QColor(self._theme.series[place]), 3.0))
            left = rect.width() - width - 26
            painter.drawLine(QLineF(left, top + 8, left + 16, top + 8))
            painter.setPen(QColor(self._theme.text))
            at = QRectF(left + 20, top, width + 4, _LEGEND_PX)
            painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, name)
