"""Tables as CSV for other programs.

A spreadsheet runs a cell that starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return as
a formula, and names in a model's file are a stranger's. Such a *text* cell gets an apostrophe in
front in CSV, which spreadsheets show as text; a number is left as it is, ``-1.5`` stays a number.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def guarded(cell: str) -> str:
    """Return ``cell`` such that no spreadsheet takes it for a formula."""
    if cell.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def to_csv(header: Sequence[str], columns: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    """Write a table as CSV after RFC 4180: commas, CRLF, quotes where needed, formulas guarded.

    Args:
        header: names of the C columns; empty for the lines alone, which go on with a table.
        columns: C lists of N cells.
        numeric: for each column whether it holds numbers, which are left as they are.

    Returns:
        The table, header first, each line ended by CRLF.
    """
    safe = [
        cells if is_number else [guarded(cell) for cell in cells]
        for cells, is_number in zip(columns, numeric, strict=True)
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    if header:
        writer.writerow(header)
    writer.writerows(zip(*safe, strict=True))
    return text.getvalue()
