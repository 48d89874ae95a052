"""The whole graph in a corner, with a frame around what is in view."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from ctm_gui.graph.boxes_plot import GraphPainter
from ctm_gui.widgets.axes import faded
from ctm_gui.widgets.view_options import ViewOptions

_LARGEST_PX, _MARGIN_PX, _EDGE_PX = 190, 12, 4


class Minimap(QWidget):
    """Boxes as spots; a click or a drag moves the view there. Hidden while all is in view.

    Args:
        options: the theme.
        view: the view of the graph, in whose corner it is.

    Signals:
        centred: the point of the picture that the user wants in the middle.
    """

    centred = Signal(QPointF)

    def __init__(self, options: ViewOptions, view: QAbstractScrollArea) -> None:
        super().__init__(view)
        self._view = view
        self._options = options
        options.theme_changed.connect(self._paint_again)
        self._painter: GraphPainter | None = None
        self._spots = QPixmap()
        self._in_view, self._all = QRectF(), QRectF()
        # What it does, the keys of the canvas do too.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Map of the graph")
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.hide()

    def show_picture(self, painter: GraphPainter) -> None:
        """Show another picture."""
        self._painter = painter
        self._spots = QPixmap()

    def show_place(self, in_view: QRectF, everything: QRectF) -> None:
        """Show what is in view of the picture, in the picture's coordinates."""
        self._in_view, self._all = in_view, everything
        self.setVisible(self._painter is not None and not in_view.contains(everything))
        room = self._view.viewport().geometry()
        longest = min(_LARGEST_PX, room.height() // 3)
        scale = longest / max(everything.width(), everything.height(), 1.0)
        width = max(round(everything.width() * scale), 24) + 2 * _EDGE_PX
        height = max(round(everything.height() * scale), 24) + 2 * _EDGE_PX
        if self.size().width() != width or self.size().height() != height:
            self.resize(width, height)
            self._spots = QPixmap()
        self.move(room.right() - width - _MARGIN_PX, room.bottom() - height - _MARGIN_PX)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._painter is None or self._all.isEmpty():
            return
        if self._spots.isNull():
            self._spots = self._painted_spots(self._painter)
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._spots)
        painter.setPen(QPen(QColor(self._options.theme.accent), 1.5))
        painter.setBrush(faded(self._options.theme.accent, 36))
        painter.drawRect(self._inside(self._in_view.intersected(self._all)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._centre(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._centre(event)

    def _paint_again(self) -> None:
        self._spots = QPixmap()
        self.update()

    def _centre(self, event: QMouseEvent) -> None:
        part = event.position() - QPointF(_EDGE_PX, _EDGE_PX)
        x = part.x() / max(self.width() - 2 * _EDGE_PX, 1) * self._all.width()
        y = part.y() / max(self.height() - 2 * _EDGE_PX, 1) * self._all.height()
        self.centred.emit(self._all.topLeft() + QPointF(x, y))

    def _painted_spots(self, graph: GraphPainter) -> QPixmap:
        ratio = self.devicePixelRatioF()
        pixmap = QPixmap(self.size() * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(QColor(self._options.theme.background))
        painter = QPainter(pixmap)
        painter.setPen(Qt.PenStyle.NoPen)
        for rect, colour in graph.spots():
            spot = self._inside(rect)
            painter.fillRect(spot.adjusted(0, 0, max(1.0 - spot.width(), 0), 0), colour)
        painter.setPen(QPen(QColor(self._options.theme.outline), 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(0.5, 0.5, self.width() - 1, self.height() - 1))
        painter.end()
        return pixmap

    def _inside(self, rect: QRectF) -> QRectF:
        """Return a rectangle of the picture in this map."""
        across = (self.width() - 2 * _EDGE_PX) / max(self._all.width(), 1.0)
        down = (self.height() - 2 * _EDGE_PX) / max(self._all.height(), 1.0)
        return QRectF(
            _EDGE_PX + (rect.x() - self._all.x()) * across,
            _EDGE_PX + (rect.y() - self._all.y()) * down,
            rect.width() * across,
            rect.height() * down,
        )
