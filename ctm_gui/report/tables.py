"""Tables: columns as wide as they need to be, heads repeated on every page."""

from __future__ import annotations

from collections.abc import Sequence

from ctm_gui.report.flow import BODY_BOLD, LEFT, SMALL, SMALL_BOLD, TONES, Flow, rule, strip
from ctm_gui.report.marks import Style
from ctm_gui.report.wrapping import wrapped
from ctm_gui.theme import LIGHT
from predictor.core.report import Cell, Column, Facts, Row, Table

_GAP = 90.0
_PAD = 28.0
_INSET = 45.0
_LEAST_WORDS = 500.0
_MOST_WORDS = 4800.0
_MOST_LINES = 4
_MOST_FACT_LINES = 12
_LABEL_SHARE = 0.24


def draw_table(flow: Flow, table: Table) -> None:
    """Set a table; a row stays on one page."""
    widths = _widths(flow, table)
    head = _lines(flow, [column.title for column in table.columns], widths, SMALL_BOLD)
    head_height = _height(flow, head)
    rows = [_lines(flow, [cell.text for cell in row.cells], widths, SMALL) for row in table.rows]
    title_height = 160.0 if table.title else 0.0
    first = sum(_height(flow, lines) for lines in rows[:2])
    flow.need(title_height + head_height + first)
    if table.title:
        flow.text(LEFT, flow.y, flow.fitted(table.title, BODY_BOLD, flow.width), BODY_BOLD)
        flow.y += title_height
    _head(flow, table.columns, head, widths)
    for row, lines in zip(table.rows, rows, strict=True):
        note = _note_lines(flow, row)
        height = _height(flow, lines) + len(note) * flow.typeface.line_height(SMALL)
        if flow.need(height):
            _head(flow, table.columns, head, widths)
        _row(flow, table.columns, row, lines, widths)
        _note(flow, note)
        flow.put(rule(flow, flow.y))
    flow.y += 120.0


def draw_facts(flow: Flow, facts: Facts) -> None:
    """Set names and values, one a line; long values wrap."""
    label_width = flow.width * _LABEL_SHARE - _INSET
    for name, cell in facts.rows:
        widths = [label_width, flow.width - label_width - _GAP - 2 * _INSET]
        lines = _lines(flow, [name, cell.text], widths, SMALL, _MOST_FACT_LINES)
        flow.need(_height(flow, lines))
        top = flow.y + _PAD
        _set(flow, lines[0], LEFT + _INSET, top, SMALL, LIGHT.muted)
        _set(flow, lines[1], LEFT + _INSET + label_width + _GAP, top, SMALL, TONES[cell.tone])
        flow.y += _height(flow, lines)
        flow.put(rule(flow, flow.y))
    flow.y += 120.0


def _head(
    flow: Flow, columns: Sequence[Column], lines: Sequence[Sequence[str]], widths: Sequence[float]
) -> None:
    height = _height(flow, lines)
    flow.put(strip(flow, flow.y, height, LIGHT.background))
    x = LEFT + _INSET
    for column, cell_lines, width in zip(columns, lines, widths, strict=True):
        _set(flow, cell_lines, x, flow.y + _PAD, SMALL_BOLD, LIGHT.text, _right(column, x, width))
        x += width + _GAP
    flow.y += height
    flow.put(rule(flow, flow.y, LIGHT.outline, 8.0))


def _row(
    flow: Flow,
    columns: Sequence[Column],
    row: Row,
    lines: Sequence[Sequence[str]],
    widths: Sequence[float],
) -> None:
    x = LEFT + _INSET
    cells: Sequence[Cell] = row.cells
    for column, cell, cell_lines, width in zip(columns, cells, lines, widths, strict=True):
        colour = TONES[cell.tone]
        _set(flow, cell_lines, x, flow.y + _PAD, SMALL, colour, _right(column, x, width))
        x += width + _GAP
    flow.y += _height(flow, lines)


def _right(column: Column, x: float, width: float) -> float | None:
    """Return where the lines of a column end; None where they begin at its left."""
    return x + width if column.is_number else None


def _set(
    flow: Flow,
    lines: Sequence[str],
    x: float,
    top: float,
    style: Style,
    colour: str,
    right: float | None = None,
) -> None:
    for place, line in enumerate(lines):
        y = top + place * flow.typeface.line_height(style)
        if right is None:
            flow.text(x, y, line, style, colour)
        else:
            flow.text_right(right, y, line, style, colour)


def _note_lines(flow: Flow, row: Row) -> list[str]:
    return wrapped(flow.typeface, row.note, SMALL, flow.width - 200.0) if row.note else []


def _note(flow: Flow, lines: Sequence[str]) -> None:
    if lines:
        _set(flow, lines, LEFT + 150.0, flow.y - _PAD, SMALL, LIGHT.muted)
        flow.y += len(lines) * flow.typeface.line_height(SMALL)


def _lines(
    flow: Flow,
    texts: Sequence[str],
    widths: Sequence[float],
    style: Style,
    most: int = _MOST_LINES,
) -> list[list[str]]:
    return [
        wrapped(flow.typeface, text, style, width, most)
        for text, width in zip(texts, widths, strict=True)
    ]


def _height(flow: Flow, cells: Sequence[Sequence[str]]) -> float:
    return max(map(len, cells)) * flow.typeface.line_height(SMALL) + 2 * _PAD


def _widths(flow: Flow, table: Table) -> list[float]:
    """Share the width out: figures get what they need, words what is left.

    Returns:
        One width a column; with the gaps they fill the page from margin to margin.
    """
    columns = range(len(table.columns))
    available = flow.width - 2 * _INSET - _GAP * (len(table.columns) - 1)
    natural = [_natural(flow, table, place) for place in columns]
    words = [place for place in columns if not table.columns[place].is_number] or list(columns)
    least = [_least(flow, table, place, natural[place]) for place in columns]
    spare = available - sum(least)
    wish = [max(natural[place] - least[place], 0.0) for place in columns]
    if sum(wish) <= spare:
        more = (spare - sum(wish)) / len(words)
        return [least[place] + wish[place] + (more if place in words else 0.0) for place in columns]
    if spare >= 0:
        return [least[place] + wish[place] * spare / sum(wish) for place in columns]
    return [width * available / sum(least) for width in least]


def _natural(flow: Flow, table: Table, place: int) -> float:
    """Return how wide a column would be without a line break."""
    title = flow.typeface.width(table.columns[place].title, SMALL_BOLD)
    return min(max(title, _widest(flow, table, place)), _MOST_WORDS)


def _least(flow: Flow, table: Table, place: int, natural: float) -> float:
    """Return how narrow a column may be: figures never break, their titles do between words."""
    column = table.columns[place]
    title = max(
        (flow.typeface.width(word, SMALL_BOLD) for word in column.title.split()), default=0.0
    )
    widest = _widest(flow, table, place) if column.is_number else min(natural, _LEAST_WORDS)
    return max(title, widest)


def _widest(flow: Flow, table: Table, place: int) -> float:
    texts = (flow.typeface.drawable(row.cells[place].text) for row in table.rows)
    return max((flow.typeface.width(text, SMALL) for text in texts), default=0.0)
