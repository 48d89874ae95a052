"""A report as a JSON document, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from predictor.core.report import (
    Bar,
    BarChart,
    Block,
    Bullets,
    Cell,
    Column,
    Commands,
    Facts,
    Heading,
    HeatMap,
    Paragraph,
    Report,
    Row,
    Section,
    SectionId,
    Table,
    Tone,
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
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def report_document(report: Report) -> dict[str, object]:
    """Return the document: every text as people read it, every figure with its value."""
    return {
        "schema": SCHEMA,
        "title": report.title,
        "subtitle": report.subtitle,
        "created": report.created,
        "program": report.program,
        "sections": [
            {
                "id": section.id.value,
                "title": section.title,
                "blocks": [{"kind": _NAMES[type(b)], **_object(b)} for b in section.blocks],
            }
            for section in report.sections
        ],
    }


def report_of(document: Mapping[str, Any]) -> Report:
    """Return the report of a document that ``report_document`` made.

    Raises:
        ValueError: it is of another schema.
    """
    if document.get("schema") != SCHEMA:
        raise ValueError(f"the document is no {SCHEMA}")
    sections = tuple(
        Section(
            SectionId(section["id"]),
            section["title"],
            tuple(_block(block) for block in section["blocks"]),
        )
        for section in document["sections"]
    )
    return Report(
        document["title"],
        document["subtitle"],
        document["created"],
        document["program"],
        sections,
    )


def _object(record: Any) -> dict[str, Any]:
    """Return a record's fields as JSON has them."""
    return {f.name: _value(getattr(record, f.name)) for f in dataclasses.fields(record)}


def _value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_value(entry) for entry in value]
    if isinstance(value, StrEnum):
        return value.value
    return _object(value) if dataclasses.is_dataclass(value) else value


def _block(data: Mapping[str, Any]) -> Block:
    fields = {name: value for name, value in data.items() if name != "kind"}
    match data["kind"]:
        case "bullets":
            fields["items"] = tuple(map(_cell, fields["items"]))
        case "facts":
            fields["rows"] = tuple((name, _cell(cell)) for name, cell in fields["rows"])
        case "table":
            fields["columns"] = tuple(Column(**column) for column in fields["columns"])
            fields["rows"] = tuple(map(_row, fields["rows"]))
        case "bar_chart":
            fields["series"] = tuple(fields["series"])
            fields["bars"] = tuple(Bar(**bar) for bar in fields["bars"])
        case "heat_map":
            fields |= {name: tuple(fields[name]) for name in ("rows", "columns")}
            fields["values"] = tuple(map(tuple, fields["values"]))
        case "commands":
            fields["lines"] = tuple(fields["lines"])
        case "paragraph":
            fields["tone"] = Tone(fields["tone"])
    block: Block = _KINDS[data["kind"]](**fields)
    return block


def _cell(data: Mapping[str, Any]) -> Cell:
    return Cell(data["text"], data["value"], Tone(data["tone"]))


def _row(data: Mapping[str, Any]) -> Row:
    return Row(tuple(map(_cell, data["cells"])), data["note"])
