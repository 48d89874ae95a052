"""Charts of latencies: whiskers, bounds, the budget, as many pages as it takes.

On a logarithmic axis the length of a bar means nothing: a dot marks the value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from ctm_gui.report.flow import LEFT, SMALL, SMALL_BOLD, Flow, mixed
from ctm_gui.report.marks import Box, Line, Style
from ctm_gui.widgets.geometry import linear_ticks, log_ticks
from ctm_gui.widgets.theme import LIGHT
from predictor.core.units import significant
from predictor.presentation.report import Bar, BarChart, Limit

_TINY = Style(66)
_NAME_SHARE = 0.33
_BAR = 110.0
_SINGLE = 235.0
_BETWEEN = 60.0
_LABEL_GAP = 60.0
_AXIS = 300.0
_HEAD = 150.0
_PALE = 0.25
_DOT = 76.0
_FRAME_PADDING = 24.0
_ARROW = 120.0  # length of the arrow of a limit
_HEAD_OF_ARROW = 30.0


@dataclass(frozen=True, slots=True)
class _Scale:
    """An axis on the page: places of values."""

    left: float
    width: float
    low: float
    high: float
    logarithmic: bool

    def x(self, value: float) -> float:
        if not self.logarithmic:
            return self.left + self.width * value / self.high
        if value <= self.low:
            return self.left
        span = math.log10(self.high / self.low)
        return self.left + self.width * math.log10(value / self.low) / span


def draw_chart(flow: Flow, chart: BarChart) -> None:
    """Set a chart; a page that it goes on to has the axis again."""
    groups = [list(bars) for _, bars in groupby(chart.bars, key=_target)]
    scale = _scale(flow, chart)
    while groups:
        heights = [_group_height(group) for group in groups]
        # A chart begins with three groups and its axis, or on the next page.
        flow.need(_HEAD + sum(heights[:3]) + _AXIS)
        count = _fitting(heights, flow.room - _HEAD - _AXIS)
        _part(flow, chart, groups[:count], scale)
        groups = groups[count:]
    if chart.note:
        flow.paragraph(chart.note, SMALL, LIGHT.muted)
    flow.y += 140.0


def chart_height(chart: BarChart) -> float:
    """Return the room under which a chart is not begun."""
    groups = [list(bars) for _, bars in groupby(chart.bars, key=_target)]
    return _HEAD + sum(map(_group_height, groups[:3])) + _AXIS


def _target(bar: Bar) -> tuple[str, str]:
    return bar.label, bar.detail


def _fitting(heights: Sequence[float], room: float) -> int:
    """Return the number of groups that fit, at least one."""
    return max(sum(used <= room for used in accumulate(heights)), 1)


def _part(flow: Flow, chart: BarChart, groups: Sequence[list[Bar]], scale: _Scale) -> None:
    """Set the groups of one page with legend and axis."""
    _legend(flow, chart)
    top = flow.y + _HEAD
    tops = [top + sum(map(_group_height, groups[:place])) for place in range(len(groups) + 1)]
    numbers = max((i + 1 for i, group in enumerate(groups) if _has_number(group)), default=0)
    ticks = _ticks(scale)
    for tick in ticks:
        flow.put(Line(scale.x(tick), top, scale.x(tick), tops[-1], LIGHT.grid))
    for group, y in zip(groups, tops, strict=False):
        _names(flow, group, scale, y)
        _bars(flow, group, scale, y)
    if chart.budget is not None and scale.low < chart.budget <= scale.high * 1.001:
        _budget(flow, chart, scale, top, tops[numbers])
    for group, y in zip(groups, tops, strict=False):
        _labels(flow, group, scale, y)
    _axis(flow, chart, ticks, scale, tops[-1])


def _has_number(group: Sequence[Bar]) -> bool:
    return any(bar.value is not None for bar in group)


def _legend(flow: Flow, chart: BarChart) -> None:
    if len(chart.series) < 2:
        return
    room = flow.width / min(len(chart.series), 3)
    for place, name in enumerate(chart.series):
        x = LEFT + (place % 3) * room
        if place and place % 3 == 0:
            flow.y += 130.0
        flow.put(Box(x, flow.y + 20.0, 70.0, 70.0, _colour(place)))
        flow.text(x + 110.0, flow.y, flow.fitted(name, SMALL, room - 200.0), SMALL)
    flow.y += 130.0


def _names(flow: Flow, group: Sequence[Bar], scale: _Scale, top: float) -> None:
    """Set the name of a target and its configuration beside its bars."""
    width = scale.left - LEFT - _LABEL_GAP
    lines = 2 if group[0].detail else 1
    y = top + (_group_height(group) - 100.0 * lines) / 2
    flow.text(LEFT, y, flow.fitted(group[0].label, SMALL_BOLD, width), SMALL_BOLD)
    if group[0].is_configuration:
        _framed(flow, group[0].detail, y + 100.0, width)
        return
    detail = flow.fitted(group[0].detail, _TINY, width)
    flow.text(LEFT, y + 100.0, detail, _TINY, LIGHT.muted)


def _framed(flow: Flow, words: str, top: float, width: float) -> None:
    """Set how a target runs in a frame, as readable as its name."""
    text = flow.fitted(words, _TINY, width - 2 * _FRAME_PADDING)
    height = flow.typeface.line_height(_TINY)
    frame = flow.typeface.width(text, _TINY) + 2 * _FRAME_PADDING
    flow.put(Box(LEFT, top + 8.0, frame, height + 8.0, LIGHT.surface, LIGHT.outline))
    flow.text(LEFT + _FRAME_PADDING, top + 12.0, text, _TINY)


def _bar_tops(group: Sequence[Bar], top: float) -> list[float]:
    first = top + (_group_height(group) - _BAR * len(group)) / 2
    return [first + place * _BAR for place in range(len(group))]


def _bars(flow: Flow, group: Sequence[Bar], scale: _Scale, top: float) -> None:
    for bar, y in zip(group, _bar_tops(group, top), strict=True):
        if bar.value is not None:
            _bar(flow, bar, bar.value, scale, y)


def _bar(flow: Flow, bar: Bar, value: float, scale: _Scale, top: float) -> None:
    if bar.limit is not Limit.NONE:
        _limit(flow, bar, scale.x(value), top + _BAR / 2)
        return
    colour, width = _colour(bar.series), max(scale.x(value) - scale.left, 6.0)
    fill, outline = (mixed(colour, _PALE), colour) if bar.over else (colour, "")
    if not scale.logarithmic:
        flow.put(Box(scale.left, top + 14.0, width, _BAR - 28.0, fill, outline))
    for low, high, thickness in ((bar.low95, bar.high95, 8.0), (bar.low80, bar.high80, 20.0)):
        if low is not None and high is not None:
            _whisker(flow, scale, (low, high), top + _BAR / 2, thickness)
    if bar.bound is not None and bar.bound >= scale.low:
        x = scale.x(bar.bound)
        _haloed(flow, x, top + 6.0, x, top + _BAR - 6.0, 12.0)
    if scale.logarithmic:
        x, y = scale.x(value) - _DOT / 2, top + (_BAR - _DOT) / 2
        flow.put(Box(x, y, _DOT, _DOT, fill, outline or LIGHT.surface, is_round=True))


def _limit(flow: Flow, bar: Bar, x: float, y: float) -> None:
    """Set an arrow from a limit to where the truth may lie."""
    colour = _colour(bar.series)
    end = x + (_ARROW if bar.limit is Limit.LOWER else -_ARROW)
    back = end - math.copysign(_HEAD_OF_ARROW, end - x)
    flow.put(
        Line(x, y - _DOT / 2, x, y + _DOT / 2, colour, 16.0),
        Line(x, y, end, y, colour, 12.0),
        Line(back, y - _HEAD_OF_ARROW, end, y, colour, 12.0),
        Line(back, y + _HEAD_OF_ARROW, end, y, colour, 12.0),
    )


def _labels(flow: Flow, group: Sequence[Bar], scale: _Scale, top: float) -> None:
    """Set the words at the bars' ends, on the paper's colour: the budget's line may be there."""
    height = flow.typeface.line_height(_TINY)
    for bar, y in zip(group, _bar_tops(group, top), strict=True):
        text_top = y + (_BAR - height) / 2 + 4.0
        if bar.value is None:
            words = flow.fitted(bar.text, _TINY, LEFT + flow.width - scale.left - 40.0)
            flow.text(scale.left + 20.0, text_top, words, _TINY, LIGHT.muted)
            continue
        x = scale.x(_reach(bar)) + _after(bar) + 40.0
        width = flow.typeface.width(bar.text, _TINY)
        flow.put(Box(x - 12.0, text_top, width + 24.0, height, LIGHT.surface))
        flow.text(x, text_top, bar.text, _TINY)


