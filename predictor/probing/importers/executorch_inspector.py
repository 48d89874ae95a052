"""Table of ExecuTorch's Inspector: ``print_data_tabular()``, ``inspector_cli``, and its TSV.

A row is an event of an ETDump: its block, its name and the percentiles, the mean and the extremes
of its runs. Tables are ruled by ``│`` (or ``|`` where they were copied), ``save_data_to_tsv``
separates by tabs; units stand in the titles (``p50 (ms)``) since 0.2. Read from tables of
0.2 to 1.0. ``Method::execute`` is a call of the network. Events inside a delegate are not read:
they may be in cycles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from predictor.probing.importers.records import (
    ImportedLatency,
    Reading,
    Statistic,
    facts_ms,
)
from predictor.probing.importers.source import Source
from predictor.probing.operator_times import OperatorTime

_PER_MS = {"ns": 1e6, "us": 1e3, "ms": 1.0, "s": 1e-3}
_BLOCK, _NAME, _TYPES = "event_block_name", "event_name", "op_types"
_DELEGATED, _BACKEND = "is_delegated_op", "delegate_backend_name"
_MEDIAN = re.compile(r"p50 \((?P<unit>\w+)\)")
_EXECUTE = "Method::execute"
_FRAMEWORK = (_EXECUTE, "Method::init", "Program::load_method", "OPERATOR_CALL")
_ACTION = "import the table of inspector.print_data_tabular() or save_data_to_tsv()"
_Row = tuple[str, Mapping[str, str]]


def recognises(source: Source) -> bool:
    """Whether a file looks like a table of the Inspector."""
    return _BLOCK in source.text and _NAME in source.text


def parse(source: Source) -> Reading:
    """Read the median of a call of the network, and of its operators.

    Raises:
        InputError: the table is damaged, has no unit of time, or no call or several.
    """
    rows = list(_rows(source))
    calls = [row for row in rows if row[1][_NAME] == _EXECUTE]
    if len(calls) != 1:
        reason = f"it has {len(calls)} rows {_EXECUTE}, not one"
        raise source.error(reason, "run one method with one input, and import its table")
    ((place, call),) = calls
    unit = _unit(source, place, call)
    per_ms = _PER_MS[unit]
    names = ("min", "p10", "p50", "p90", "max", "avg")
    times = {
        name: source.latency_ms(place, call[title], per_ms, title)
        for name in names
        if (title := f"{name} ({unit})") in call
    }
    source.ordered(place, {name: times[name] for name in names[:-1] if name in times})
    operators = (
        _operator(source, at, row, unit) for at, row in rows if row[_NAME] not in _FRAMEWORK
    )
    return Reading(
        (
            ImportedLatency(
                network="",
                place=place,
                value_ms=times["p50"],
                statistic=Statistic.MEDIAN,
                runtime="executorch",
                profiled=True,
                facts=facts_ms(times),
                operators=tuple(operator for operator in operators if operator is not None),
            ),
        )
    )


def _cells(line: str) -> list[str]:
    """Return the cells of a line; a rule between rows has none."""
    if "\t" in line:
        return [cell.strip() for cell in line.split("\t")]
    mark = "│" if "│" in line else "|"
    return [cell.strip() for cell in line.strip().strip(mark).split(mark)] if mark in line else []


def _rows(source: Source) -> Iterator[_Row]:
    titles: Sequence[str] = ()
    for number, line in source.lines():
        cells = _cells(line)
        if {_BLOCK, _NAME} <= set(cells):
            titles = cells
        elif titles and cells and set("".join(cells)) - set("-:"):
            place = f"line {number}"
            if len(cells) != len(titles):
                reason = f"it has {len(cells)} cells, the header has {len(titles)}"
                raise source.error_at(place, reason, _ACTION)
            yield place, dict(zip(titles, cells, strict=True))


def _unit(source: Source, place: str, row: Mapping[str, str]) -> str:
    units = [match["unit"] for title in row if (match := _MEDIAN.fullmatch(title))]
    if not units or units[0] not in _PER_MS:
        stated = units[0] if units else "not stated"
        raise source.error_at(place, f"the unit of p50 is {stated}", "print it with its units")
    return units[0]


def _operator(source: Source, place: str, row: Mapping[str, str], unit: str) -> OperatorTime | None:
    if row.get(_DELEGATED, "").casefold() == "true":
        return None
    time_ms = source.duration_ms(place, row[f"p50 ({unit})"], _PER_MS[unit], "p50")
    return OperatorTime(row[_NAME], row.get(_TYPES, ""), time_ms, row.get(_BACKEND, ""))
