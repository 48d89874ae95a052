"""Tooltips of plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def as_tooltip(text: str, rows: Iterable[Sequence[str]] = ()) -> str:
    """Return plain text for a tooltip that must not read it as rich text.

    Args:
        text: its lines.
        rows: of a table under them: a name, then figures, which stand at the right.
    """
    lines = "".join(f"<tr>{''.join(map(_cell, range(len(row)), row))}</tr>" for row in rows)
    table = f"<table cellspacing='0'>{lines}</table>" if lines else ""
    return f"<p style='white-space:pre'>{escape(text)}</p>{table}"


def _cell(column: int, text: str) -> str:
    align = " align='right' style='padding-left:12px'" if column else ""
    return f"<td{align}>{escape(text)}</td>"
