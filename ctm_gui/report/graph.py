"""A graph on paper: the boxes that the window draws, in columns from the top down."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctm_gui.report.flow import LEFT, SMALL, Flow, mixed
from ctm_gui.report.marks import Box, Line, Style
from ctm_gui.widgets.theme import LIGHT
from predictor.core.report import Graph, GraphBox
from predictor.core.wording import percent

_SCALE = 5.2  # units of the page a pixel of the window, where there is room
_LEAST_PART = 0.85  # of it, for the sake of one more column
_TITLE_PX, _WORDS_PX, _FRAME_TITLE_PX = 13.0, 11.0, 26.0
_PADDING_PX = 8.0
_BETWEEN = 180.0  # columns
_LEGEND = 190.0
_LEAST = 1500.0  # room under which a graph is not begun
_KEPT = 0.65  # of a column that is filled where groups are not cut
_RAMP, _STEPS = 560.0, 28
_INK_TURNS = 0.43  # part from which light letters have more contrast than dark ones
_PALE = 0.1
_BEND_STEPS = 6
_LEAST_COLUMN_PX = 240.0  # higher than a box below the titles of the groups around it


def graph_height(graph: Graph) -> float:
    """Return the room under which a graph is not begun: that of the whole where it is short."""
    return min(_LEGEND + graph.height * _SCALE, _LEAST)


def draw_graph(flow: Flow, graph: Graph) -> None:
    """Set a graph, cut between its boxes into as many columns and pages as it takes."""
    flow.need(graph_height(graph))
    _legend(flow, graph.largest)
    columns = int((flow.width + _BETWEEN) // (_LEAST_PART * _SCALE * graph.width + _BETWEEN)) or 1
    room = (flow.width - (columns - 1) * _BETWEEN) / columns
    scale = min(_SCALE, room / max(graph.width, 1.0))
    pitch = graph.width * scale + _BETWEEN
    top = 0.0
    while top < graph.height:
        bands = _page_of(graph, top, columns, flow.room / scale)
        for place, band in enumerate(bands):
            _column(flow, graph, band, LEFT + place * pitch, scale)
        flow.y += max(bottom - start for start, bottom in bands) * scale + 100.0
        top = bands[-1][1]
        if top < graph.height:
            flow.need(flow.size.height)


def _page_of(graph: Graph, top: float, columns: int, room_px: float) -> list[tuple[float, float]]:
    """Return the columns of a page, about equally high where the rest of the graph fits on it."""
    height = max((graph.height - top) / columns, _LEAST_COLUMN_PX)
    while True:
        bands = list(_bands(graph, top, columns, min(height, room_px)))
        if bands[-1][1] >= graph.height or height >= room_px:
            return bands
        height *= 1.05


def _bands(graph: Graph, top: float, columns: int, height: float) -> Iterator[tuple[float, float]]:
    """Yield top and bottom of each column, in pixels of the graph."""
    for _ in range(columns):
        if top < graph.height:
            bottom = _cut(graph.boxes, top, top + height)
            yield top, min(bottom, graph.height)
            top = bottom


def _cut(boxes: Sequence[GraphBox], top: float, bottom: float) -> float:
    """Return the lowest place from ``bottom`` up that no box lies on, and no group if near."""
    for is_whole in (True, False):
        spans = [
            (b.top - 4.0, b.top + (_FRAME_TITLE_PX if b.is_frame and not is_whole else b.height))
            for b in boxes
        ]
        place = bottom
        while over := [start for start, end in spans if start < place < end]:
            place = min(over)
        if place > top + _KEPT * (bottom - top) * is_whole:
            return place
    return bottom  # a box higher than a page is cut


def _legend(flow: Flow, largest: float) -> None:
    height = flow.typeface.line_height(SMALL)
    x = LEFT
    flow.text(x, flow.y, "0 %", SMALL, LIGHT.muted)
    x += flow.typeface.width("0 %", SMALL) + 60.0
    for step in range(_STEPS):
        colour = _heat(step / (_STEPS - 1))
        flow.put(
            Box(x + step * _RAMP / _STEPS, flow.y + 15.0, _RAMP / _STEPS, height - 35.0, colour)
        )
    flow.put(Box(x, flow.y + 15.0, _RAMP, height - 35.0, outline=LIGHT.outline))
    words = f"{percent(largest, 2)} of the latency in a box"
    flow.text(x + _RAMP + 60.0, flow.y, words, SMALL, LIGHT.muted)
    flow.y += _LEGEND


def _heat(part: float) -> str:
    """Return the colour of a part of the largest share; it follows the root, as in the window."""
    place = math.sqrt(min(max(part, 0.0), 1.0)) * (len(LIGHT.heat) - 1)
    lower = min(int(place), len(LIGHT.heat) - 2)
    return mixed(LIGHT.heat[lower + 1], place - lower, LIGHT.heat[lower])


def _column(flow: Flow, graph: Graph, band: tuple[float, float], left: float, scale: float) -> None:
    """Set what of a graph lies between two heights."""
    start, end = band
    base = flow.y - start * scale
    seen = [box for box in graph.boxes if box.top < end and box.top + box.height > start]
    for box in seen:
        if box.is_frame:
            _frame(flow, box, band, (left, base), scale)
    for points in graph.edges:
        for ends in _within(points, band):
            (x1, y1), (x2, y2) = ((left + x * scale, base + y * scale) for x, y in ends)
            flow.put(Line(x1, y1, x2, y2, LIGHT.outline, 6.0))
    for box in seen:
        if not box.is_frame:
            _box(flow, box, graph.largest, (left, base), scale)


def _within(
    points: Sequence[tuple[float, float]], band: tuple[float, float]
) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the parts of an edge that lie between two heights, each from above."""
    start, end = band
    for (x1, y1), (x2, y2) in pairwise(_bent(points)):
        upper, lower = max(y1, start), min(y2, end)
        if upper < lower:
            slope = (x2 - x1) / (y2 - y1)
            yield (x1 + slope * (upper - y1), upper), (x1 + slope * (lower - y1), lower)


