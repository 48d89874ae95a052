"""A plain table: columns model and latency_ms, and optionally the configuration of each run."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from predictor.core.records import Precision
from predictor.core.runtimes import RUNTIMES, usual_name
from predictor.probing.importers.records import ImportedLatency, Reading, Statistic
from predictor.probing.importers.source import Source

if TYPE_CHECKING:  # the type of csv.reader() is not there when the program runs
    from _csv import Reader

_REQUIRED = ("model", "latency_ms")
_CONFIGURATION = ("device", "runtime", "precision", "threads", "batch")
_OPTIONAL = (*_CONFIGURATION, "statistic")
_ACTION = "write a table with the header model,latency_ms"
_MAX_ROWS = 100_000


def recognises(source: Source) -> bool:
    """Whether a file looks like a table with a column of latencies."""
    header = source.text.lstrip("\r\n").split("\n", 1)[0].lower()
    return "model" in header and "latency" in header and any(mark in header for mark in ",;\t")


def parse(source: Source) -> Reading:
    """Read one latency a row; a row without ``statistic`` is taken as a median.

    Raises:
        InputError: a column is missing or in another unit, a cell is wrong, or a row repeats one.
    """
    # newline="" leaves line ends to csv, and strict refuses a stray quote instead of guessing.
    reader = csv.reader(io.StringIO(source.text, newline=""), strict=True)
    try:
        return _read(source, _filled_rows(reader))
    except csv.Error as error:
        line = f"line {reader.line_num}"
        raise source.error_at(line, f"it is no CSV ({error})", _ACTION) from error


def _filled_rows(reader: Reader) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each with the line on which it ends."""
    for row in reader:
        if any(cell.strip() for cell in row):
            yield reader.line_num, row


def _read(source: Source, rows: Iterator[tuple[int, list[str]]]) -> Reading:
    header_line, titles = next(rows)
    header = [title.strip().lower() for title in titles]
    _check_header(source, header_line, header)
    latencies: list[ImportedLatency] = []
    line_of: dict[tuple[str, ...], int] = {}
    for line, cells in rows:
        place = f"line {line}"
        if len(cells) != len(header):
            reason = f"it has {len(cells)} cells, the header has {len(header)}"
            action = "write 12.5, not 12,5, and quote cells that hold a comma"
            raise source.error_at(place, reason, action)
        row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
        key = tuple(row.get(column, "") for column in ("model", *_CONFIGURATION))
        if key in line_of:
            action = "keep one row for each measurement"
            raise source.error_at(place, f"it repeats line {line_of[key]}", action)
        line_of[key] = line
        latencies.append(_latency(source, place, row))
        if len(latencies) > _MAX_ROWS:
            raise source.error(f"it has more than {_MAX_ROWS} rows", "split it")
    if not latencies:
        raise source.error("the table has a header and no row", _ACTION)
    unread = [column for column in header if column not in (*_REQUIRED, *_OPTIONAL)]
    notes = (f"These columns are not read: {', '.join(unread)}.",) if unread else ()
    return Reading(tuple(latencies), notes)


def _check_header(source: Source, line: int, header: Sequence[str]) -> None:
    place = f"line {line}"
    for column in _REQUIRED:
        if column in header:
            continue
        if len(header) == 1 and any(mark in header[0] for mark in ";\t"):
            raise source.error_at(place, "its cells are not separated by commas", _ACTION)
        other = [name for name in header if name.startswith("latency")]
        problem = (
            f"it has {other[0]} instead" if other and column == "latency_ms" else "it is missing"
        )
        raise source.error_at(place, f"column {column}: {problem}", _ACTION)
    twice = [column for column in header if header.count(column) > 1]
    if twice:
        raise source.error_at(place, f"column {twice[0]} stands twice", _ACTION)


def _latency(source: Source, place: str, row: Mapping[str, str]) -> ImportedLatency:
    if not row["model"]:
        raise source.error_at(place, "the cell of model is empty", _ACTION)
    return ImportedLatency(
        network=row["model"],
        place=place,
        value_ms=source.latency_ms(place, row["latency_ms"], 1.0, "latency_ms"),
        statistic=Statistic(_choice(source, place, row, "statistic", list(Statistic)) or "median"),
        runtime=_runtime(source, place, row),
        precision=_precision(source, place, row),
        threads=_count(source, place, row, "threads"),
        batch=_count(source, place, row, "batch"),
        device=row.get("device", ""),
    )


def _runtime(source: Source, place: str, row: Mapping[str, str]) -> str | None:
    name = _choice(source, place, row, "runtime", RUNTIMES)
    return None if name is None else usual_name(name)


def _choice(
    source: Source, place: str, row: Mapping[str, str], column: str, choices: Collection[str]
) -> str | None:
    value = row.get(column, "")
    if value and value not in choices:
        raise source.error_at(place, f"{column} is {value!r}", f"write one of {', '.join(choices)}")
    return value or None


def _precision(source: Source, place: str, row: Mapping[str, str]) -> Precision | None:
    value = _choice(source, place, row, "precision", list(Precision))
    return Precision(value) if value else None


def _count(source: Source, place: str, row: Mapping[str, str], column: str) -> int | None:
    value = row.get(column, "")
    if value == "0":  # all cores, or the model's own batch, as in core's Configuration
        return 0
    return source.count(place, value, column) if value else None
