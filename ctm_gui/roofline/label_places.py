"""Places of the names of roofs and targets on the plot, where they hide least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from PySide6.QtCore import QLineF, QRectF
from PySide6.QtGui import QTransform

from ctm_gui.roofline.points import MOST_PX, RoofLine
from ctm_gui.widgets.ordering import FloatArray

GAP_PX = 4.0


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


def crowd(pixels: FloatArray, lines: Sequence[QLineF], room: QRectF, place: QTransform) -> int:
    """Return how many points, float64 [N, 2], and lines a rectangle would lie on at a place."""
    back, _ = place.inverted()
    turn = np.array([[back.m11(), back.m12()], [back.m21(), back.m22()]])
    x, y = (pixels @ turn + (back.dx(), back.dy())).T
    reach = MOST_PX / 2
    near = room.adjusted(-reach, -reach, reach, reach)
    across = (x > near.left()) & (x < near.right())
    points = int((across & (y > near.top()) & (y < near.bottom())).sum())
    crossed = [back.map(line) for line in lines]
    steps = np.linspace(0.0, 1.0, 64).tolist()
    return points + sum(any(room.contains(c.pointAt(s)) for s in steps) for c in crossed)
