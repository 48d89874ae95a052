"""The plot of predicted against measured: both axes logarithmic and alike, whiskers, hovering."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from ctm_gui.presenters.ordering import FloatArray
from ctm_gui.presenters.past_rows import PastRows
from ctm_gui.presenters.past_wording import pair_details
from ctm_gui.presenters.truth_chart import BASES, TruthChart
from ctm_gui.theme import LIGHT, Theme
from ctm_gui.tooltips import as_tooltip
from ctm_gui.views.latency_items import ValueAxis
from ctm_gui.views.parts import bare_column
from ctm_gui.views.plots import PixelItem
from ctm_gui.views.save_plot import save_plot
from predictor.core.units import LatencyUnit
from predictor.services.history.truth import Pair

_RADIUS_PX = 4.5
_REACH_PX = 12.0
_LEGEND_PX = 8.0
_LEAST_PX = 220


class TruthPlot(QWidget):
    """A point for each measured latency, the line where both are equal.

    Signals:
        pair_chosen: the user clicked a point: the id of its prediction.
    """

    pair_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data, self._chart = PastRows(), TruthChart()
        self._theme = LIGHT
        self._current: frozenset[str] = frozenset()
        axes = {"bottom": ValueAxis("bottom"), "left": ValueAxis("left")}
        axes["bottom"].setLogMode(x=True)
        axes["left"].setLogMode(y=True)
        self.canvas = _Canvas(self, axes)
        self._axes = axes
        self._box: pg.ViewBox = self.canvas.getViewBox()
        self._item = PixelItem(self._box, self._paint)
        layout = bare_column(self)
        layout.addWidget(self.canvas)
        self.setMinimumSize(QSize(_LEAST_PX, _LEAST_PX))
        self.setAccessibleName("Predicted against measured")
        self.set_theme(LIGHT)

    def show_pairs(self, data: PastRows, unit: LatencyUnit) -> None:
        """Show the pairs of ``data``, latencies in ``unit``."""
        self._data, self._chart = data, TruthChart(data.pairs, unit)
        plot = self.canvas.getPlotItem()
        quantity = "rate" if unit is LatencyUnit.FPS else "latency"
        plot.setLabel("bottom", f"Measured {quantity} ({unit})")
        plot.setLabel("left", f"Predicted {quantity} ({unit})")
        self.setAccessibleDescription(
            f"{len(self._chart)} measured latencies; the table beside it sums them up."
        )
        low, high = self._chart.span()
        self._box.setRange(xRange=(low, high), yRange=(low, high), padding=0)
        self._item.refresh()

    def select(self, prediction_ids: frozenset[str]) -> None:
        """Mark the points of predictions."""
        self._current = prediction_ids
        self._item.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Paint in the colours of ``theme``."""
        self._theme = theme
        self.canvas.setBackground(theme.surface)
        for axis in self._axes.values():
            axis.setPen(pg.mkPen(theme.grid))
            axis.setTextPen(pg.mkPen(theme.muted))
        self._item.refresh()

    def save(self, path: Path) -> None:
        """Save the plot as SVG or PNG by the path's ending.

        Raises:
            HostError: the file cannot be written.
        """
        save_plot(self, path, "Predicted against measured latency")

    def pair_at(self, point: QPointF) -> Pair | None:
        """Return the pair whose point lies at a place of the canvas."""
        inside = self._box.mapFromScene(self.canvas.mapToScene(point.toPoint()))
        return self._chart.nearest(self._points(), (inside.x(), inside.y()), _REACH_PX)

    def tooltip_at(self, point: QPointF) -> str:
        """Return what hovering over a place of the canvas tells, as plain text."""
        pair = self.pair_at(point)
        return "" if pair is None else pair_details(pair, self._data, self._chart.unit)

    def _points(self) -> FloatArray:
        """Return where the points are painted, float64 [N, 2] in pixels of the box."""
        return np.stack([self._x(self._chart.measured), self._y(self._chart.predicted)], axis=1)

    def _x(self, values: FloatArray) -> FloatArray:
        (left, right), _ = self._box.viewRange()
        return np.asarray((values - left) / (right - left) * self._box.rect().width())

    def _y(self, values: FloatArray) -> FloatArray:
        _, (bottom, top) = self._box.viewRange()
        return np.asarray((top - values) / (top - bottom) * self._box.rect().height())

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

    def _paint_grid(self, painter: QPainter, rect: QRectF) -> None:
        painter.setPen(QPen(QColor(self._theme.grid), 1.0))
        (left, right), _ = self._box.viewRange()
        levels = self._axes["bottom"].tickValues(left, right, rect.width())
        ticks = np.array(levels[0][1] if levels else (), dtype=np.float64)
        for x in self._x(ticks).tolist():
            painter.drawLine(QLineF(x, 0, x, rect.height()))
        for y in self._y(ticks).tolist():
            painter.drawLine(QLineF(0, y, rect.width(), y))

    def _paint_whiskers(self, painter: QPainter) -> None:
        low, high = self._chart.whiskers
        x, tops, bottoms = self._x(self._chart.measured), self._y(high), self._y(low)
        for index in np.flatnonzero(np.isfinite(tops + bottoms)).tolist():
            colour = self._colour(index)
            colour.setAlpha(150)
            painter.setPen(QPen(colour, 1.4))
            painter.drawLine(QLineF(x[index], bottoms[index], x[index], tops[index]))

    def _paint_points(self, painter: QPainter) -> None:
        for index, (x, y) in enumerate(self._points().tolist()):
            if self._chart.pairs[index].predicted.id in self._current:
                painter.setPen(QPen(QColor(self._theme.accent), 2.0))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(QPointF(x, y), _RADIUS_PX + 4, _RADIUS_PX + 4)
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
            painter.drawText(QPointF(3.5 * _LEGEND_PX, y + metrics.ascent() / 2 - 1), basis.value)
            y += metrics.height() + 2

    def _colour(self, index: int) -> QColor:
        return QColor(self._theme.series[int(self._chart.basis[index])])


class _Canvas(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """A plot without pyqtgraph's own zooming; tells of hovering and clicks."""

    def __init__(self, owner: TruthPlot, axes: dict[str, pg.AxisItem]) -> None:
        super().__init__(owner, axisItems=axes, enableMenu=False)
        self._owner = owner
        self.hideButtons()
        self.setAntialiasing(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.getPlotItem().layout.setContentsMargins(4, 8, 10, 4)
        self.getViewBox().setMouseEnabled(x=False, y=False)
        self.getViewBox().setDefaultPadding(0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        pair = self._owner.pair_at(event.position())
        if pair is not None:
            self._owner.pair_chosen.emit(pair.predicted.id)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self._owner.tooltip_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), as_tooltip(text) if text else "", self)
            return True
        return bool(super().viewportEvent(event))
