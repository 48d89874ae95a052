"""Where names stand on the roofline: along their roofs, off the points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from PySide6.QtCore import QLineF, QPointF, QRectF

from ctm_gui.roofline.points import Crowd, RooflinePoints, label_places
from tests.support.explained import explained_pair

ROOM = QRectF(0, 0, 80, 12)
NO_POINTS = np.zeros((0, 2))


def test_a_name_rises_with_its_memory_and_lies_on_its_peak() -> None:
    pair = explained_pair()
    lines = {line.roof.label: line for line in RooflinePoints(pair, pair.roofline).lines}
    rising, flat = QLineF(0, 100, 100, 0), QLineF(100, 0, 300, 0)

    for place in label_places(lines["Memory bandwidth"], rising, ROOM):
        along = QLineF(place.map(QPointF(0, 0)), place.map(QPointF(1, 0)))
        assert along.angle() == pytest.approx(45.0)
    first = next(label_places(lines["FP32 peak"], flat, ROOM)).mapRect(ROOM)
    assert first.bottom() < 0
    assert first.right() < 300


def test_points_and_lines_under_a_name_are_counted() -> None:
    memory = RooflinePoints(explained_pair(), explained_pair().roofline).lines[0]
    rising = QLineF(0, 200, 200, 0)
    above, below = list(label_places(memory, rising, ROOM))[:2]

    # Over the middle of the line, as far from it as half a name is high.
    point = np.array([[100 - 8 * math.sqrt(0.5), 100 - 8 * math.sqrt(0.5)], [np.nan, np.nan]])
    assert Crowd(point, []).under(ROOM, above) == 1
    assert Crowd(point + 300, []).under(ROOM, above) == 0
    assert Crowd(NO_POINTS, [rising]).under(ROOM, above) == 0
    assert Crowd(NO_POINTS, [rising, QLineF(100, 0, 100, 200)]).under(ROOM, below) == 1