def _bent(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
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


def _frame(
    flow: Flow,
    box: GraphBox,
    band: tuple[float, float],
    origin: tuple[float, float],
    scale: float,
) -> None:
    """Set the sides of a group that lie in a column, and its title where that does."""
    (start, end), (left, base) = band, origin
    top, bottom = max(box.top, start), min(box.top + box.height, end)
    x1, x2 = left + box.left * scale, left + (box.left + box.width) * scale
    y1, y2 = base + top * scale, base + bottom * scale
    flow.put(Box(x1, y1, x2 - x1, y2 - y1, LIGHT.background))
    sides = [(x1, y1, x1, y2), (x2, y1, x2, y2)]
    sides += [(x1, y1, x2, y1)] if box.top >= start else []
    sides += [(x1, y2, x2, y2)] if box.top + box.height <= end else []
    flow.put(*(Line(*side, LIGHT.outline) for side in sides))
    if box.top >= start:
        middle = y1 + _FRAME_TITLE_PX / 2 * scale
        _words(flow, box, (x1, x2), (middle, middle), (LIGHT.text, LIGHT.muted), scale)


def _box(
    flow: Flow, box: GraphBox, largest: float, origin: tuple[float, float], scale: float
) -> None:
    left, base = origin
    part = box.share / largest
    x, y = left + box.left * scale, base + box.top * scale
    width, height = box.width * scale, box.height * scale
    flow.put(Box(x, y, width, height, _heat(part), LIGHT.outline))
    # Muted letters are read on the palest boxes alone.
    inks = (LIGHT.text, LIGHT.muted if part < _PALE else LIGHT.text)
    if part > _INK_TURNS:
        inks = (LIGHT.on_accent,) * 2
    _words(flow, box, (x, x + width), (y + 0.3 * height, y + 0.72 * height), inks, scale)


def _words(
    flow: Flow,
    box: GraphBox,
    ends: tuple[float, float],
    middles: tuple[float, float],
    inks: tuple[str, str],
    scale: float,
) -> None:
    """Set the title in the upper line, in the lower one the time at the right and the type."""
    title, small = Style(round(_TITLE_PX * scale), bold=True), Style(round(_WORDS_PX * scale))
    left, right = ends[0] + _PADDING_PX * scale, ends[1] - _PADDING_PX * scale
    taken = flow.typeface.width(box.time, small) + _PADDING_PX * scale
    (ink, pale), (upper, lower) = inks, middles
    title_room = right - left - (taken if box.is_frame else 0.0)
    top = upper - flow.typeface.line_height(title) / 2
    flow.text(left, top, flow.fitted(box.title, title, title_room), title, ink)
    top = lower - flow.typeface.line_height(small) / 2
    flow.text_right(right, top, box.time, small, ink)
    if not box.is_frame:
        flow.text(left, top, flow.fitted(box.detail, small, right - left - taken), small, pale)
