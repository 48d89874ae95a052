"""Lanes of pieces over time, on paper."""

from __future__ import annotations

from ctm_gui.report.flow import LEFT, SMALL, Flow
from ctm_gui.report.marks import Box, Line, Style
from ctm_gui.widgets.theme import LIGHT
from predictor.presentation.report import Lane, Timeline
from predictor.presentation.wording import number

_TINY = Style(62)
_LEGEND, _LANE, _GAP, _AXIS = 170.0, 130.0, 25.0, 260.0
_NAMES = 560.0
_TICKS = 5
_MIN_LABEL = 110.0


def timeline_height(timeline: Timeline) -> float:
    """Return the room that a timeline needs: all of it is on one page."""
    return _LEGEND + len(timeline.lanes) * (_LANE + _GAP) + _AXIS


def draw_timeline(flow: Flow, timeline: Timeline) -> None:
    """Set the lanes with legend and axis."""
    flow.need(timeline_height(timeline))
    left, width = LEFT + _NAMES, flow.width - _NAMES
    x = LEFT
    for place, name in enumerate(timeline.series):
        flow.put(Box(x, flow.y + 20.0, 70.0, 70.0, LIGHT.series[place]))
        flow.text(x + 110.0, flow.y, name, SMALL)
        x += flow.typeface.width(name, SMALL) + 330.0
    flow.y += _LEGEND
    top = flow.y
    for lane in timeline.lanes:
        height = flow.typeface.line_height(SMALL)
        flow.text(LEFT, flow.y + (_LANE - height) / 2, lane.name, SMALL)
        _lane(flow, lane, left, width / timeline.total)
        flow.y += _LANE + _GAP
    _axis(flow, timeline, left, width, top)


def _lane(flow: Flow, lane: Lane, left: float, scale: float) -> None:
    height = flow.typeface.line_height(_TINY)
    for span in lane.spans:
        x, width = left + span.start * scale, (span.end - span.start) * scale
        if span.series is not None:
            flow.put(Box(x, flow.y, width, _LANE, LIGHT.series[span.series]))
            continue
        flow.put(Box(x, flow.y, width, _LANE, LIGHT.background, LIGHT.outline))
        if width > _MIN_LABEL:
            text = flow.fitted(span.label, _TINY, width - 30.0)
            flow.text(x + 15.0, flow.y + (_LANE - height) / 2, text, _TINY)


def _axis(flow: Flow, timeline: Timeline, left: float, width: float, top: float) -> None:
    bottom = flow.y
    for place in range(_TICKS + 1):
        x, text = left + width * place / _TICKS, number(timeline.total * place / _TICKS)
        flow.put(Line(x, top, x, bottom, LIGHT.grid))
        half = flow.typeface.width(text, _TINY) / 2
        flow.text(min(x - half, left + width - 2 * half), bottom + 20.0, text, _TINY, LIGHT.muted)
    flow.put(Line(left, bottom, left + width, bottom, LIGHT.outline))
    flow.text_right(left + width, bottom + 120.0, timeline.axis, _TINY, LIGHT.muted)
    flow.y = bottom + _AXIS
