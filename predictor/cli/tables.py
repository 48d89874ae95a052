"""Aligned text tables, and the text of some of their cells."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime

from predictor.core.records import Configuration
from predictor.core.text import plural


def _width(text: str) -> int:
    """Return the terminal columns that ``text`` takes; East Asian wide characters take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if right else text + space


def render_table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: str = "") -> str:
    """Return a table of printable cells, two spaces between columns.

    Args:
        headers: one text a column.
        rows: one text a column; the last column may be longer than the terminal.
        right: ``r`` for each column whose cells stand to the right, else another character;
            columns beyond its end stand to the left.
    """
    lines = [headers, *rows]
    widths = [max(_width(line[column]) for line in lines) for column in range(len(headers))]
    aligned = [right[column : column + 1] == "r" for column in range(len(headers))]
    return "\n".join("  ".join(map(_padded, line, widths, aligned)).rstrip() for line in lines)


def configuration_text(configuration: Configuration) -> str:
    """Return a configuration in a few words."""
    threads = configuration.threads
    spread = "" if not threads else f" {plural(threads, 'thread')}"
    return f"{configuration.runtime} {configuration.precision}{spread}"


def day(time_ns: int) -> str:
    """Return the day of a time since 1970."""
    return datetime.fromtimestamp(time_ns / 1e9, UTC).date().isoformat()
