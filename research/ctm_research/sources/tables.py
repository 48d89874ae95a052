"""Rows of the CSV tables of a data folder, with errors that name file and line."""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from predictor.core.errors import InputError

if TYPE_CHECKING:  # the type of csv.reader() is not there when the program runs
    from _csv import Reader

_ACTION = "restore the file from its source"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table.

    Attributes:
        path: of the table.
        line: of the row's end in the file, 1 being the header.
        cells: text by column.
    """

    path: Path
    line: int
    cells: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.cells[column]

    def positive(self, column: str) -> float:
        """Return a number above 0.

        Raises:
            InputError: the cell holds something else.
        """
        text = self.cells[column]
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            self.refuse(column, "a number above 0")
        return value

    def count(self, column: str) -> int:
        """Return a whole number above 0.

        Raises:
            InputError: the cell holds something else.
        """
        text = self.cells[column]
        if not (text.isascii() and text.isdigit()) or int(text) == 0:
            self.refuse(column, "a whole number above 0")
        return int(text)

    def refuse(self, column: str, wanted: str) -> NoReturn:
        """Raise an error about the content of a cell."""
        cell = self.cells[column]
        raise InputError(
            f"{self.path}, line {self.line}", f"{column} is {cell!r}, not {wanted}", _ACTION
        )


def read_rows(
    path: Path, columns: Sequence[str], *, only: bool = False, action: str = _ACTION
) -> Iterator[Row]:
    """Yield the rows of a CSV file, plain or gzipped.

    Args:
        path: of the table.
        columns: columns that it must have.
        only: whether it may have no other ones.
        action: advice where the file is refused.

    Raises:
        InputError: the file cannot be read, lacks a column or has one that it may not have, or a
            row has another number of cells.
    """
    try:
        with _opened(path) as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            _check(path, header, columns, only, action)
            yield from _rows(path, reader, header, action)
    except OSError as error:
        raise InputError(str(path), f"it cannot be read ({error})", action) from error
    except (UnicodeDecodeError, csv.Error, EOFError) as error:
        raise InputError(str(path), f"it is no CSV table in UTF-8 ({error})", action) from error


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")


def _check(
    path: Path, header: Sequence[str], columns: Sequence[str], only: bool, action: str
) -> None:
    lacking = [column for column in columns if column not in header]
    if lacking:
        raise InputError(str(path), f"column {lacking[0]} is missing", action)
    unknown = [column for column in header if column not in columns]
    if only and unknown:
        raise InputError(f"{path}, line 1", f"column {unknown[0]!r} is not known", action)


def _rows(path: Path, reader: Reader, header: Sequence[str], action: str) -> Iterator[Row]:
    for cells in reader:
        if len(cells) != len(header):
            raise InputError(
                f"{path}, line {reader.line_num}",
                f"it has {len(cells)} cells, the header has {len(header)}",
                action,
            )
        yield Row(path, reader.line_num, dict(zip(header, cells, strict=True)))
