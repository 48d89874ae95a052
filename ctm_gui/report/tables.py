"""Tables: columns as wide as they need to be, heads repeated on every page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ctm_gui.report.flow import BODY_BOLD, LEFT, SMALL, SMALL_BOLD, TONES, Flow, rule, strip
from ctm_gui.report.marks import Style, Typeface, wrapped
from ctm_gui.widgets.theme import LIGHT
from predictor.presentation.report import Cell, Column, Facts, Row, Table, Tone

_PAD = 28.0
_INSET = 45.0
_GAP = 90.0
_MIN_WORDS = 480.0
_MAX_WORDS = 4800.0
_MAX_LINES = 4
_MAX_FACT_LINES = 12
_LABEL_SHARE = 0.24
# Letters and gaps from which a table takes the first in which no figure breaks.
_SETTINGS = tuple(
    (Style(size), Style(size, bold=True), gap)
    for size, gap in ((70, 70.0), (62, 50.0), (54, 50.0), (46, 50.0))
)


@dataclass(frozen=True, slots=True)
class _Setting:
    """Setting of a table: its letters, the gap between columns, and the columns' widths."""

    style: Style
    bold: Style
    gap: float
    widths: tuple[float, ...]

    def line_height(self) -> float:
        return Typeface.line_height(self.style)

    def lefts(self) -> list[float]:
        """Return the left edges of the columns."""
        places = range(len(self.widths))
        return [LEFT + _INSET + sum(self.widths[:n]) + n * self.gap for n in places]


def draw_table(flow: Flow, table: Table) -> None:
    """Set a table; a row stays on one page."""
    setting = _setting(flow, table)
    titles = [column.title for column in table.columns]
    head = _lines(flow, titles, setting.widths, setting.bold)
    rows = [
        _lines(flow, [c.text for c in row.cells], setting.widths, setting.style)
        for row in table.rows
    ]
    title_height = 160.0 if table.title else 0.0
    first = sum(_height(lines, setting) for lines in rows[:2])
    flow.need(title_height + _height(head, setting) + first)
    if table.title:
        flow.text(LEFT, flow.y, flow.fitted(table.title, BODY_BOLD, flow.width), BODY_BOLD)
        flow.y += title_height
    _head(flow, table.columns, head, setting)
    for row, lines in zip(table.rows, rows, strict=True):
        note = _note_lines(flow, row, setting)
        if flow.need(_height(lines, setting) + len(note) * setting.line_height()):
            _head(flow, table.columns, head, setting)
        _row(flow, table.columns, row.cells, lines, setting)
        _note(flow, note, setting)
        flow.put(rule(flow, flow.y))
    flow.y += 120.0


def draw_facts(flow: Flow, facts: Facts) -> None:
    """Set names and values, one a line; long values wrap."""
    label_width = flow.width * _LABEL_SHARE - _INSET
    widths = (label_width, flow.width - label_width - _GAP - 2 * _INSET)
    setting = _Setting(SMALL, SMALL_BOLD, _GAP, widths)
    columns = (Column("name", ""), Column("value", ""))
    for name, cell in facts.rows:
        lines = _lines(flow, [name, cell.text], widths, SMALL, _MAX_FACT_LINES)
        flow.need(_height(lines, setting))
        _row(flow, columns, (Cell(name, tone=Tone.MUTED), cell), lines, setting)
        flow.put(rule(flow, flow.y))
    flow.y += 120.0


def _head(
    flow: Flow, columns: Sequence[Column], lines: Sequence[Sequence[str]], setting: _Setting
) -> None:
    height = _height(lines, setting)
    flow.put(strip(flow, flow.y, height, LIGHT.background))
    for column, cell, x, width in zip(columns, lines, setting.lefts(), setting.widths, strict=True):
        _set(flow, cell, setting.bold, LIGHT.text, x, _right(column, x, width))
    flow.y += height
    flow.put(rule(flow, flow.y, LIGHT.outline, 8.0))


