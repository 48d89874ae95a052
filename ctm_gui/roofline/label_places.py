"""Places of the names of roofs and targets on the plot, where they hide least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QTransform

from ctm_gui.roofline.points import MAX_PX, RoofLine
from ctm_gui.widgets.ordering import FloatArray

GAP_PX = 4.0
_MAX_POINTS, _STEPS = 400, 64


def label_places(line: RoofLine, px: QLineF, room: QRectF) -> Iterator[QTransform]:
    """Yield places for a label on its line, the better ones first: a memory's rises with it.

    Args:
        line: the roof.
        px: the same in pixels.
        room: of the label, its upper left corner at 0.
    """
    above, below = -room.height() - 2, 2.0
    if not line.roof.is_memory:
        for step in range(12):
            x = px.x2() - GAP_PX - step * 0.08 * px.length() - room.width()
            yield QTransform.fromTranslate(x, px.y1() + above)
            yield QTransform.fromTranslate(x, px.y1() + below)
        return
    for place in (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8):
        for side in (above, below):
            at = px.pointAt(place)
            turned = QTransform.fromTranslate(at.x(), at.y()).rotate(-px.angle())
            yield turned.translate(-room.width() / 2, side)


class Crowd:
    """Points and lines that names keep off.

    Args:
        pixels: places of points, float64 [N, 2]; NaN for one that is not shown.
        lines: all roofs.
    """

    def __init__(self, pixels: FloatArray, lines: Sequence[QLineF]) -> None:
        finite = pixels[np.isfinite(pixels).all(axis=1)]
        # Some hundred show where there is room: all of 10 000 would take 50 ms.
        self._points = finite[:: 1 + len(finite) // _MAX_POINTS]
        ends = np.array([[[x.x1(), x.y1()], [x.x2(), x.y2()]] for x in lines]).reshape(-1, 2, 2)
        steps = np.linspace(0.0, 1.0, _STEPS)[:, None]
        # float64 [lines, steps, 2].
        self._lines = ends[:, :1] + steps * (ends[:, 1:] - ends[:, :1])

    def under(self, room: QRectF, place: QTransform) -> int:
        """Return how many points and lines a rectangle would lie on at a place."""
        back, _ = place.inverted()
        points = _inside(self._points, back, room, MAX_PX / 2)
        lines = _inside(self._lines, back, room, 0.0).any(axis=1)
        return int(points.sum()) + int(lines.sum())


def _inside(
    places: FloatArray, turn: QTransform, room: QRectF, reach: float
) -> npt.NDArray[np.bool_]:
    """Return whether each place, float64 [..., 2], is turned into a rectangle or near it."""
    matrix = np.array([[turn.m11(), turn.m12()], [turn.m21(), turn.m22()]])
    x, y = np.moveaxis(places @ matrix + (turn.dx(), turn.dy()), -1, 0)
    around = room.adjusted(-reach, -reach, reach, reach)
    inside: npt.NDArray[np.bool_] = (
        (x > around.left()) & (x < around.right()) & (y > around.top()) & (y < around.bottom())
    )
    return inside
