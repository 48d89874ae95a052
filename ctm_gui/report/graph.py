"""A graph on paper: the boxes that the window draws, in bands from the top down."""

from __future__ import annotations

import math
from dataclasses import replace

from ctm_gui.report.flow import BOTTOM, LEFT, SMALL, TOP, Flow, mixed
from ctm_gui.report.graph_bands import FRAME_TITLE_PX, Band, GraphBands, Point, within
from ctm_gui.report.marks import Box, Line, Mark, Style, Text
from ctm_gui.widgets.theme import LIGHT
from predictor.presentation.report import Graph, GraphBox
from predictor.presentation.wording import percent

_SCALE = 5.2  # units of the page a pixel of the window, where there is room
_PARTS = (1.0, 0.95, 0.9, 0.85)  # of it, for the sake of fewer pages
_LEGIBLE = 0.6  # of it: a graph whose letters would be smaller is turned
_TITLE_PX, _WORDS_PX = 13.0, 11.0
_PADDING_PX = 8.0
_LEGEND, _TITLES = 190.0, 540.0
_MIN_ROOM = 1500.0  # room under which a graph is not begun
_MIN_TURNED = 0.95  # of a page under its titles, which may take more lines
_RAMP, _STEPS = 560.0, 28
_INK_TURNS = 0.43  # part from which light letters have more contrast than dark ones
_PALE = 0.1


def graph_height(flow: Flow, graph: Graph) -> float:
    """Return the room under which a graph is not begun: that of the whole where it is short."""
    bands = GraphBands(graph)
    if _turned_page(flow, bands, _room(flow)):
        return _LEGEND + _MIN_TURNED * _room(flow)
    return min(_LEGEND + graph.height * _scale(flow.width, bands), _MIN_ROOM)


def draw_graph(flow: Flow, graph: Graph) -> None:
    """Set a graph, cut between its boxes into as many bands and pages as it takes.

    One that is much wider than a page is turned to the left, so that its letters can be read.
    """
    bands = GraphBands(graph)
    flow.need(graph_height(flow, graph))
    _legend(flow, graph.largest)
    room = min(flow.room, _room(flow))
    if turned := _turned_page(flow, bands, room):
        _draw_turned(flow, graph, bands, turned, _scale(room, bands))
        return
    page_height = flow.size.height - TOP - BOTTOM
    pages, scale = _fitted(bands, flow.width, flow.room, page_height)
    for number, page in enumerate(pages):
        if number:
            flow.need(flow.size.height)
        for band in page:
            _band(flow, graph, bands, band, (LEFT, flow.y), scale)
        flow.y += max(band.bottom - band.top for band in page) * scale + 100.0


def _draw_turned(
    flow: Flow, graph: Graph, bands: GraphBands, page: list[Band], scale: float
) -> None:
    """Set the bands of a page turned to the left: their height lies across the page."""
    canvas = Flow(flow.size, flow.typeface)
    for band in page:
        _band(canvas, graph, bands, band, (0.0, 0.0), scale)
    flow.y += (page[-1].x + page[-1].right - page[-1].left) * scale
    flow.put(*(_turned(mark, flow.y) for mark in canvas.marks))
    flow.y += 100.0


def _turned(mark: Mark, bottom: float) -> Mark:
    """Return a mark turned to the left, what was at the left at ``bottom``."""
    if isinstance(mark, Text):
        return replace(mark, x=LEFT + mark.y, y=bottom - mark.x, angle=mark.angle - 90.0)
    if isinstance(mark, Box):
        y = bottom - mark.x - mark.width
        return replace(mark, x=LEFT + mark.y, y=y, width=mark.height, height=mark.width)
    x1, x2, y1, y2 = LEFT + mark.y1, LEFT + mark.y2, bottom - mark.x1, bottom - mark.x2
    return replace(mark, x1=x1, y1=y1, x2=x2, y2=y2)


