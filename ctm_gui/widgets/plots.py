"""Base classes of the window's plots: points, and fixed rows that scroll.

y is in pixels from the top and scrolls, so rows keep their height however many there are; the axes
stay in place.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QScrollBar, QWidget

from ctm_gui.widgets.axes import PixelItem, ValueAxis, colour_axes, first_ticks
from ctm_gui.widgets.basic import vbox
from ctm_gui.widgets.canvas import Canvas
from ctm_gui.widgets.geometry import nearest_point
from ctm_gui.widgets.ordering import FloatArray
from ctm_gui.widgets.save_plot import save_plot
from ctm_gui.widgets.theme import Theme
from ctm_gui.widgets.theme_change import follow_theme
from ctm_gui.widgets.view_options import ViewOptions

RING_PX = 4  # between a chosen point and the ring around it


class _RowCanvas(Canvas):
    """Rows from the top down, which the wheel scrolls."""

    def __init__(self, owner: RowPlot, axes: dict[str, pg.AxisItem]) -> None:
        super().__init__(owner, owner.canvas_tooltip, axes, (0, 4, 8, 4))
        self._scroll_bar = owner.scroll_bar
        self.setMouseTracking(True)
        # y counts downwards as in a table, so the scroll bar's value is the top of the view.
        self.getViewBox().invertY(True)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._scroll_bar.wheelEvent(event)


class _PointCanvas(Canvas):
    """Points, of which a click chooses one."""

    def __init__(self, owner: PointPlot, axes: dict[str, pg.AxisItem]) -> None:
        super().__init__(owner, owner.canvas_tooltip, axes, (4, 8, 10, 4))
        self._choose_at = owner.choose_at

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._choose_at(event.position())


class PointPlot(QWidget):
    """A plot of points, painted in pixels by ``_paint``; hovering and a click find the nearest.

    Attributes:
        reach_px: distance in pixels within which the pointer is at a point.

    Args:
        options: the theme.
        axes: axis items by side, ``bottom`` and ``left``, where they are not plain ValueAxis.
        name: for screen readers.
        title: of the plot in a file.
    """

    reach_px = 16.0

    def __init__(
        self, options: ViewOptions, axes: dict[str, pg.AxisItem], name: str, title: str
    ) -> None:
        super().__init__()
        self._options, self._title = options, title
        usual = {side: ValueAxis(side) for side in ("bottom", "left") if side not in axes}
        self.canvas = _PointCanvas(self, usual | axes)
        self._box: pg.ViewBox = self.canvas.getViewBox()
        self._item = PixelItem(self._box, self._paint)
        vbox(self.canvas, of=self, margins=0)
        self.setAccessibleName(name)
        follow_theme(self, options, self._draw_ground)

    @property
    def _theme(self) -> Theme:
        return self._options.theme

    def _draw_ground(self) -> None:
        self.canvas.setBackground(self._theme.surface)
        colour_axes(self.canvas, self._theme)

    def save(self, path: Path) -> None:
        """Save the plot as SVG or PNG by the path's ending.

        Raises:
            HostError: the file cannot be written.
        """
        save_plot(self, path, self._title)

    def points_px(self) -> FloatArray:
        """Return its points in pixels of the box, float64 [N, 2]; NaN where one has no place."""
        return np.zeros((0, 2))

    def details(self, index: int) -> str:
        """Return the tooltip of a point, plain text."""
        raise NotImplementedError

    def choose(self, index: int | None) -> None:
        """Choose a point that the user clicked; None beside them all."""

    def point_at(self, point: QPointF) -> int | None:
        """Return the point near a place of the canvas, None where there is none."""
        return nearest_point(self.points_px(), self._inside(point), self.reach_px)

    def tooltip_at(self, point: QPointF) -> str:
        """Return the tooltip at a place of the canvas, plain text."""
        index = self.point_at(point)
        return "" if index is None else self.details(index)

    def choose_at(self, point: QPointF) -> None:
        """Choose the point at a place of the canvas that the user clicked."""
        self.choose(self.point_at(point))

    def canvas_tooltip(self, position: QPoint) -> str:
        """Return the tooltip of a pixel of the canvas."""
        return self.tooltip_at(QPointF(position))

    def _paint_grid(self, painter: QPainter, rect: QRectF) -> None:
        """Paint a line at each labelled tick; pyqtgraph would paint it over the points."""
        painter.setPen(QPen(QColor(self._theme.grid), 1.0))
        (left, right), (bottom, top) = self._box.viewRange()
        axis = self.canvas.getAxis
        for x in first_ticks(axis("bottom"), left, right, rect.width()):
            x_px = self._place(x, top).x()
            painter.drawLine(QLineF(x_px, 0, x_px, rect.height()))
        for y in first_ticks(axis("left"), bottom, top, rect.height()):
            y_px = self._place(left, y).y()
            painter.drawLine(QLineF(0, y_px, rect.width(), y_px))

    def _paint_ring(self, painter: QPainter, centre: QPointF, radius_px: float) -> None:
        """Paint the ring around a chosen point."""
        painter.setPen(QPen(QColor(self._theme.accent), 2.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(centre, radius_px + RING_PX, radius_px + RING_PX)

    def _places(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Return points of the axes, float64 [N] and [N], in pixels of the box, [N, 2]."""
        (left, right), (bottom, top) = self._box.viewRange()
        rect = self._box.rect()
        across = (x - left) / (right - left) * rect.width()
        return np.stack([across, (top - y) / (top - bottom) * rect.height()], axis=-1)

    def _place(self, x: float, y: float) -> QPointF:
        """Return a point of the axes in pixels of the box."""
        return QPointF(*self._places(np.array(x), np.array(y)).tolist())

    def _inside(self, point: QPointF) -> tuple[float, float]:
        """Return a place of the canvas in pixels of the box."""
        inside = self._box.mapFromScene(self.canvas.mapToScene(point.toPoint()))
        return inside.x(), inside.y()

    def _paint(self, painter: QPainter, rect: QRectF) -> None:
        raise NotImplementedError


