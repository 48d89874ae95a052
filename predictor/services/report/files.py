"""Reports as files: PDF, Markdown or JSON by the ending; a file is whole or not there."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

from predictor.core.errors import InputError
from predictor.core.files import is_folder, write_bytes
from predictor.presentation.markdown import markdown_table, markdown_text
from predictor.presentation.report import (
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
    Row,
    Table,
    Timeline,
)

SCHEMA = "ctm-report/1"
_KINDS: dict[str, type[Any]] = {
    "heading": Heading,
    "paragraph": Paragraph,
    "bullets": Bullets,
    "facts": Facts,
    "commands": Commands,
    "table": Table,
    "bar_chart": BarChart,
    "heat_map": HeatMap,
    "roofline": RooflineChart,
    "timeline": Timeline,
    "graph": Graph,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def report_document(report: Report) -> dict[str, object]:
    """Return the document: every text as people read it, every figure with its value."""
    return {"schema": SCHEMA, **_document(report)}


def report_of(document: Mapping[str, Any]) -> Report:
    """Return the report of a document that ``report_document`` made.

    Raises:
        ValueError: it is of another schema.
    """
    if document.get("schema") != SCHEMA:
        raise ValueError(f"the document is no {SCHEMA}")
    report: Report = _read(Report, document)
    return report


def _document(value: Any) -> Any:
    """Return a value of the report as JSON has it; a block names its kind."""
    if isinstance(value, tuple):
        return [_document(entry) for entry in value]
    if isinstance(value, StrEnum):
        return value.value
    if not dataclasses.is_dataclass(value):
        return value
    kind = {"kind": _NAMES[type(value)]} if type(value) in _NAMES else {}
    fields = dataclasses.fields(value)
    return kind | {field.name: _document(getattr(value, field.name)) for field in fields}


def _read(declared: Any, value: Any) -> Any:
    """Return the value of a declared type that ``_document`` wrote."""
    if declared == Block:
        return _read(_KINDS[value["kind"]], value)
    if get_origin(declared) is tuple:
        of = get_args(declared)
        # tuple[X, ...] has one type for all entries, tuple[X, Y] one for each.
        return tuple(map(_read, of[:1] * len(value) if of[-1] is Ellipsis else of, value))
    if isinstance(declared, type) and dataclasses.is_dataclass(declared):
        hints = _hints(declared)
        return declared(**{name: _read(hint, value[name]) for name, hint in hints.items()})
    if isinstance(declared, type) and issubclass(declared, StrEnum):
        return declared(value)
    return value


@cache
def _hints(record: Any) -> dict[str, Any]:
    return get_type_hints(record)


def report_markdown(report: Report) -> str:
    """Return the text; bar charts and graphs are tables, rooflines and timelines are left out."""
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


def _bar_chart(chart: BarChart) -> str:
    names = (
        ", ".join(filter(None, (bar.label, bar.detail, chart.series[bar.series])))
        for bar in chart.bars
    )
    rows = list(zip(names, (bar.text for bar in chart.bars), strict=True))
    return _lines(("", chart.axis), rows, (False, True))


def _heat_map(heat_map: HeatMap) -> str:
    header = [heat_map.row_title, *heat_map.columns]
    rows = [[name, *texts] for name, texts in zip(heat_map.rows, heat_map.cells(), strict=True)]
    numeric = [False] + [True] * len(heat_map.columns)
    return f"**{markdown_text(heat_map.title)}**\n\n{_lines(header, rows, numeric)}"


def _graph(graph: Graph) -> str:
    rows = [(box.path, box.detail, box.time) for box in graph.boxes]
    return _lines(("Module", "Operators", "Time"), rows, (False, False, True))


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
    BarChart: _bar_chart,
    HeatMap: _heat_map,
    Graph: _graph,
}


PDF: Final = ".pdf"
FORMATS: Final = (PDF, ".md", ".json")
PAGES: Final = ("a4", "letter")


def check_report_path(path: Path) -> None:
    """Refuse at once a path that would be refused only after the work.

    Raises:
        InputError: the ending is none that we write, or a folder has this name.
    """
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            str(path),
            f"its ending is {path.suffix or 'missing'}",
            f"name a file that ends with {', '.join(FORMATS)}",
        )
    if is_folder(path):
        raise InputError(str(path), "it is a folder", "name a file in it")


def save_report(report: Report, path: Path, as_pdf: Callable[[Report], bytes]) -> None:
    """Write a report in the format of the path's ending.

    Args:
        report: the report.
        path: that ``check_report_path`` accepts.
        as_pdf: makes the PDF file.

    Raises:
        InputError: see ``check_report_path``.
        HostError: the file cannot be written; one that was there is as it was.
        CancelledError: ``as_pdf`` was cancelled; nothing was written.
    """
    check_report_path(path)
    write_bytes(path, _content(report, path.suffix.lower(), as_pdf), "the report")


def _content(report: Report, suffix: str, as_pdf: Callable[[Report], bytes]) -> bytes:
    if suffix == PDF:
        return as_pdf(report)
    if suffix == ".md":
        return report_markdown(report).encode()
    document = report_document(report)
    return (json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1) + "\n").encode()
