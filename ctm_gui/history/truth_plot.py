"""The plot of predicted against measured: both axes logarithmic and alike, whiskers, hovering."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from ctm_gui.history.past_rows import BASES, PastRows, TruthChart
from ctm_gui.history.past_tables import pair_details
from ctm_gui.widgets.axes import ValueAxis, faded
from ctm_gui.widgets.ordering import FloatArray
from ctm_gui.widgets.plots import PointPlot
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.units import LatencyUnit

_RADIUS_PX = 4.5
_LEGEND_PX = 8.0
_MIN_HEIGHT_PX = 220


class TruthPlot(PointPlot):
    """A point for each measured latency, the line where both are equal.

    Signals:
        pair_chosen: the user clicked a point: the id of its prediction.

    Args:
        options: unit and theme.
    """

    pair_chosen = Signal(str)
    reach_px = 12.0

    def __init__(self, options: ViewOptions) -> None:
        self._data, self._chart = PastRows(), TruthChart()
        self._current: frozenset[str] = frozenset()
        axes = {"bottom": ValueAxis("bottom"), "left": ValueAxis("left")}
        axes["bottom"].setLogMode(x=True)
        axes["left"].setLogMode(y=True)
        name = "Predicted against measured"
        super().__init__(options, axes, name, f"{name} latency")
        self.setMinimumSize(QSize(_MIN_HEIGHT_PX, _MIN_HEIGHT_PX))

    def show_pairs(self, data: PastRows) -> None:
        """Show the pairs of ``data``."""
        unit = self._options.unit
        self._data, self._chart = data, TruthChart(data.pairs, unit)
        quantity = "rate" if unit is LatencyUnit.FPS else "latency"
        self.canvas.setLabel("bottom", f"Measured {quantity} ({unit})")
        self.canvas.setLabel("left", f"Predicted {quantity} ({unit})")
        self.setAccessibleDescription(
            f"{len(self._chart)} measured latencies; the table beside it sums them up."
        )
        low, high = self._chart.span()
        # One range for both axes: then the diagonal is the line of equality.
        self._box.setRange(xRange=(low, high), yRange=(low, high), padding=0)
        self._item.refresh()

    def select(self, prediction_ids: frozenset[str]) -> None:
        """Mark the points of predictions."""
        self._current = prediction_ids
        self._item.refresh()

    def points_px(self) -> FloatArray:
        return self._places(self._chart.measured, self._chart.predicted)

    def choose(self, index: int | None) -> None:
        if index is not None:
            self.pair_chosen.emit(self._chart.pairs[index].predicted.id)

    def details(self, index: int) -> str:
        return pair_details(self._chart.pairs[index], self._data, self._chart.unit)

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        painter.setFont(self.font())
        self._paint_grid(painter, rect)
        painter.setPen(QPen(QColor(self._theme.muted), 1.4, Qt.PenStyle.DashLine))
        painter.drawLine(rect.bottomLeft(), rect.topRight())
        if not len(self._chart):
            return
        self._paint_whiskers(painter)
        self._paint_points(painter)
        self._paint_legend(painter)

    def _paint_whiskers(self, painter: QPainter) -> None:
        bottoms, tops = (self._places(self._chart.measured, y) for y in self._chart.whiskers)
        for index in np.flatnonzero(np.isfinite(tops + bottoms).all(axis=1)).tolist():
            painter.setPen(QPen(faded(self._colour(index), 150), 1.4))
            painter.drawLine(QPointF(*bottoms[index]), QPointF(*tops[index]))

    def _paint_points(self, painter: QPainter) -> None:
        for index, (x, y) in enumerate(self.points_px().tolist()):
            if self._chart.pairs[index].predicted.id in self._current:
                self._paint_ring(painter, QPointF(x, y), _RADIUS_PX)
            painter.setPen(QPen(QColor(self._theme.surface), 1.0))
            painter.setBrush(self._colour(index))
            painter.drawEllipse(QPointF(x, y), _RADIUS_PX, _RADIUS_PX)

    def _paint_legend(self, painter: QPainter) -> None:
        metrics = QFontMetricsF(self.font())
        y = _LEGEND_PX + metrics.height() / 2
        for basis in self._chart.bases():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.series[BASES.index(basis)]))
            painter.drawEllipse(QPointF(2 * _LEGEND_PX, y), _RADIUS_PX, _RADIUS_PX)
            painter.setPen(QColor(self._theme.text))
            painter.drawText(QPointF(3.5 * _LEGEND_PX, y + metrics.ascent() / 2 - 1), basis.words)
            y += metrics.height() + 2

    def _colour(self, index: int) -> QColor:
        return QColor(self._theme.series[int(self._chart.basis[index])])