class RowPlot(QWidget):
    """A plot of rows of fixed height with a scroll bar.

    Args:
        options: the theme.
        axes: axis items by side, ``left``, and ``top`` and ``bottom`` where there are such.
        parent: the parent widget.
    """

    clicked = Signal(float, float)
    double_clicked = Signal(float, float)

    def __init__(
        self, options: ViewOptions, axes: dict[str, pg.AxisItem], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._options = options
        self.scroll_bar = QScrollBar(Qt.Orientation.Vertical)
        self.scroll_bar.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._value_axis = axes.get("bottom")
        self.canvas = _RowCanvas(self, axes)
        self.box: pg.ViewBox = self.canvas.getViewBox()
        self.tooltip_at: Callable[[QPointF, bool], str] = lambda _point, _on_axis: ""
        self._content_px = 0
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.canvas, 1)
        layout.addWidget(self.scroll_bar)
        self.scroll_bar.valueChanged.connect(self._show_rows)
        self.box.sigResized.connect(self._fit)
        self.canvas.scene().sigMouseClicked.connect(self._clicked)
        follow_theme(self, options, self._draw_ground)

    def set_content_height(self, height_px: int) -> None:
        """Set the height of all rows together."""
        self._content_px = height_px
        self._fit()

    def frame_height(self) -> int:
        """Return the pixels that the axes take above and under the rows."""
        rows_px = int(self.box.rect().height())
        return int(self.canvas.height()) - rows_px

    def reveal(self, top_px: int, height_px: int) -> None:
        """Scroll as little as is needed to show the rows from ``top_px`` on."""
        value, page = self.scroll_bar.value(), self.scroll_bar.pageStep()
        if top_px < value:
            self.scroll_bar.setValue(top_px)
        elif top_px + height_px > value + page:
            self.scroll_bar.setValue(top_px + height_px - page)

    def row_step(self, key: int, row_px: int, count: int) -> int | None:
        """Return the number of rows that a key moves the cursor down; None for another key.

        Args:
            key: a Qt.Key.
            row_px: height of a row.
            count: the rows there are.
        """
        page, keys = max(1, self.scroll_bar.pageStep() // row_px), Qt.Key
        steps = {
            keys.Key_Up: -1,
            keys.Key_Down: 1,
            keys.Key_PageUp: -page,
            keys.Key_PageDown: page,
            keys.Key_Home: -count,
            keys.Key_End: count,
        }
        return steps.get(Qt.Key(key))

    def save_rows(self, frame: QWidget, height_px: int, path: Path, title: str) -> None:
        """Save every row as SVG or PNG, by the path's ending.

        Args:
            frame: the widget around it, made for the picture and deleted then.
            height_px: of all rows.
            path: the file.
            title: title of the SVG document.

        Raises:
            HostError: the file cannot be written.
        """
        frame.grab()  # its axes take their room at the first painting
        frame.resize(frame.width(), self.frame_height() + height_px + 2)
        frame.grab()
        save_plot(self, path, title)
        frame.deleteLater()

    def _draw_ground(self) -> None:
        theme = self._options.theme
        self.canvas.setBackground(theme.surface)
        if axis := self._value_axis:
            axis.setPen(pg.mkPen(theme.grid))
            axis.setTickPen(pg.mkPen(theme.grid))
            axis.setTextPen(pg.mkPen(theme.muted))

    def canvas_tooltip(self, position: QPoint) -> str:
        """Return the tooltip of a pixel of the canvas."""
        scene_point = self.canvas.mapToScene(position)
        on_axis = scene_point.x() < self.box.sceneBoundingRect().left()
        return self.tooltip_at(self.box.mapSceneToView(scene_point), on_axis)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the rows' height."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self, *_: object) -> None:
        page = int(self.box.rect().height())
        self.scroll_bar.setPageStep(max(page, 1))
        self.scroll_bar.setSingleStep(24)
        self.scroll_bar.setRange(0, max(0, self._content_px - page))
        self.scroll_bar.setVisible(self._content_px > page)
        self._show_rows()

    def _show_rows(self, *_: object) -> None:
        top = self.scroll_bar.value()
        self.box.setYRange(top, top + max(self.box.rect().height(), 1.0), padding=0)

    def _clicked(self, event: Any) -> None:
        # pyqtgraph's MouseClickEvent has no types.
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        point = self.box.mapSceneToView(event.scenePos())
        signal = self.double_clicked if event.double() else self.clicked
        signal.emit(point.x(), point.y())