def _turned_page(flow: Flow, bands: GraphBands, room: float) -> list[Band]:
    """Return the bands of a graph that is so wide that it is read more easily turned, else none.

    It has to fit on a page, of which so much room is left.
    """
    scale = _scale(room, bands)
    across = flow.width / scale
    pages = bands.pages(room / scale, across, across)
    is_small = _scale(flow.width, bands) < _LEGIBLE * _SCALE
    return pages[0] if is_small and len(pages) == 1 else []


def _room(flow: Flow) -> float:
    """Return the height of a page under the titles of a section and a pair."""
    return flow.size.height - TOP - BOTTOM - _TITLES - _LEGEND


def _scale(width: float, bands: GraphBands) -> float:
    """Return units a pixel with which the widest band is as wide as a page at most."""
    return min(_SCALE, width / max(bands.widest, 1.0))


def _fitted(
    bands: GraphBands, width: float, first: float, height: float
) -> tuple[list[list[Band]], float]:
    """Return the bands of each page and their scale: the largest of those with fewest pages.

    Args:
        bands: of the graph.
        width: of a page.
        first: height that is left on the first page.
        height: of a page.
    """
    scales = [part * _scale(width, bands) for part in _PARTS]
    tried = [(bands.pages(width / s, first / s, height / s), s) for s in scales]
    return min(tried, key=lambda layout: len(layout[0]))


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


def _band(
    flow: Flow, graph: Graph, bands: GraphBands, band: Band, corner: Point, scale: float
) -> None:
    """Set what of a graph lies in a band; the page's first band begins at the corner."""
    left = corner[0] + (band.x - band.left) * scale
    base = corner[1] - band.top * scale
    boxes = [
        box for box in graph.boxes if box.top < band.bottom and box.top + box.height > band.top
    ]
    for box in boxes:
        if box.is_frame:
            _frame(flow, box, band, (left, base), scale)
    for line in bands.lines:
        for ends in within(line, band):
            (x1, y1), (x2, y2) = ((left + x * scale, base + y * scale) for x, y in ends)
            flow.put(Line(x1, y1, x2, y2, LIGHT.outline, 6.0))
    for box in boxes:
        if not box.is_frame:
            _box(flow, box, graph.largest, (left, base), scale)


def _frame(flow: Flow, box: GraphBox, band: Band, origin: Point, scale: float) -> None:
    """Set the sides of a group that lie in a band, and its title where its top does."""
    left, base = origin
    ends = max(box.left, band.left), min(box.left + box.width, band.right)
    top, bottom = max(box.top, band.top), min(box.top + box.height, band.bottom)
    if ends[0] >= ends[1]:
        return
    x1, x2 = (left + end * scale for end in ends)
    y1, y2 = base + top * scale, base + bottom * scale
    flow.put(Box(x1, y1, x2 - x1, y2 - y1, LIGHT.background))
    sides = [(x1, y1, x1, y2)] if box.left >= band.left else []
    sides += [(x2, y1, x2, y2)] if box.left + box.width <= band.right else []
    sides += [(x1, y1, x2, y1)] if box.top >= band.top else []
    sides += [(x1, y2, x2, y2)] if box.top + box.height <= band.bottom else []
    flow.put(*(Line(*side, LIGHT.outline) for side in sides))
    if box.top >= band.top:
        middle = y1 + FRAME_TITLE_PX / 2 * scale
        _words(flow, box, (x1, x2), (middle, middle), (LIGHT.text, LIGHT.muted), scale)


def _box(flow: Flow, box: GraphBox, largest: float, origin: Point, scale: float) -> None:
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
    time_width = flow.typeface.width(box.time, small) + _PADDING_PX * scale
    (ink, pale), (upper, lower) = inks, middles
    title_room = right - left - (time_width if box.is_frame else 0.0)
    top = upper - flow.typeface.line_height(title) / 2
    flow.text(left, top, flow.fitted(box.title, title, title_room), title, ink)
    top = lower - flow.typeface.line_height(small) / 2
    flow.text_right(right, top, box.time, small, ink)
    if not box.is_frame:
        flow.text(left, top, flow.fitted(box.detail, small, right - left - time_width), small, pale)