def _whisker(
    flow: Flow, scale: _Scale, ends: tuple[float, float], y: float, thickness: float
) -> None:
    low, high = scale.x(ends[0]), scale.x(ends[1])
    _haloed(flow, low, y, high, y, thickness)
    for x in (low, high):
        flow.put(Line(x, y - 24.0, x, y + 24.0, LIGHT.text, 8.0))


def _haloed(flow: Flow, x1: float, y1: float, x2: float, y2: float, thickness: float) -> None:
    """Set a line with a rim in the colour of the paper, readable on any bar."""
    flow.put(
        Line(x1, y1, x2, y2, LIGHT.surface, thickness + 12.0),
        Line(x1, y1, x2, y2, LIGHT.text, thickness),
    )


def _budget(flow: Flow, chart: BarChart, scale: _Scale, top: float, bottom: float) -> None:
    x = scale.x(chart.budget or 0.0)
    flow.put(Line(x, top - 30.0, x, bottom, LIGHT.bad, 12.0, dashed=True))
    width = flow.typeface.width(chart.budget_text, _TINY)
    x = min(x - width / 2, LEFT + flow.width - width)
    flow.text(x, top - 130.0, chart.budget_text, _TINY, LIGHT.bad)


def _axis(
    flow: Flow, chart: BarChart, ticks: Sequence[float], scale: _Scale, bottom: float
) -> None:
    flow.put(Line(scale.left, bottom, LEFT + flow.width, bottom, LIGHT.outline))
    for tick in ticks:
        text = significant(tick)
        flow.put(Line(scale.x(tick), bottom, scale.x(tick), bottom + 25.0, LIGHT.outline))
        x = scale.x(tick) - flow.typeface.width(text, _TINY) / 2
        flow.text(x, bottom + 30.0, text, _TINY, LIGHT.muted)
    flow.text_right(LEFT + flow.width, bottom + 130.0, chart.axis, _TINY, LIGHT.muted)
    flow.y = bottom + _AXIS


