"""The table of measured latencies of a user: read completely, or refused with its wrong lines."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from io import StringIO
from pathlib import Path
from typing import Final

from predictor.core.csv_style import CsvStyle
from predictor.core.errors import InputError
from predictor.core.files import read_text
from predictor.core.records import Precision
from predictor.core.runtimes import RUNTIMES
from predictor.core.text import plural

REQUIRED: Final = ("target", "model", "latency_ms")
OPTIONAL: Final = ("runtime", "precision", "threads", "batch", "role")
ACTION: Final = "correct the table"

_NAMED = 5  # lines that one sentence names
_UNIT = re.compile(r"\s*[-+.\de]*\d\s*(?P<unit>[a-zµμ]+)\s*", re.IGNORECASE)


class Role(StrEnum):
    """Purpose of a row, where the table states it."""

    PROBE = "probe"
    TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredRow:
    """One measured latency.

    Attributes:
        line: of the table, 1 being the header.
        target: name of the target.
        model: name of the graph file without ``.onnx``.
        latency_ms: of one run over the batch, above 0.
        runtime: None for the usual one of the device.
        precision: None for the usual one of the device.
        threads: 0 means all cores.
        batch: None for the model's own.
        role: None where the table has no roles.
    """

    line: int
    target: str
    model: str
    latency_ms: float
    runtime: str | None
    precision: Precision | None
    threads: int
    batch: int | None
    role: Role | None

    @property
    def configuration(self) -> tuple[str, str | None, Precision | None, int]:
        """Name and configuration: rows that agree in it are of one target."""
        return self.target, self.runtime, self.precision, self.threads


@dataclass(slots=True)
class Problems:
    """Problems of a table, line by line."""

    path: Path
    lines: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, reason: str) -> None:
        """Note the problem of a line."""
        self.lines.append((line, reason))

    def check(self, action: str = ACTION) -> None:
        """Raise all that was noted in one sentence.

        Raises:
            InputError: something was noted.
        """
        if not self.lines:
            return
        (line, reason), *rest = self.lines
        sentence = [reason, *(f"line {number}: {text}" for number, text in rest[: _NAMED - 1])]
        more = len(self.lines) - _NAMED
        if more > 0:
            sentence.append(f"and {plural(more, 'more line')}")
        raise InputError(f"{self.path}, line {line}", "; ".join(sentence), action)


def read_table(path: Path) -> list[MeasuredRow]:
    """Read a table of measured latencies; one with semicolons may have decimal commas.

    Raises:
        InputError: the file cannot be read, has a column that is not known or lacks one, has no
            row, or a row is wrong or stands twice; each such line is named.
    """
    problems = Problems(path)
    text = read_text(path)
    header_text = text.split("\n", 1)[0]
    has_semicolons = ";" in header_text and "," not in header_text
    style = CsvStyle.COMMA if has_semicolons else CsvStyle.POINT
    # newline="": the reader itself must see line ends inside quoted cells.
    reader = csv.reader(StringIO(text, newline=""), strict=True, delimiter=style.separator)
    try:
        header = _header(path, next(reader, []))
        # line_num, as a quoted cell may run over several lines of the file.
        lines = [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise InputError(str(path), f"it is no CSV table ({error})", ACTION) from error
    rows = list(_rows(header, lines, problems, style))
    if not lines:
        problems.add(1, "no row follows the header")
    _check_roles(header, rows, problems)
    _check_duplicates(rows, problems)
    problems.lines.sort(key=lambda problem: problem[0])
    problems.check()
    return rows


def _header(path: Path, cells: list[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    subject = f"{path}, line 1"
    for name in REQUIRED:
        if name not in header:
            raise InputError(
                subject,
                f"column {name} is missing, it has {', '.join(header) or 'none'}",
                f"give the columns {', '.join(REQUIRED)}, parted by commas or by semicolons",
            )
    for index, name in enumerate(header):
        if name not in (*REQUIRED, *OPTIONAL):
            raise InputError(
                subject,
                f"column {name!r} is not known",
                f"remove it; what is read besides {', '.join(REQUIRED)} is {', '.join(OPTIONAL)}",
            )
        if name in header[:index]:
            raise InputError(subject, f"column {name} stands twice", "leave one of the two")
    return header


def _rows(
    header: Sequence[str],
    lines: Sequence[tuple[int, list[str]]],
    problems: Problems,
    style: CsvStyle,
) -> Iterator[MeasuredRow]:
    """Yield the rows that are right, and note the problems of the others."""
    for line, cells in lines:
        if len(cells) != len(header):
            problems.add(line, f"it has {len(cells)} cells, the header has {len(header)}")
            continue
        try:
            named = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
            if style is CsvStyle.COMMA:
                named["latency_ms"] = named["latency_ms"].replace(",", ".")
            yield _row(line, named)
        except ValueError as error:
            problems.add(line, str(error))


def _row(line: int, cells: dict[str, str]) -> MeasuredRow:
    return MeasuredRow(
        line=line,
        target=_name(cells, "target"),
        model=_name(cells, "model").removesuffix(".onnx"),
        latency_ms=_latency(cells["latency_ms"]),
        runtime=_choice(cells, "runtime", RUNTIMES),
        precision=_precision(cells),
        threads=_count(cells, "threads", 0) or 0,
        batch=_count(cells, "batch", 1),
        role=_role(cells),
    )


def _name(cells: dict[str, str], column: str) -> str:
    """Return a name that is one file's: it leads to no other folder."""
    name = cells[column]
    if not name:
        raise ValueError(f"{column} is empty")
    # Names become paths below the folders that the user gave.
    if name in {".", ".."} or any(character in name for character in "/\\\0"):
        raise ValueError(f"{column} is {name!r}, which is no name of a file")
    return name


