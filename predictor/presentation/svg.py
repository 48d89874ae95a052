"""A bar chart as SVG, for notebooks and web pages; it takes the colours of the page around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Final

from predictor.core.units import significant
from predictor.presentation.report import Bar, BarChart

_WIDTH: Final = 760
_LEFT: Final = 250  # labels end here
_RIGHT: Final = 170  # the value's text
_ROW: Final = 34
_TOP, _BOTTOM = 26, 40
_THICK: Final = 12
_COLOURS: Final = ("#2a78d6", "#1baf7a", "#eda100", "#4a3aa7", "#e34948", "#e87ba4")
_OVER: Final = "#d03b3b"
_TICKS: Final = 4
_LONGEST: Final = 38  # characters of a label

Scale = Callable[[float], float]


def bar_chart_svg(chart: BarChart) -> str:
    """Return a chart as one ``<svg>`` element; hovering a bar shows its numbers."""
    height = _TOP + _ROW * len(chart.bars) + _BOTTOM
    scale, ticks = _axis(chart)
    bars = (_bar(bar, place, chart, scale) for place, bar in enumerate(chart.bars))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" role="img" font-family="sans-serif" font-size="12" '
        f'fill="currentColor"><title>{escape(chart.axis)}</title>'
    )
    parts = [
        head,
        *_grid(chart, scale, ticks, height),
        *(part for bar in bars for part in bar),
        *_legend(chart),
        "</svg>",
    ]
    return "".join(parts)


def _axis(chart: BarChart) -> tuple[Scale, Sequence[float]]:
    """Return the place of a value in pixels, and the values of the ticks."""
    values = [value for bar in chart.bars for value in _values(bar)]
    values += [] if chart.budget is None else [chart.budget]
    low, high = min(values, default=0.1), max(values, default=1.0)
    room = _WIDTH - _LEFT - _RIGHT
    if not chart.logarithmic:
        step = _step(high)
        return lambda value: _LEFT + room * value / high, [
            step * place for place in range(int(high / step) + 1)
        ]
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    span = max(last - first, 1)
    return lambda value: _LEFT + room * (math.log10(value) - first) / span, [
        10.0**power for power in range(first, first + span + 1)
    ]


def _step(high: float) -> float:
    """Return a round step that makes about four ticks."""
    unit = 10.0 ** math.floor(math.log10(high / _TICKS))
    return unit * next((m for m in (1, 2, 5) if unit * m * _TICKS >= high), 10)


def _values(bar: Bar) -> Iterator[float]:
    numbers = (bar.value, bar.low80, bar.high80, bar.bound)
    yield from (value for value in numbers if value is not None and 0 < value < math.inf)


def _grid(chart: BarChart, scale: Scale, ticks: Sequence[float], height: int) -> Iterator[str]:
    end = height - _BOTTOM
    for tick in ticks:
        x = scale(tick)
        yield f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{end}" {_stroke(0.15)}/>'
        yield _text(x, end + 14, significant(tick), "middle")
    yield _text((_LEFT + _WIDTH - _RIGHT) / 2, end + 30, chart.axis, "middle")
    if chart.budget is not None:
        x = scale(chart.budget)
        yield f'<line x1="{x:.1f}" y1="{_TOP - 6}" x2="{x:.1f}" y2="{end}" stroke="{_OVER}"/>'
        yield _text(x + 4, _TOP - 2, chart.budget_text, "start")


def _bar(bar: Bar, place: int, chart: BarChart, scale: Scale) -> Iterator[str]:
    middle = _TOP + _ROW * place + _ROW / 2
    colour = _OVER if bar.over else _COLOURS[bar.series % len(_COLOURS)]
    before = chart.bars[place - 1] if place else None
    if before is None or (before.label, before.detail) != (bar.label, bar.detail):
        yield _text(_LEFT - 8, middle - 1, _short(bar.label), "end")
        yield _text(_LEFT - 8, middle + 11, _short(bar.detail), "end", small=True)
    if bar.value is None:
        yield _text(_LEFT + 6, middle + 4, _short(bar.text, 2 * _LONGEST), "start", small=True)
        return
    end = scale(bar.value)
    hint = escape(f"{bar.label}, {bar.detail}: {bar.text}")
    if chart.logarithmic:
        mark = f'<circle cx="{end:.1f}" cy="{middle:.1f}" r="5" fill="{colour}">'
        yield f"{mark}<title>{hint}</title></circle>"
    else:
        mark = f'<rect x="{_LEFT}" y="{middle - _THICK / 2:.1f}" width="{end - _LEFT:.1f}" '
        yield f'{mark}height="{_THICK}" rx="2" fill="{colour}"><title>{hint}</title></rect>'
    last = end
    if bar.low80 is not None and bar.high80 is not None:
        low, last = scale(bar.low80), max(end, scale(bar.high80))
        yield f'<path d="M{low:.1f} {middle:.1f}H{scale(bar.high80):.1f}" {_stroke(0.9)}/>'
    yield _text(last + 8, middle + 4, _short(bar.text), "start")


def _legend(chart: BarChart) -> Iterator[str]:
    """Yield the names of several series."""
    if len(chart.series) < 2:
        return
    for place, name in enumerate(chart.series[: len(_COLOURS)]):
        x = 8 + place * (_WIDTH - 16) / min(len(chart.series), len(_COLOURS))
        yield f'<rect x="{x:.1f}" y="4" width="10" height="10" fill="{_COLOURS[place]}"/>'
        yield _text(x + 14, 13, _short(name, _LONGEST // 2), "start")


def _stroke(opacity: float) -> str:
    return f'stroke="currentColor" stroke-opacity="{opacity}" fill="none"'


def _short(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _text(x: float, y: float, text: str, anchor: str, *, small: bool = False) -> str:
    size = ' font-size="10" fill-opacity="0.7"' if small else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{size}>{escape(text)}</text>'
