"""GitHub-flavoured Markdown with all foreign text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# Characters that Markdown or the HTML in it would take as markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>|~#&])")
# What makes a list or a rule at the start of a line.
_LEADING = re.compile(r"^([-+=]|\d+(?=[.)]))")


def markdown_text(text: str) -> str:
    """Return text as a line of Markdown: white space becomes single blanks, markup is escaped."""
    line = _MARKUP.sub(r"\\\1", " ".join(text.split()))
    return _LEADING.sub(_escaped_start, line)


def markdown_cell(text: str) -> str:
    """Return text as a cell of a table."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def markdown_table(
    header: Sequence[str], columns: Sequence[Sequence[str]], numeric: Sequence[bool]
) -> str:
    """Write a table, numbers set to the right.

    Args:
        header: names of the C columns; empty for lines that continue a table.
        columns: C lists of N cells; white space in them becomes single blanks, markup is escaped.
        numeric: for each column whether it holds numbers.

    Returns:
        The table, each line ended by a line feed.
    """
    safe = [
        cells if is_number else [markdown_cell(cell) for cell in cells]
        for cells, is_number in zip(columns, numeric, strict=True)
    ]
    rule = ["---:" if is_number else "---" for is_number in numeric]
    head = [[markdown_cell(name) for name in header], rule] if header else []
    lines = [*head, *zip(*safe, strict=True)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _escaped_start(match: re.Match[str]) -> str:
    start = match.group(1)
    # A digit cannot be escaped; the mark after it can: ``1\.``.
    return f"{start}\\" if start.isdigit() else f"\\{start}"


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table of a page that we publish; None is a dash, numbers have two decimals."""
    lines = [list(header), ["---"] * len(header), *([cell(v) for v in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(value: object) -> str:
    """Write one value."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.2f}"
    return str(value).replace("|", "\\|")