def _latency(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        unit = _UNIT.fullmatch(text)
        if unit and unit["unit"].lower() not in {"nan", "inf", "infinity"}:
            raise ValueError(
                f"latency_ms is {text!r} with a unit of its own, and the column is plain numbers in"
                " ms"
            ) from None
        value = math.nan
    if not 0 < value < math.inf:
        raise ValueError(f"latency_ms is {text!r}, not a number above 0")
    return value


def _choice(cells: dict[str, str], column: str, choices: Collection[str]) -> str | None:
    text = cells.get(column, "")
    if text and text not in choices:
        raise ValueError(f"{column} is {text!r}, not one of {', '.join(choices)}")
    return text or None


def _precision(cells: dict[str, str]) -> Precision | None:
    text = _choice(cells, "precision", [str(precision) for precision in Precision])
    return Precision(text) if text else None


def _role(cells: dict[str, str]) -> Role | None:
    text = _choice(cells, "role", [str(role) for role in Role])
    return Role(text) if text else None


def _count(cells: dict[str, str], column: str, minimum: int) -> int | None:
    text = cells.get(column, "")
    if not text:
        return None
    # isdigit() alone accepts digits of other scripts and superscripts, on which int() fails.
    if not (text.isascii() and text.isdigit() and minimum <= int(text) < 2**31):
        raise ValueError(f"{column} is {text!r}, not a whole number from {minimum}")
    return int(text)


def _check_roles(header: Sequence[str], rows: Sequence[MeasuredRow], problems: Problems) -> None:
    """Note rows without a role in a table where others have one."""
    if "role" not in header or all(row.role is None for row in rows):
        return
    for row in rows:
        if row.role is None:
            problems.add(row.line, "role is empty, while other rows have one")


def _check_duplicates(rows: Sequence[MeasuredRow], problems: Problems) -> None:
    first: dict[tuple[object, ...], int] = {}
    for row in rows:
        line = first.setdefault((*row.configuration, row.model, row.batch), row.line)
        if line != row.line:
            problems.add(
                row.line, f"it is the target, configuration, model and batch of line {line} again"
            )
