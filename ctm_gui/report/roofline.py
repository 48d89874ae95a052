"""The roofline on a page: roofs as lines with their names, operators as marks under them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ctm_gui.report.flow import LEFT, SMALL, Flow, mixed
from ctm_gui.report.marks import Box, Line, Style, Text
from ctm_gui.widgets.geometry import log_ticks
from ctm_gui.widgets.theme import LIGHT
from predictor.core.units import format_count
from predictor.presentation.report import RooflineChart, RooflinePoint, RoofMark

_TINY = Style(66)
_LEGEND = 170.0
_PLOT = 1340.0
_AXIS = 300.0
_LABELS = 520.0
_MARGIN = 0.15  # decades
_MIN_SPAN = 2.0  # decades
_MIN_SIZE, _MAX_SIZE = 30.0, 120.0
_CLOSE = 0.15


@dataclass(frozen=True, slots=True)
class _Frame:
    """The plot on the page; places are log10 of FLOPs a byte and of FLOP/s."""

    left: float
    top: float
    width: float
    xs: tuple[float, float]
    ys: tuple[float, float]

    def x(self, place: float) -> float:
        return self.left + self.width * (place - self.xs[0]) / (self.xs[1] - self.xs[0])

    def y(self, place: float) -> float:
        return self.top + _PLOT * (self.ys[1] - place) / (self.ys[1] - self.ys[0])


def roofline_height(flow: Flow) -> float:
    """Return the room that a roofline needs: all of it is on one page."""
    return _LEGEND + _PLOT + _AXIS + 3 * flow.typeface.line_height(SMALL)


def draw_roofline(flow: Flow, chart: RooflineChart) -> None:
    """Set a roofline with legend and axes."""
    flow.need(roofline_height(flow))
    _legend(flow, chart.series)
    frame = _frame(flow, chart)
    _axes(flow, frame, chart.operation)
    named: list[RoofMark] = []
    for roof in chart.roofs:
        line = _roof(frame, roof, chart.roofs)
        if line is None:
            continue
        flow.put(line)
        if not any(_is_close(roof, other) for other in named):
            is_under = any(o.is_memory and o.rate > roof.rate for o in chart.roofs)
            _label(flow, frame, roof, line, is_under=is_under)
            named.append(roof)
    largest_share = max((point.share for point in chart.points), default=1.0)
    for point in reversed(chart.points):  # the slowest on top
        _point(flow, frame, point, largest_share)
    flow.y = frame.top + _PLOT + _AXIS
    flow.paragraph(chart.note, SMALL, LIGHT.muted)
    flow.y += 120.0


def _legend(flow: Flow, series: Sequence[str]) -> None:
    x = LEFT
    for place, name in enumerate(series):
        flow.put(Box(x, flow.y + 20.0, 70.0, 70.0, LIGHT.series[place], is_round=True))
        flow.text(x + 110.0, flow.y, name, SMALL)
        x += flow.typeface.width(name, SMALL) + 330.0


def _frame(flow: Flow, chart: RooflineChart) -> _Frame:
    """Return a plot in which every operator and every meeting of two roofs is."""
    memory = [math.log10(roof.rate) for roof in chart.roofs if roof.is_memory]
    peaks = [math.log10(roof.rate) for roof in chart.roofs if not roof.is_memory]
    xs = [math.log10(point.intensity) for point in chart.points]
    xs += [max(peaks) - min(memory)] if memory and peaks else []
    ys = [math.log10(point.flops_per_s) for point in chart.points] + peaks
    left, width = LEFT + _LABELS, flow.width - _LABELS
    return _Frame(left, flow.y + _LEGEND, width, _ends(xs), _ends(ys))


def _ends(places: Sequence[float]) -> tuple[float, float]:
    low, high = min(places) - _MARGIN, max(places) + _MARGIN
    short = max(_MIN_SPAN - (high - low), 0.0)
    return low - short / 2, high + short / 2


def _axes(flow: Flow, frame: _Frame, operation: str) -> None:
    right, bottom = frame.left + frame.width, frame.top + _PLOT
    half = flow.typeface.line_height(_TINY) / 2
    for tick in log_ticks(*frame.xs, frame.width / 5.0)[0]:
        x, text = frame.x(tick), format_count(10.0**tick)
        flow.put(Line(x, frame.top, x, bottom, LIGHT.grid))
        flow.text(x - flow.typeface.width(text, _TINY) / 2, bottom + 30.0, text, _TINY, LIGHT.muted)
    for tick in log_ticks(*frame.ys, _PLOT / 5.0)[0]:
        y = frame.y(tick)
        flow.put(Line(frame.left, y, right, y, LIGHT.grid))
        text = format_count(10.0**tick)
        flow.text_right(frame.left - 40.0, y - half, text, _TINY, LIGHT.muted)
    flow.put(Line(frame.left, bottom, right, bottom, LIGHT.outline))
    flow.put(Line(frame.left, frame.top, frame.left, bottom, LIGHT.outline))
    flow.text_right(right, bottom + 130.0, f"{operation} a byte", _TINY, LIGHT.muted)
    flow.text(LEFT, frame.top - 10.0, f"{operation}/s", _TINY, LIGHT.muted)


def _is_close(roof: RoofMark, other: RoofMark) -> bool:
    """Whether the names of two roofs would lie on each other."""
    is_close = math.isclose(roof.rate, other.rate, rel_tol=_CLOSE)
    return is_close and roof.is_memory is other.is_memory


def _roof(frame: _Frame, roof: RoofMark, roofs: Sequence[RoofMark]) -> Line | None:
    """Return a roof from edge to edge, a memory's up to the highest arithmetic; None outside."""
    height = math.log10(roof.rate)
    crossing = [math.log10(o.rate) for o in roofs if o.is_memory is not roof.is_memory]
    (left, right), (low, high) = frame.xs, frame.ys
    if roof.is_memory:
        start = max(left, low - height)
        end = min(right, high - height, max(crossing, default=math.inf) - height)
        slope = 1.0
    else:
        start, end, slope = max(left, height - max(crossing, default=math.inf)), right, 0.0
    if start >= end:
        return None
    ys = [frame.y(height + slope * x) for x in (start, end)]
    return Line(frame.x(start), ys[0], frame.x(end), ys[1], LIGHT.text, 12.0, roof.is_measured)


