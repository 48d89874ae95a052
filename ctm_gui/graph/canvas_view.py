"""The picture of the graph on the screen: it is moved, enlarged, clicked and walked through."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtWidgets import (
    QApplication,
    QGraphicsItem,
    QGraphicsScene,
    QGraphicsView,
    QStyleOptionGraphicsItem,
    QToolTip,
    QWidget,
)

from ctm_gui.graph.boxes_plot import GraphPainter
from ctm_gui.graph.minimap_view import Minimap
from ctm_gui.widgets.ordering import BoolArray
from ctm_gui.widgets.view_options import ViewOptions
from predictor.services.graph.placement import EMPTY

_MARGIN = 24.0
_SMALLEST, _LARGEST = 0.03, 3.0
_STEP = 1.25  # of a key or a turn of the wheel
_TURN = 120.0  # of the wheel, in eighths of a degree
# A model opens at a size at which words are read, where all of it would be smaller.
_FIRST_SCALE = 0.9
_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class _PictureItem(QGraphicsItem):
    """The whole picture as one item: it paints what is in view, without an object a box."""

    def __init__(self) -> None:
        super().__init__()
        # Else the whole picture counts as exposed at each painting.
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.painter: GraphPainter | None = None
        self.current: int | None = None
        self.selected: BoolArray | None = None
        self.bright: BoolArray | None = None

    def boundingRect(self) -> QRectF:
        picture = EMPTY if self.painter is None else self.painter.picture
        return QRectF(-_MARGIN, -_MARGIN, picture.width + 2 * _MARGIN, picture.height + 2 * _MARGIN)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        if self.painter is not None:
            scale = option.levelOfDetailFromTransform(painter.worldTransform())
            exposed = option.exposedRect
            marks = self.current, self.selected, self.bright
            self.painter.paint(painter, exposed, scale, *marks)


class GraphCanvas(QGraphicsView):
    """Shows a picture; drag moves it, Ctrl and the wheel enlarge it, arrows go along edges.

    Signals:
        clicked: a box, or None beside all.
        toggled: a box whose group the user opens or closes.
        stepped: an arrow key: steps across and down.
        closed: the user closes the group around the cursor.

    Args:
        options: the theme.
        parent: the parent widget.
    """

    clicked = Signal(object)
    toggled = Signal(int)
    stepped = Signal(int, int)
    closed = Signal()

    def __init__(self, options: ViewOptions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._options = options
        self._item = _PictureItem()
        scene = QGraphicsScene(self)
        # An index of one item is only kept up for nothing.
        scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        scene.addItem(self._item)
        self.setScene(scene)
        self.setDragMode(QGraphicsView.DragMode.ScrollHandDrag)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
        self.setAccessibleName("Graph of operators")
        self.tooltip_of: Callable[[int], str] = lambda _box: ""
        self._pressed = QPoint()
        self.minimap = Minimap(options, self)
        self.minimap.centred.connect(self.centerOn)
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(self._show_place)
        options.theme_changed.connect(self._show_surface)
        self._show_surface()

    @property
    def scale_now(self) -> float:
        """Pixels of the screen a pixel of the picture."""
        return self.transform().m11()

    def show_picture(self, painter: GraphPainter) -> None:
        """Show another picture at the place of the one before."""
        self._item.prepareGeometryChange()
        self._item.painter = painter
        self._item.current = self._item.selected = self._item.bright = None
        self.setSceneRect(self._item.boundingRect())
        self.minimap.show_picture(painter)
        self._show_place()
        self.viewport().update()

    def mark(
        self, current: int | None, selected: BoolArray | None, bright: BoolArray | None
    ) -> None:
        """Mark the box of the cursor, boxes with selected operators and those that were found."""
        self._item.current, self._item.selected, self._item.bright = current, selected, bright
        self.viewport().update()

    def place_of(self, box: int) -> QPointF:
        """Return where a box is in the viewport."""
        return QPointF(self.mapFromScene(self._rect(box).topLeft()))

    def move_to(self, box: int, place: QPointF) -> None:
        """Scroll such that a box is at a place of the viewport."""
        off = self.place_of(box) - place
        for bar, by in ((self.horizontalScrollBar(), off.x()), (self.verticalScrollBar(), off.y())):
            bar.setValue(bar.value() + round(by))

    def reveal(self, box: int) -> None:
        """Scroll as far as needed to see a box."""
        self.ensureVisible(self._rect(box), 40, 40)

    def focus_on(self, box: int) -> None:
        """Show a box in the middle, at a size at which it is read."""
        if self.scale_now < _FIRST_SCALE:
            self.zoom(_FIRST_SCALE / self.scale_now)
        self.centerOn(self._rect(box).center())

    def fit(self) -> None:
        """Show all of the picture."""
        self.fitInView(self.sceneRect(), Qt.AspectRatioMode.KeepAspectRatio)
        if self.scale_now > 1:
            self.zoom(1 / self.scale_now)
        self._show_place()

    def show_first(self) -> None:
        """Show a new picture: all of it, or its top at a size that is read."""
        self.fit()
        if self.scale_now < _FIRST_SCALE:
            self.zoom(_FIRST_SCALE / self.scale_now)
            picture = EMPTY if self._item.painter is None else self._item.painter.picture
            first = int(np.argmin(picture.rects[:, 1]))
            self.centerOn(QPointF(self._rect(first).center().x(), self.sceneRect().top()))

    def zoom(self, factor: float) -> None:
        """Enlarge by a factor."""
        factor = min(max(self.scale_now * factor, _SMALLEST), _LARGEST) / self.scale_now
        self.scale(factor, factor)
        self._show_place()

    def box_at(self, point: QPoint) -> int | None:
        """Return the box at a point of the viewport."""
        if self._item.painter is None:
            return None
        place = self.mapToScene(point)
        return self._item.painter.picture.box_at(place.x(), place.y())

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(_STEP ** (event.angleDelta().y() / _TURN))
            event.accept()
        else:
            super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        point = event.position().toPoint()
        distance_px = (point - self._pressed).manhattanLength()
        if (
            event.button() is Qt.MouseButton.LeftButton
            and distance_px < QApplication.startDragDistance()
        ):
            self.clicked.emit(self.box_at(point))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        box = self.box_at(event.position().toPoint())
        if box is not None:
            self.toggled.emit(box)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go along edges, Enter opens, Backspace closes; + and - enlarge, 0 shows all."""
        key, current = Qt.Key(event.key()), self._item.current
        if key in _ARROWS:
            self.stepped.emit(*_ARROWS[key])
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space} and current is not None:
            self.toggled.emit(current)
        elif key == Qt.Key.Key_Backspace:
            self.closed.emit()
        elif key in {Qt.Key.Key_Plus, Qt.Key.Key_Equal}:
            self.zoom(_STEP)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / _STEP)
        elif key == Qt.Key.Key_0:
            self.fit()
        else:
            super().keyPressEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            box = self.box_at(event.pos())
            QToolTip.showText(event.globalPos(), "" if box is None else self.tooltip_of(box), self)
            return True
        if event.type() is QEvent.Type.Resize:
            self._show_place()
        return super().viewportEvent(event)

    def _show_surface(self) -> None:
        self.setBackgroundBrush(QBrush(QColor(self._options.theme.surface)))

    def _rect(self, box: int) -> QRectF:
        if self._item.painter is None:
            return QRectF()
        return QRectF(*self._item.painter.picture.rects[box].tolist())

    def _show_place(self, *_: object) -> None:
        in_view = self.mapToScene(self.viewport().rect()).boundingRect()
        self.minimap.show_place(in_view, self.sceneRect())
