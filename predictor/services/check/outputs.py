"""What a check writes: Markdown for the summary of a job, and JUnit XML."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Final

from predictor.core.text import plural
from predictor.presentation.markdown import markdown_cell, markdown_table
from predictor.presentation.wording import number, percent
from predictor.services.check.check import Checked

_HEADER: Final = ("", "Model", "Target", "P50 ms", "Limit", "Base ms", "Growth", "MB", "Limit", "")
_NUMERIC: Final = (False, False, False, True, True, True, True, True, True, False)
# Characters that XML 1.0 has no form for.
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def headline(rows: Sequence[Checked]) -> str:
    """Return the result in one sentence."""
    over = sum(bool(row.over) for row in rows)
    unknown = sum(bool(row.problem) for row in rows)
    if not over and not unknown:
        return f"{plural(len(rows), 'check')} passed."
    parts = [f"{over} over budget"] if over else []
    parts += [f"{unknown} without a number"] if unknown else []
    return f"{' and '.join(parts)} of {plural(len(rows), 'check')}."


def cells(row: Checked) -> tuple[str, ...]:
    """Return the cells of a row, in the order of the header, the state in words first."""
    state = "no number" if row.problem else "over" if row.over else "ok"
    growth = row.growth
    return (
        state,
        row.model,
        row.target,
        number(row.latency_ms),
        number(row.max_ms),
        number(row.base_ms),
        number(None) if growth is None else percent(growth, 2, signed=True),
        number(row.memory_mb),
        number(row.max_memory_mb),
        row.problem or "; ".join(row.over),
    )


def markdown(rows: Sequence[Checked]) -> str:
    """Return the summary of a job: a heading, the result, a table, failures first."""
    ordered = sorted(rows, key=lambda row: (not row.problem, not row.over))
    marked = [(f"**{c[0]}**" if c[0] != "ok" else "ok", *c[1:]) for c in map(cells, ordered)]
    columns = [list(column) for column in zip(*marked, strict=True)]
    # The first column is ours, and has markup.
    table = markdown_table(_HEADER, columns, (True, *_NUMERIC[1:]))
    return f"## Latency budgets\n\n{markdown_cell(headline(rows))}\n\n{table}"


def text_columns() -> tuple[Sequence[str], str]:
    """Return the header of a table in text, and which of its columns stand to the right."""
    return _HEADER, "".join("r" if numeric else " " for numeric in _NUMERIC)


def junit(rows: Sequence[Checked]) -> str:
    """Return JUnit XML: a case each row, a failure over budget, an error without a number."""
    suite = ET.Element(
        "testsuite",
        name="ctm check",
        tests=str(len(rows)),
        failures=str(sum(bool(row.over) for row in rows)),
        errors=str(sum(bool(row.problem) for row in rows)),
    )
    for row in rows:
        seconds = 0.0 if row.latency_ms is None else row.latency_ms / 1e3
        case = ET.SubElement(
            suite,
            "testcase",
            classname=_plain(row.model),
            name=_plain(row.target),
            time=f"{seconds if math.isfinite(seconds) else 0.0:.6f}",
        )
        if row.problem:
            ET.SubElement(case, "error", message=_plain(row.problem))
        elif row.over:
            ET.SubElement(case, "failure", message=_plain("; ".join(row.over)))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suite, "unicode") + "\n"


def _plain(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