def _label(flow: Flow, frame: _Frame, roof: RoofMark, line: Line, *, is_under: bool) -> None:
    """Name a roof: arithmetic over the right end of its line, a memory along its rise.

    The name of a memory's line under another one stands below it.
    """
    words = f"{roof.label} {format_count(roof.rate)}{roof.counted}/s"
    if not roof.is_memory:
        text = flow.fitted(words, _TINY, frame.width * 0.4)
        top = line.y1 - flow.typeface.line_height(_TINY)
        flow.text_right(line.x2 - 20.0, top, text, _TINY)
        return
    length = math.hypot(line.x2 - line.x1, line.y2 - line.y1)
    text = flow.fitted(words, _TINY, length)
    angle = math.degrees(math.atan2(line.y2 - line.y1, line.x2 - line.x1))
    middle = 0.5 - flow.typeface.width(text, _TINY) / length / 2
    x = line.x1 + (line.x2 - line.x1) * middle
    y = line.y1 + (line.y2 - line.y1) * middle
    y += flow.typeface.line_height(_TINY) if is_under else -20.0
    flow.put(Text(x - 20.0, y, text, _TINY, LIGHT.text, angle))


def _point(flow: Flow, frame: _Frame, point: RooflinePoint, largest_share: float) -> None:
    size = _MIN_SIZE + (_MAX_SIZE - _MIN_SIZE) * math.sqrt(point.share / largest_share)
    x, y = frame.x(math.log10(point.intensity)), frame.y(math.log10(point.flops_per_s))
    colour = LIGHT.series[point.series]
    flow.put(Box(x - size / 2, y - size / 2, size, size, mixed(colour, 0.7), colour, is_round=True))