def _row(
    flow: Flow,
    columns: Sequence[Column],
    cells: Sequence[Cell],
    lines: Sequence[Sequence[str]],
    setting: _Setting,
) -> None:
    lefts = setting.lefts()
    for place, (column, cell) in enumerate(zip(columns, cells, strict=True)):
        right = _right(column, lefts[place], setting.widths[place])
        _set(flow, lines[place], setting.style, TONES[cell.tone], lefts[place], right)
    flow.y += _height(lines, setting)


def _right(column: Column, x: float, width: float) -> float | None:
    """Return where the lines of a column end; None where they begin at its left."""
    return x + width if column.is_number else None


def _set(
    flow: Flow,
    lines: Sequence[str],
    style: Style,
    colour: str,
    x: float,
    right: float | None = None,
) -> None:
    for place, line in enumerate(lines):
        y = flow.y + _PAD + place * flow.typeface.line_height(style)
        if right is None:
            flow.text(x, y, line, style, colour)
        else:
            flow.text_right(right, y, line, style, colour)


def _note_lines(flow: Flow, row: Row, setting: _Setting) -> list[str]:
    if not row.note:
        return []
    return wrapped(flow.typeface, row.note, setting.style, flow.width - 200.0)


def _note(flow: Flow, lines: Sequence[str], setting: _Setting) -> None:
    if lines:
        flow.y -= 2 * _PAD
        _set(flow, lines, setting.style, LIGHT.muted, LEFT + 150.0)
        flow.y += 2 * _PAD + len(lines) * setting.line_height()


def _lines(
    flow: Flow, texts: Sequence[str], widths: Sequence[float], style: Style, limit: int = _MAX_LINES
) -> list[list[str]]:
    return [
        wrapped(flow.typeface, text, style, width, limit)
        for text, width in zip(texts, widths, strict=True)
    ]


def _height(cells: Sequence[Sequence[str]], setting: _Setting) -> float:
    return max(map(len, cells)) * setting.line_height() + 2 * _PAD


def _setting(flow: Flow, table: Table) -> _Setting:
    """Return the largest letters in which no figure breaks."""
    for style, bold, gap in _SETTINGS:
        widths = _widths(flow, table, style, bold, gap)
        if widths is not None:
            break
    else:
        # No letters are small enough: equal columns, in which figures break.
        available = flow.width - 2 * _INSET - gap * (len(table.columns) - 1)
        widths = [available / len(table.columns)] * len(table.columns)
    return _Setting(style, bold, gap, tuple(widths))


def _widths(flow: Flow, table: Table, style: Style, bold: Style, gap: float) -> list[float] | None:
    """Share the width out: figures get their natural width, words the rest.

    Returns:
        One width a column, which fill the page from margin to margin with the gaps; None where
        that is too narrow for the figures.
    """
    columns = range(len(table.columns))
    available = flow.width - 2 * _INSET - gap * (len(table.columns) - 1)
    widest = [_widest(flow, table, place, style) for place in columns]
    titles = [flow.typeface.width(column.title, bold) for column in table.columns]
    natural = [min(max(widest[n], titles[n]), _MAX_WORDS) for n in columns]
    minimum = [_min_width(flow, table.columns[n], widest[n], bold) for n in columns]
    spare = available - sum(minimum)
    if spare < 0:
        return None
    wanted = [max(natural[n] - minimum[n], 0.0) for n in columns]
    if sum(wanted) > spare:
        # Too little for all: each gets the same share of the width beyond its least.
        return [minimum[n] + wanted[n] * spare / sum(wanted) for n in columns]
    words = [n for n in columns if not table.columns[n].is_number] or list(columns)
    more = (spare - sum(wanted)) / len(words)
    return [minimum[n] + wanted[n] + (more if n in words else 0.0) for n in columns]


def _min_width(flow: Flow, column: Column, widest: float, bold: Style) -> float:
    """Return the least width of a column: figures never break, titles do between words."""
    words = column.title.split()
    title = max((flow.typeface.width(word, bold) for word in words), default=0.0)
    return max(title, widest if column.is_number else min(widest, _MIN_WORDS))


def _widest(flow: Flow, table: Table, place: int, style: Style) -> float:
    texts = (flow.typeface.drawable(row.cells[place].text) for row in table.rows)
    return max((flow.typeface.width(text, style) for text in texts), default=0.0)
