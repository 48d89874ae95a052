"""The operators of a roofline as points: shapes in files, stamps on a picture on the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from ctm_gui.roofline.points import MAX_PX, MIN_PX, SIZES, RooflinePoints
from ctm_gui.tasks.turns import in_turns
from ctm_gui.widgets.axes import faded
from ctm_gui.widgets.ordering import FloatArray, IndexArray
from ctm_gui.widgets.view_options import ViewOptions

# Round points, squares and rings differ without colours too.
_CAPS = (Qt.PenCapStyle.RoundCap, Qt.PenCapStyle.SquareCap, Qt.PenCapStyle.RoundCap)
_HOLLOW = 2
_AT_ONCE: Final = 1000  # points
_A_TURN: Final = 1500


def diameter(size: int) -> float:
    """Return the pixels across a point of a size from 0 to ``SIZES`` - 1."""
    return MIN_PX + (MAX_PX - MIN_PX) * size / (SIZES - 1)


class PointsPicture(QObject):
    """A picture of the points, kept while they, their places and the theme are the same.

    Thousands of points are stamped on it in turns of the event loop: selecting, hovering and
    scrolling paint the picture and no point.

    Signals:
        grown: more of the points are in the picture.

    Args:
        options: the theme.
        owner: the plot, on whose screen it is shown.
    """

    grown = Signal()

    def __init__(self, options: ViewOptions, owner: QWidget) -> None:
        super().__init__(owner)
        self._options, self._owner = options, owner
        self._stamps: dict[tuple[int, float, float, str], QPixmap] = {}
        self._key: tuple[object, ...] = ()
        self._picture = QPixmap()

    def clear(self) -> None:
        """Let go of the points."""
        self._key, self._picture = (), QPixmap()

    def paint(
        self,
        painter: QPainter,
        rect: QRectF,
        points: RooflinePoints,
        place: tuple[object, ...],
        pixels: Callable[[], FloatArray],
    ) -> None:
        """Paint what there is of the picture, and begin another one for another key.

        Args:
            painter: of the plot.
            rect: of the plot, in pixels.
            points: the operators.
            place: tells one scale of the axes from another.
            pixels: returns the places of the points, float64 [N, 2], NaN for none.
        """
        ratio, theme = self._owner.devicePixelRatioF(), self._options.theme.name
        size = rect.size().toSize()
        key = (points, place, size.width(), size.height(), ratio, theme)
        if key != self._key:
            self._key, self._picture = key, _transparent(size, ratio)
            work = self._stamping(key, points, pixels())
            if int(points.is_placed.sum()) > _AT_ONCE:
                in_turns(self._growing(work), self)
            else:
                for _ in work:
                    pass
        painter.drawPixmap(rect.topLeft(), self._picture)

    def paint_shapes(self, painter: QPainter, points: RooflinePoints, pixels: FloatArray) -> None:
        """Paint every point as a shape: a file may be shown at any size."""
        for bound, size, operators in points.alike:
            x, y = pixels[operators].T
            polygon = pg.functions.arrayToQPolygonF(x, y)
            self.paint_shape(painter, polygon, bound, diameter(size))

    def paint_shape(self, painter: QPainter, places: QPolygonF, bound: int, px: float) -> None:
        """Paint points of one kind of bound, ``px`` across."""
        theme = self._options.theme
        colour, cap = QColor(theme.series[bound]), _CAPS[bound]
        # A rim in the colour of the surface parts points that lie on one another.
        layers = [(QColor(theme.surface), 1.6), (faded(colour, 225), 0.0)]
        if bound == _HOLLOW:
            layers.append((QColor(theme.surface), -3.0))
        for brush, more in layers:
            painter.setPen(QPen(brush, max(px + more, 1.0), c=cap))
            painter.drawPoints(places)

    def stamp(self, bound: int, px: float) -> QPixmap:
        """Return a point of one kind of bound as a picture, made once."""
        ratio = self._owner.devicePixelRatioF()
        key = (bound, px, ratio, self._options.theme.name)
        if key not in self._stamps:
            side = round(px + 4)
            stamp = _transparent(QSize(side, side), ratio)
            painter = QPainter(stamp)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.paint_shape(painter, QPolygonF([QPointF(side / 2, side / 2)]), bound, px)
            painter.end()
            self._stamps[key] = stamp
        return self._stamps[key]

    def _growing(self, work: Iterator[None]) -> Iterator[None]:
        for _ in work:
            self.grown.emit()
            yield
        self.grown.emit()

    def _stamping(
        self, key: tuple[object, ...], points: RooflinePoints, pixels: FloatArray
    ) -> Iterator[None]:
        count = 0
        for bound, size, operators in points.alike:
            stamp = self.stamp(bound, diameter(size))
            half = stamp.width() / stamp.devicePixelRatio() / 2
            places = pixels[operators]
            # Blocks repeat: of points on one pixel one is seen.
            _, distinct = np.unique(places.round() @ [1, 1 << 16], return_index=True)
            for part in _parts(distinct):
                _stamp_at(self._picture, stamp, places[part] - half)
                count += part.size
                if count >= _A_TURN:
                    count = 0
                    yield
                    if key is not self._key:  # other points are shown by now
                        return


def _parts(places: IndexArray) -> Iterator[IndexArray]:
    for first in range(0, places.size, _A_TURN):
        yield places[first : first + _A_TURN]


def _stamp_at(picture: QPixmap, stamp: QPixmap, places: FloatArray) -> None:
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for x, y in places.tolist():
        painter.drawPixmap(QPointF(x, y), stamp)
    painter.end()


def _transparent(size: QSize, ratio: float) -> QPixmap:
    picture = QPixmap(size * ratio)
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    return picture
