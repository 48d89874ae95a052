"""A graph cut for paper: bands of its height, each as wide as what is in it, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from predictor.presentation.report import Graph

FRAME_TITLE_PX = 26.0
_BETWEEN_PX = 26.0
_PADDING_PX = 4.0  # of a band
_REACH_PX = 64.0  # of sides of groups from the boxes and lines of a band
_MIN_HEIGHT_PX = 240.0  # higher than a box below the titles of the groups around it
_MIN_FILLED = 0.65  # of a band that is filled where groups are not cut
_BEND_STEPS = 6
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Band:
    """The part of a graph between two heights, in pixels of the graph.

    Attributes:
        top, bottom: the heights.
        left, right: ends of its boxes and lines; groups around them are cut there.
        x: of its left end on the page.
    """

    top: float
    bottom: float
    left: float
    right: float
    x: float


class GraphBands:
    """Cuts a graph into bands and pages.

    Attributes:
        lines: the edges as the window draws them, points from above.
    """

    def __init__(self, graph: Graph) -> None:
        self._boxes = graph.boxes
        self.height = graph.height
        self.lines = [_bent(points) for points in graph.edges]
        # Left, top, right and bottom of all that makes a band as wide as it is.
        boxes, frames = (
            [
                (b.left, b.top, b.left + b.width, b.top + b.height)
                for b in graph.boxes
                if b.is_frame is is_frame
            ]
            for is_frame in (False, True)
        )
        steps = [
            (min(x1, x2), y1, max(x1, x2), y2)
            for line in self.lines
            for (x1, y1), (x2, y2) in pairwise(line)
        ]
        self._extents = np.array([*boxes, *steps], np.float64).reshape(-1, 4)
        self._frames = np.array(frames, np.float64).reshape(-1, 4)

    @property
    def widest(self) -> float:
        """Width of a band over the whole height."""
        left, right = self._ends(0.0, self.height)
        return right - left

    def pages(self, width: float, first: float, height: float) -> list[list[Band]]:
        """Return the bands of each page.

        Args:
            width: of a page.
            first: height that is left on the first page.
            height: of a page.
        """
        pages: list[list[Band]] = []
        top = 0.0
        while top < self.height:
            pages.append(self._page(top, width, height if pages else first))
            top = pages[-1][-1].bottom
        return pages

    def _page(self, top: float, width: float, room: float) -> list[Band]:
        """Return the bands of a page, about equally high where the rest of the graph fits on it."""
        height = min(_MIN_HEIGHT_PX, room)
        while True:
            bands = list(self._bands(top, width, height))
            if bands[-1].bottom >= self.height or height >= room:
                return bands
            height = min(1.05 * height, room)

    def _bands(self, top: float, width: float, height: float) -> Iterator[Band]:
        x = 0.0
        while top < self.height:
            bottom = min(self._cut(top, top + height), self.height)
            left, right = self._ends(top, bottom)
            # The first is set in any case: the scale is that of the widest.
            if x and x + right - left > width:
                return
            yield Band(top, bottom, left, right, x)
            x += right - left + _BETWEEN_PX
            top = bottom

    def _ends(self, top: float, bottom: float) -> Point:
        """Return the left and right end of what lies between two heights.

        The sides of groups count where they are near: those of one with a wide part elsewhere
        would leave a band half empty.
        """
        boxes, frames = (
            ends[(ends[:, 1] < bottom) & (ends[:, 3] > top)]
            for ends in (self._extents, self._frames)
        )
        if not len(boxes):
            return 0.0, 0.0
        left, right = boxes[:, 0].min(), boxes[:, 2].max()
        left = frames[:, 0].min(initial=left, where=frames[:, 0] > left - _REACH_PX)
        right = frames[:, 2].max(initial=right, where=frames[:, 2] < right + _REACH_PX)
        return float(left) - _PADDING_PX, float(right) + _PADDING_PX

    def _cut(self, top: float, bottom: float) -> float:
        """Return the lowest place from ``bottom`` up that no box lies on, no group if near."""
        for cuts_no_group in (True, False):
            spans = [
                (
                    b.top - 4.0,
                    b.top + (FRAME_TITLE_PX if b.is_frame and not cuts_no_group else b.height),
                )
                for b in self._boxes
            ]
            place = bottom
            while over := [start for start, end in spans if start < place < end]:
                place = min(over)
            if place > top + _MIN_FILLED * (bottom - top) * cuts_no_group:
                return place
        return bottom  # a box higher than a page is cut


def within(line: Sequence[Point], band: Band) -> Iterator[tuple[Point, Point]]:
    """Yield the parts of an edge that lie in a band, each from above."""
    for (x1, y1), (x2, y2) in pairwise(line):
        upper, lower = max(y1, band.top), min(y2, band.bottom)
        if upper < lower:
            slope = (x2 - x1) / (y2 - y1)
            yield (x1 + slope * (upper - y1), upper), (x1 + slope * (lower - y1), lower)


def _bent(points: Sequence[Point]) -> list[Point]:
    """Return a line as the window draws it: straight within layers, curved between them."""
    line = [points[0]]
    for place, ((x1, y1), (x2, y2)) in enumerate(pairwise(points)):
        if place % 2 and x1 != x2:
            for step in range(1, _BEND_STEPS):
                part = step / _BEND_STEPS
                # The curve of two level ends: both coordinates by their Bernstein polynomials.
                across = part**2 * (3 - 2 * part)
                down = 1.5 * part * (1 - part) + part**3
                line.append((x1 + (x2 - x1) * across, y1 + (y2 - y1) * down))
        line.append((x2, y2))
    return line
