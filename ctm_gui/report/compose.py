"""A report on pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ctm_gui.report.chart import chart_height, draw_chart
from ctm_gui.report.flow import (
    BODY,
    BODY_BOLD,
    LARGE,
    LEFT,
    SMALL,
    SMALL_BOLD,
    TONES,
    Flow,
    mixed,
    rule,
    strip,
)
from ctm_gui.report.graph import draw_graph, graph_height
from ctm_gui.report.marks import Box, Line, Pages, PageSize, Style, Text, Typeface, wrapped
from ctm_gui.report.roofline import draw_roofline, roofline_height
from ctm_gui.report.tables import draw_facts, draw_table
from ctm_gui.report.timeline import draw_timeline, timeline_height
from ctm_gui.widgets.theme import LIGHT
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.presentation.report import (
    USUAL_SECTIONS,
    BarChart,
    Block,
    Bullets,
    Commands,
    Facts,
    Graph,
    Heading,
    HeatMap,
    Paragraph,
    Report,
    RooflineChart,
    Section,
    Table,
    Timeline,
)
from predictor.presentation.wording import percent

_TINY = Style(62)
_NAME_SHARE = 0.30
_ROW = 112.0
_MAX_HEAD = 860.0
_WIDEST_CELL = 420.0
_MAP_TITLE = 160.0
_ROWS_TOGETHER = 24
_EVEN = 3.0


def draw_heat_map(flow: Flow, heat_map: HeatMap) -> None:
    """Set a heat map; a page that it goes on to has the names of the columns again."""
    names_width = flow.width * _NAME_SHARE
    cell = min((flow.width - names_width) / max(len(heat_map.columns), 1), _WIDEST_CELL)
    labels, head = _labels(flow, heat_map)
    flow.need(heat_map_height(flow, heat_map))
    flow.text(LEFT, flow.y, flow.fitted(heat_map.title, BODY_BOLD, flow.width), BODY_BOLD)
    flow.y += _MAP_TITLE
    _head(flow, heat_map.row_title, labels, cell, head)
    shares = [value for row in heat_map.values for value in row]
    highest = max(shares, default=0.0)
    # A map of shares that is even all over stays pale: nothing stands out of it.
    even = _EVEN * sum(shares) / max(len(shares), 1)
    darkest = highest if heat_map.texts else max(highest, even)
    texts = heat_map.texts or (None,) * len(heat_map.rows)
    for name, values, written in zip(heat_map.rows, heat_map.values, texts, strict=True):
        if flow.need(_ROW):
            _head(flow, heat_map.row_title, labels, cell, head)
        flow.text(LEFT, flow.y + 12.0, flow.fitted(name, SMALL, names_width - 60.0), SMALL)
        _cells(flow, values, written, darkest or 1.0, cell)
        flow.y += _ROW
    flow.y += 140.0


def heat_map_height(flow: Flow, heat_map: HeatMap) -> float:
    """Return the room under which a heat map is not begun: that of the whole where it is short."""
    return _MAP_TITLE + _labels(flow, heat_map)[1] + _ROW * min(len(heat_map.rows), _ROWS_TOGETHER)


def _labels(flow: Flow, heat_map: HeatMap) -> tuple[list[str], float]:
    """Return the columns' names as they fit upright, and the height that they need."""
    labels = [flow.fitted(name, SMALL, _MAX_HEAD) for name in heat_map.columns]
    highest = max((flow.typeface.width(label, SMALL) for label in labels), default=0.0)
    return labels, highest + 60.0


def _head(flow: Flow, row_title: str, labels: Sequence[str], cell: float, head: float) -> None:
    """Set the columns' names upright over their cells."""
    bottom = flow.y + head
    title_top = bottom - flow.typeface.line_height(SMALL_BOLD) - 20.0
    flow.text(LEFT, title_top, row_title, SMALL_BOLD)
    x = LEFT + flow.width * _NAME_SHARE
    for place, label in enumerate(labels):
        # Turned text stands on its base line: about a third of the ascent centres lower case.
        baseline = x + (place + 0.5) * cell + flow.typeface.ascent(SMALL) * 0.35
        flow.put(Text(baseline, bottom - 30.0, label, SMALL, LIGHT.text, -90.0))
    flow.y = bottom


