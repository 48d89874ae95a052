"""A report as GitHub-flavoured Markdown; names in it can be no markup."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from predictor.core.markdown import markdown_table, markdown_text
from predictor.core.report import (
    Block,
    Bullets,
    Commands,
    Facts,
    Heading,
    HeatMap,
    Paragraph,
    Report,
    Row,
    Table,
)
from predictor.core.wording import percent


def report_markdown(report: Report) -> str:
    """Return the text; charts are tables of what they show elsewhere, so they are left out."""
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: Report) -> Iterator[str]:
    yield f"# {markdown_text(report.title)}"
    yield f"{markdown_text(report.subtitle)}  \n{report.created}, {markdown_text(report.program)}"
    for section in report.sections:
        yield f"## {markdown_text(section.title)}"
        for block in section.blocks:
            text = _block(block)
            if text:
                yield text


def _block(block: Block) -> str:
    write = _WRITERS.get(type(block))
    return "" if write is None else write(block)


def _heading(heading: Heading) -> str:
    detail = f" ({markdown_text(heading.detail)})" if heading.detail else ""
    return f"### {markdown_text(heading.text)}{detail}"


def _bullets(bullets: Bullets) -> str:
    return "\n".join(f"- {markdown_text(item.text)}" for item in bullets.items)


def _facts(facts: Facts) -> str:
    return _lines(("", ""), [(name, cell.text) for name, cell in facts.rows], (False, False))


def _commands(commands: Commands) -> str:
    # Four blanks: no line can end such a block, as it could end a fence.
    return "\n".join(f"    {line}" for line in commands.lines)


def _table(table: Table) -> str:
    has_notes = any(row.note for row in table.rows)
    header = [column.title for column in table.columns] + (["Remark"] if has_notes else [])
    numeric = [column.is_number for column in table.columns] + ([False] if has_notes else [])
    rows = [_cells(row, has_notes) for row in table.rows]
    title = f"**{markdown_text(table.title)}**\n\n" if table.title else ""
    return title + _lines(header, rows, numeric)


def _cells(row: Row, has_notes: bool) -> list[str]:
    return [cell.text for cell in row.cells] + ([row.note] if has_notes else [])


def _heat_map(heat_map: HeatMap) -> str:
    header = [heat_map.row_title, *heat_map.columns]
    rows = [
        [name, *(percent(round(value, 3), 2) for value in values)]
        for name, values in zip(heat_map.rows, heat_map.values, strict=True)
    ]
    numeric = [False] + [True] * len(heat_map.columns)
    return f"**{markdown_text(heat_map.title)}**\n\n{_lines(header, rows, numeric)}"


def _lines(header: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    columns = [[row[place] for row in rows] for place in range(len(header))]
    return markdown_table(header, columns, numeric).rstrip("\n")


_WRITERS: dict[type, Callable[[Any], str]] = {
    Heading: _heading,
    Paragraph: lambda paragraph: markdown_text(paragraph.text),
    Bullets: _bullets,
    Facts: _facts,
    Commands: _commands,
    Table: _table,
    HeatMap: _heat_map,
}