def _scale(flow: Flow, chart: BarChart) -> _Scale:
    """Return a scale on which every bar, its whisker and its label fit."""
    left = LEFT + flow.width * _NAME_SHARE
    width = flow.width * (1 - _NAME_SHARE)
    numbers = [bar for bar in chart.bars if bar.value is not None]
    reach = [_reach(bar) for bar in numbers]
    high = max([*reach, chart.budget or 0.0, 0.0]) or 1.0
    low = _lowest(numbers, high) if chart.logarithmic else 0.0
    room = width
    for bar, end in zip(numbers, reach, strict=True):
        part = _Scale(0.0, 1.0, low, high, chart.logarithmic).x(end)
        label = flow.typeface.width(bar.text, _TINY) + _LABEL_GAP + _after(bar)
        if part > 0:
            # part * room + label <= width, solved for room: the tightest bar decides.
            room = min(room, (width - label) / part)
    return _Scale(left, max(room, width * 0.4), low, high, chart.logarithmic)


def _reach(bar: Bar) -> float:
    ends = (bar.value, bar.high80, bar.high95)
    return max(end for end in ends if end is not None)


def _after(bar: Bar) -> float:
    """Return the length of the arrow behind a bar."""
    return _ARROW if bar.limit is Limit.LOWER else 0.0


def _lowest(bars: Sequence[Bar], high: float) -> float:
    """Return the beginning of an axis near the data; a bound far under it is left out."""
    marks = [
        mark
        for bar in bars
        for mark in (bar.value, bar.low80, bar.low95)
        if mark is not None and mark > 0
    ]
    return min(marks, default=high / 10) * 0.7


def _ticks(scale: _Scale) -> list[float]:
    if not scale.logarithmic:
        return linear_ticks(scale.high, max(2, int(scale.width / 500.0)))
    labelled, _ = log_ticks(math.log10(scale.low), math.log10(scale.high), scale.width / 5.0)
    return [10.0**tick for tick in labelled]


def _group_height(group: Sequence[Bar]) -> float:
    return max(_SINGLE if group[0].detail else 0.0, _BAR * len(group) + _BETWEEN)


def _colour(series: int) -> str:
    return LIGHT.series[series % len(LIGHT.series)]