def _cells(
    flow: Flow, values: Sequence[float], written: Sequence[str] | None, darkest: float, cell: float
) -> None:
    x = LEFT + flow.width * _NAME_SHARE
    for place, value in enumerate(values):
        strength = min(max(0.0, value / darkest), 1.0)
        left = x + place * cell
        flow.put(Box(left, flow.y, cell, _ROW, mixed(LIGHT.accent, strength), LIGHT.surface))
        text = _percentage(flow, value, cell) if written is None else written[place]
        text = flow.fitted(text, _TINY, cell)
        width = flow.typeface.width(text, _TINY)
        colour = LIGHT.on_accent if strength > 0.5 else LIGHT.text
        top = flow.y + (_ROW - flow.typeface.line_height(_TINY)) / 2 + 6.0
        flow.text(left + (cell - width) / 2, top, text, _TINY, colour)


def _percentage(flow: Flow, value: float, cell: float) -> str:
    """Return a share with a decimal where it is small and there is room."""
    with_decimal, rounded = (percent(round(value, decimals), 2) for decimals in (3, 2))
    return with_decimal if flow.typeface.width(with_decimal, _TINY) < cell else rounded


_TITLE = Style(230, bold=True)
_SUBTITLE = Style(110)
_HEADING = Style(104, bold=True)
# A section's title stays with the beginning of what follows.
_PARAGRAPH_ROOM = 1500.0
# So does a heading; its own height and that of a paragraph are in it.
_HEADED = 900.0
_ABOVE, _BELOW = 60.0, 50.0  # a heading


def compose(
    report: Report,
    size: PageSize,
    cancel: CancelToken | None = None,
    progress: ProgressCallback = no_progress,
) -> Pages:
    """Lay a report out on pages.

    The fonts must be registered. It may run on any thread.

    Args:
        report: with at least a title.
        size: of the pages.
        cancel: asks to stop.
        progress: called with each block.

    Raises:
        CancelledError: a stop was requested.
    """
    token = cancel or CancelToken()
    flow = Flow(size, Typeface())
    _title(flow, report)
    contents = _contents(flow, report) if len(report.sections) > len(USUAL_SECTIONS) else []
    total = sum(len(section.blocks) for section in report.sections)
    done = 0
    for place, section in enumerate(report.sections):
        _section_title(flow, section)
        if contents:
            _number(flow, contents[place])
        for number, block in enumerate(section.blocks):
            token.check()
            progress(Progress(done, total, f"Laying out {section.title}"))
            if isinstance(block, Heading):
                flow.need(_heading_height(flow, section.blocks[number + 1 : number + 3]))
            _DRAWN[type(block)](flow, block)
            done += 1
    return Pages(report.title, size, flow.finished(f"{report.title} · {report.program}"))


def _title(flow: Flow, report: Report) -> None:
    flow.put(strip(flow, flow.y, 28.0, LIGHT.accent))
    flow.y += 120.0
    flow.lines(report.title, _TITLE, 3)
    flow.y += 30.0
    flow.lines(report.subtitle, _SUBTITLE, 3)
    minute = report.created[:16].replace("T", " ")  # of the zone that it was made in
    made = f"{minute} · {report.program}"
    flow.text(LEFT, flow.y + 20.0, flow.fitted(made, SMALL, flow.width), SMALL, LIGHT.muted)
    flow.y += 220.0


