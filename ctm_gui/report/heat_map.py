"""Heat maps: shares in shades of one colour, each with its percentage."""

from __future__ import annotations

from collections.abc import Sequence

from ctm_gui.report.flow import BODY_BOLD, LEFT, SMALL, SMALL_BOLD, Flow, mixed
from ctm_gui.report.marks import Box, Style, Text
from ctm_gui.theme import LIGHT
from predictor.core.report import HeatMap
from predictor.core.wording import percent

_TINY = Style(62)
_NAME_SHARE = 0.30
_ROW = 112.0
_MOST_HEAD = 860.0
_WIDEST_CELL = 420.0
_TITLE = 160.0
_KEPT_ROWS = 24
_EVEN = 3.0


def draw_heat_map(flow: Flow, heat_map: HeatMap) -> None:
    """Set a heat map; a page that it goes on to has the names of the columns again."""
    names_width = flow.width * _NAME_SHARE
    cell = min((flow.width - names_width) / max(len(heat_map.columns), 1), _WIDEST_CELL)
    labels, head = _labels(flow, heat_map)
    flow.need(least_height(flow, heat_map))
    flow.text(LEFT, flow.y, flow.fitted(heat_map.title, BODY_BOLD, flow.width), BODY_BOLD)
    flow.y += _TITLE
    _head(flow, heat_map.row_title, labels, cell, head)
    every = [value for row in heat_map.values for value in row]
    highest = max(every, default=0.0)
    # A map that is even all over stays pale: nothing stands out of it.
    darkest = max(highest, _EVEN * sum(every) / max(len(every), 1)) or 1.0
    for name, values in zip(heat_map.rows, heat_map.values, strict=True):
        if flow.need(_ROW):
            _head(flow, heat_map.row_title, labels, cell, head)
        flow.text(LEFT, flow.y + 12.0, flow.fitted(name, SMALL, names_width - 60.0), SMALL)
        _cells(flow, values, darkest, cell)
        flow.y += _ROW
    flow.y += 140.0


def least_height(flow: Flow, heat_map: HeatMap) -> float:
    """Return the room under which a heat map is not begun: that of the whole where it is short."""
    return _TITLE + _labels(flow, heat_map)[1] + _ROW * min(len(heat_map.rows), _KEPT_ROWS)


def _labels(flow: Flow, heat_map: HeatMap) -> tuple[list[str], float]:
    """Return the columns' names as they fit upright, and the height that they need."""
    labels = [flow.fitted(name, SMALL, _MOST_HEAD) for name in heat_map.columns]
    highest = max((flow.typeface.width(label, SMALL) for label in labels), default=0.0)
    return labels, highest + 60.0


def _head(flow: Flow, row_title: str, labels: Sequence[str], cell: float, head: float) -> None:
    """Set the columns' names upright over their cells."""
    bottom = flow.y + head
    title_top = bottom - flow.typeface.line_height(SMALL_BOLD) - 20.0
    flow.text(LEFT, title_top, row_title, SMALL_BOLD)
    x = LEFT + flow.width * _NAME_SHARE
    for place, label in enumerate(labels):
        baseline = x + (place + 0.5) * cell + flow.typeface.ascent(SMALL) * 0.35
        flow.put(Text(baseline, bottom - 30.0, label, SMALL, LIGHT.text, upward=True))
    flow.y = bottom


def _cells(flow: Flow, values: Sequence[float], darkest: float, cell: float) -> None:
    x = LEFT + flow.width * _NAME_SHARE
    for place, value in enumerate(values):
        strength = min(max(0.0, value / darkest), 1.0)
        left = x + place * cell
        flow.put(Box(left, flow.y, cell, _ROW, mixed(LIGHT.accent, strength), LIGHT.surface))
        text, width = _percentage(flow, value, cell)
        colour = LIGHT.on_accent if strength > 0.5 else LIGHT.text
        top = flow.y + (_ROW - flow.typeface.line_height(_TINY)) / 2 + 6.0
        flow.text(left + (cell - width) / 2, top, text, _TINY, colour)


def _percentage(flow: Flow, value: float, cell: float) -> tuple[str, float]:
    """Return a share with a decimal where it is small and there is room, and its width."""
    texts = [percent(round(value, decimals), 2) for decimals in (3, 2)]
    widths = [flow.typeface.width(text, _TINY) for text in texts]
    place = 0 if widths[0] < cell else 1
    return texts[place], widths[place]
