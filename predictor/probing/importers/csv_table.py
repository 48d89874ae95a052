"""A plain table: columns model and latency_ms, and optionally the configuration of each run.

Cells are separated by commas, or as spreadsheets of other regions write them, by semicolons or tabs
with a decimal comma and ``sep=;`` on a line before the header.
"""

from __future__ import annotations

import csv
import io
import re
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
_SEPARATOR_LINE = re.compile(r"^sep=([,;\t])\r?\n", re.IGNORECASE)
# Spaces, apostrophes and points that group digits before a decimal comma.
_GROUPED = re.compile(r"\d{1,3}(?:[ '.\u00a0\u2009\u202f]\d{3})*")


def recognises(source: Source) -> bool:
    """Whether a file looks like a table with a column of latencies."""
    separator, content = _content(source.text)
    titles = [title.strip(' "\r').lower() for title in content.split("\n", 1)[0].split(separator)]
    has_latency = any(title.startswith("latency") for title in titles)
    return len(titles) > 1 and "model" in titles and has_latency


def parse(source: Source) -> Reading:
    """Read one latency a row; a row without ``statistic`` is taken as a median.

    Raises:
        InputError: a column is missing or in another unit, a cell is wrong, or a row repeats one.
    """
    separator, content = _content(source.text)
    # Lines of the file are counted in what is said of them.
    skipped = source.text[: len(source.text) - len(content)].count("\n")
    # newline="" leaves line ends to csv, and strict refuses a stray quote instead of guessing.
    reader = csv.reader(io.StringIO(content, newline=""), strict=True, delimiter=separator)
    try:
        return _read(source, _filled_rows(reader, skipped), separator)
    except csv.Error as error:
        line = f"line {skipped + reader.line_num}"
        raise source.error_at(line, f"it is no CSV ({error})", _ACTION) from error


def _content(text: str) -> tuple[str, str]:
    """Return the separator of cells, and the text from the header on."""
    content = text.lstrip("\r\n")
    stated = _SEPARATOR_LINE.match(content)
    if stated is not None:
        return stated[1], content[stated.end() :].lstrip("\r\n")
    header = content.split("\n", 1)[0]
    return next((mark for mark in ";\t" if mark in header and "," not in header), ","), content


def _filled_rows(reader: Reader, skipped: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, each with the line on which it ends."""
    for row in reader:
        if any(cell.strip() for cell in row):
            yield skipped + reader.line_num, row


def _with_point(text: str, separator: str) -> str:
    """Return a number with a decimal point for one with a decimal comma, another as it is.

    Between commas as separators a quoted ``1,234`` may be either, and stays.
    """
    whole, comma, decimals = text.partition(",")
    is_decimal = comma and decimals.isdecimal() and _GROUPED.fullmatch(whole)
    if not is_decimal or (separator == "," and len(decimals) == 3 and "." not in whole):
        return text
    return re.sub(r"\D", "", whole) + "." + decimals


def _read(source: Source, rows: Iterator[tuple[int, list[str]]], separator: str) -> Reading:
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
        row["latency_ms"] = _with_point(row["latency_ms"], separator)
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
