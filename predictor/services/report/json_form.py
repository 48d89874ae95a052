"""A report as a JSON document, and back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from predictor.core.report import (
    BarChart,
    Block,
    Bullets,
    Commands,
    Facts,
    Heading,
    HeatMap,
    Paragraph,
    Report,
    Table,
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