def _contents(flow: Flow, report: Report) -> list[tuple[float, float]]:
    """Set the titles of the sections; returns the right ends of their page numbers."""
    places = []
    height = flow.typeface.line_height(SMALL) * 1.15
    half = (len(report.sections) + 1) // 2
    between = 300.0
    column = (flow.width - between) / 2
    for place, section in enumerate(report.sections):
        x = LEFT + (place // half) * (column + between)
        top = flow.y + (place % half) * height
        flow.text(x, top, flow.fitted(section.title, SMALL, column - 500.0), SMALL)
        places.append((x + column, top))
    flow.y += half * height + 160.0
    return places


def _number(flow: Flow, place: tuple[float, float]) -> None:
    """Write into the contents that a section begins on this page."""
    right, top = place
    number = str(flow.page + 1)
    x = right - flow.typeface.width(number, SMALL)
    baseline = top + flow.typeface.ascent(SMALL)
    # Known only now; the contents are always on the first page.
    flow.put(Text(x, baseline, number, SMALL, LIGHT.muted), page=0)


def _section_title(flow: Flow, section: Section) -> None:
    flow.skip(160.0)
    flow.need(_first_height(flow, section.blocks))
    flow.text(LEFT, flow.y, flow.fitted(section.title, LARGE, flow.width), LARGE, LIGHT.accent)
    flow.y += flow.typeface.line_height(LARGE) + 20.0
    flow.put(rule(flow, flow.y, LIGHT.accent, 8.0))
    flow.y += 110.0


def _first_height(flow: Flow, blocks: Sequence[Block]) -> float:
    """Return the room that a section's title needs so that it does not stand alone."""
    if not blocks or not isinstance(blocks[0], Heading):
        return _PARAGRAPH_ROOM
    title = flow.typeface.line_height(LARGE) + 130.0
    return max(_PARAGRAPH_ROOM, title + _heading_height(flow, blocks[1:3]))


def _heading_height(flow: Flow, following: Sequence[Block]) -> float:
    """Return the room of a heading with the beginning of its content, so that it is never alone."""
    room = _HEADED
    # A picture right under its heading has no paragraph between.
    above = _ABOVE + flow.typeface.line_height(_HEADING) + _BELOW
    for block in following:
        if isinstance(block, Heading):
            break
        if isinstance(block, BarChart):
            room = above + chart_height(block)
        elif isinstance(block, HeatMap):
            room = above + heat_map_height(flow, block)
        elif isinstance(block, RooflineChart):
            room = above + roofline_height(flow)
        elif isinstance(block, Timeline):
            room = above + timeline_height(block)
        elif isinstance(block, Graph):
            room = above + graph_height(flow, block)
        above = _HEADED
    return room


def _heading(flow: Flow, heading: Heading) -> None:
    flow.skip(_ABOVE)
    lines = wrapped(flow.typeface, heading.text, _HEADING, flow.width, 2)
    height = flow.typeface.line_height(_HEADING)
    for line in lines:
        flow.text(LEFT, flow.y, line, _HEADING)
        flow.y += height
    if heading.detail:
        _detail(flow, heading.detail, flow.typeface.width(lines[-1], _HEADING), height)
    flow.y += _BELOW


def _detail(flow: Flow, detail: str, title_width: float, height: float) -> None:
    """Set the detail behind the heading, below it where it does not fit there."""
    x = title_width + 120.0
    if x + flow.typeface.width(flow.typeface.drawable(detail), SMALL) <= flow.width:
        top = flow.y - height + (flow.typeface.ascent(_HEADING) - flow.typeface.ascent(SMALL))
        flow.text(LEFT + x, top, flow.typeface.drawable(detail), SMALL, LIGHT.muted)
    else:
        flow.paragraph(detail, SMALL, LIGHT.muted)


def _paragraph(flow: Flow, paragraph: Paragraph) -> None:
    flow.paragraph(paragraph.text, BODY, TONES[paragraph.tone])
    flow.y += 80.0


def _bullets(flow: Flow, bullets: Bullets) -> None:
    for item in bullets.items:
        flow.need(flow.typeface.line_height(BODY))
        middle = flow.y + flow.typeface.ascent(BODY) * 0.66
        flow.put(Line(LEFT + 40.0, middle, LEFT + 75.0, middle, TONES[item.tone], 30.0))
        flow.paragraph(item.text, BODY, TONES[item.tone], 150.0)
        flow.y += 25.0
    flow.y += 70.0


def _commands(flow: Flow, commands: Commands) -> None:
    height = flow.typeface.line_height(SMALL)
    for command in commands.lines:
        lines = wrapped(flow.typeface, command, SMALL, flow.width - 200.0)
        for line in lines:
            flow.need(height)
            flow.put(strip(flow, flow.y, height + 1.0, LIGHT.background))
            flow.text(LEFT + 100.0, flow.y + 8.0, line, SMALL)
            flow.y += height
        flow.y += 60.0
    flow.y += 60.0


_DRAWN: dict[type, Callable[[Flow, Any], None]] = {
    Heading: _heading,
    Paragraph: _paragraph,
    Bullets: _bullets,
    Facts: draw_facts,
    Commands: _commands,
    Table: draw_table,
    BarChart: draw_chart,
    HeatMap: draw_heat_map,
    RooflineChart: draw_roofline,
    Timeline: draw_timeline,
    Graph: draw_graph,
}
