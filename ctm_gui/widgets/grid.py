"""A table of rows behind an index array: columns, order, filter and copies, without widgets."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ctm_gui.widgets.ordering import (
    BoolArray,
    FloatArray,
    IndexArray,
    number_keys,
    stable_order,
    text_ranks,
)
from predictor.core.csv_style import CsvStyle
from predictor.core.text import is_plain, printable
from predictor.core.units import format_count
from predictor.presentation.markdown import markdown_table
from predictor.presentation.wording import NOTHING, number, percent, plain_number, shown

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column.

    Attributes:
        key: stable name.
        title: header, with the unit where there is one.
        text: text of the row's cell.
        numeric: whether it holds numbers; those are aligned to the right.
        sort_keys: float64 [N] over all rows, NaN for a missing cell; computed when first asked.
            None where rows sort by their texts, a dash last.
        copied: the cells of rows in a copy, for all rows at once, since a copy may hold every
            row; None where they are the texts, a dash left out.
        help: one sentence for the header's tooltip.
        typed: the first text of the editor of a row's cell; None where cells are not edited.
    """

    key: str
    title: str
    text: Callable[[int], str]
    numeric: bool = False
    sort_keys: Callable[[], FloatArray] | None = None
    copied: Callable[[list[int]], Sequence[str]] | None = None
    help: str = ""
    typed: Callable[[int], str] | None = None

    def copied_cells(self, rows: list[int]) -> Sequence[str]:
        """Return the cells of ``rows`` for a copy."""
        if self.copied is not None:
            return self.copied(rows)
        return ["" if (text := self.text(row)) == NOTHING else text for row in rows]

    def keys(self, count: int) -> FloatArray:
        """Return the sort keys of ``count`` rows, float64 [N]."""
        if self.sort_keys is not None:
            return self.sort_keys()
        texts = map(self.text, range(count))
        return text_ranks(["" if text == NOTHING else text for text in texts])


def text_column(key: str, title: str, texts: Sequence[str], help_text: str = "") -> Column:
    """Return a column of texts; a dash sorts last."""
    return Column(key=key, title=title, text=texts.__getitem__, help=help_text)


def name_ranks(names: Sequence[str]) -> FloatArray:
    """Return the rank of each name of a file, float64 [N]; NaN for a missing one."""
    return text_ranks(["" if name == NOTHING else name for name in names])


def name_column(
    key: str, title: str, names: Sequence[str], ranks: Callable[[], FloatArray] | None = None
) -> Column:
    """Return a column of names from a file; a copy holds long ones in full.

    Args:
        key: of the column.
        title: of the column.
        names: by row.
        ranks: returns ``name_ranks`` of them where they are known.
    """
    return Column(
        key=key,
        title=title,
        text=lambda row: shown(names[row]),
        sort_keys=ranks or (lambda: name_ranks(names)),
        copied=lambda rows: [
            "" if names[row] == NOTHING else printable(names[row]) for row in rows
        ],
    )


def count_column(
    key: str,
    title: str,
    counts: Sequence[int] | npt.NDArray[np.int64],
    write: Callable[[int], str] = format_count,
    help_text: str = "",
) -> Column:
    """Return a column of counts, by default with decimal prefixes; a copy holds them in full."""
    return Column(
        key=key,
        title=title,
        numeric=True,
        text=lambda row: write(int(counts[row])),
        sort_keys=lambda: np.array(counts, dtype=np.float64),
        copied=lambda rows: [str(int(counts[row])) for row in rows],
        help=help_text,
    )


def number_column(
    key: str,
    title: str,
    values: Sequence[float | None] | FloatArray,
    help_text: str = "",
    write: Callable[[float | None], str] = number,
    *,
    by_size: bool = False,
) -> Column:
    """Return a column of numbers; a copy holds more of their digits.

    Args:
        key: stable name.
        title: header.
        values: of N rows, None or NaN where there is none.
        help_text: for the header's tooltip.
        write: writes one.
        by_size: whether rows sort by the numbers' sizes, their signs aside.
    """

    def keys() -> FloatArray:
        numbers = number_keys(values)
        return np.abs(numbers) if by_size else numbers

    return Column(
        key=key,
        title=title,
        numeric=True,
        text=lambda row: write(values[row]),
        sort_keys=keys,
        copied=lambda rows: [plain_number(values[row]) for row in rows],
        help=help_text,
    )


def share_column(
    key: str, title: str, shares: Callable[[], FloatArray], help_text: str = ""
) -> Column:
    """Return a column of percentages of shares, float64 [N], computed on first use."""
    return Column(
        key=key,
        title=title,
        numeric=True,
        text=lambda row: percent(float(shares()[row])),
        sort_keys=shares,
        copied=lambda rows: [plain_number(value) for value in shares()[rows].tolist()],
        help=help_text,
    )


def place_column(count: int) -> Column:
    """Return the column of the N operators' places in their model."""
    return Column(
        key="number",
        title="#",
        numeric=True,
        text=lambda row: str(row + 1),
        sort_keys=lambda: np.arange(count, dtype=np.float64),
        help="Place in the model, from its inputs to its outputs.",
    )


class Grid:
    """Rows 0 .. N-1 of some data, shown through an order and a mask.

    Args:
        count: N.
        columns: all columns, from left to right.
        copied: columns that only a copy holds, after the others.

    Attributes:
        csv_style: of every table that is copied or saved; one setting of the window.
    """

    csv_style: ClassVar[CsvStyle] = CsvStyle.POINT

    def __init__(
        self, count: int, columns: Sequence[Column], copied: Sequence[Column] = ()
    ) -> None:
        self.columns = tuple(columns)
        self._copied_columns = (*columns, *copied)
        self.count = count
        self.sort_column: int | None = None
        self.descending = False
        self._sorted: IndexArray = np.arange(count, dtype=np.intp)
        self._visible: BoolArray = np.ones(count, dtype=np.bool_)
        self._keys: dict[int, FloatArray] = {}
        self.order: IndexArray = self._sorted

    @property
    def copied_columns(self) -> Sequence[Column]:
        """The columns that a copy holds."""
        return self._copied_columns

    def sort(self, column: int | None, *, descending: bool = False) -> None:
        """Sort all rows by ``column``, None for the order of the data; hidden ones stay hidden."""
        self.sort_column, self.descending = column, descending
        self._sorted = (
            np.arange(self.count, dtype=np.intp)
            if column is None
            else stable_order(self._sort_keys(column), descending=descending)
        )
        self._refresh()

    def sort_like(self, other: Grid) -> None:
        """Sort by the column that another grid is sorted by, where this one has it too."""
        keys = [column.key for column in self.columns]
        key = None if other.sort_column is None else other.columns[other.sort_column].key
        if key in keys:
            self.sort(keys.index(key), descending=other.descending)

    def without_rows(self) -> Grid:
        """Return a grid of these columns in this order that holds nothing of the rows."""
        bare = Grid(
            0, [replace(c, text=str, sort_keys=None, copied=None, typed=None) for c in self.columns]
        )
        bare.sort_column, bare.descending = self.sort_column, self.descending
        return bare

    @property
    def counts(self) -> tuple[int, int]:
        """The number of rows that are shown, and of all."""
        return len(self.order), self.count

    def show_only(self, visible: BoolArray) -> None:
        """Show the rows where ``visible`` (bool [N]) is true, in the present order."""
        self._visible = visible
        self._refresh()

    @cached_property
    def search_texts(self) -> Sequence[str]:
        """The text that a search reads of each row, case-folded: its cells of words."""
        words = [column for column in self.columns if not column.numeric]
        return search_texts(*([c.text(row) for row in range(self.count)] for c in words))

    def search(self, words: str) -> BoolArray:
        """Return a mask of the rows that hold every word, bool [N]."""
        if not words.split():
            # No texts either: to make those of 100 000 rows takes 20 ms.
            return np.ones(self.count, dtype=np.bool_)
        return search_mask(self.search_texts, words)

    def source(self, position: int) -> int:
        """Return the row of the data that is shown at ``position``."""
        return int(self.order[position])

    def positions(self, rows: Sequence[int] | IndexArray) -> IndexArray:
        """Return where ``rows`` of the data are shown, ascending; those not shown are left out."""
        wanted = np.zeros(self.count, dtype=np.bool_)
        wanted[np.asarray(rows, dtype=np.intp)] = True
        # bool [N] by row; read in the present order, it is by position.
        return np.flatnonzero(wanted[self.order])

    def as_csv(self, rows: Sequence[int] | IndexArray, *, titled: bool = True) -> str:
        """Write ``rows`` of the data, in the order given, as CSV, with or without its header."""
        titles = self._titles() if titled else []
        return to_csv(titles, self._copied(rows), self._numeric(), Grid.csv_style)

    def as_markdown(self, rows: Sequence[int] | IndexArray, *, titled: bool = True) -> str:
        """Write ``rows`` of the data, in the order given, as Markdown, with its header or not."""
        return markdown_table(self._titles() if titled else [], self._copied(rows), self._numeric())

    def _titles(self) -> list[str]:
        return [column.title for column in self.copied_columns]

    def _numeric(self) -> list[bool]:
        return [column.numeric for column in self.copied_columns]

    def _copied(self, rows: Sequence[int] | IndexArray) -> list[Sequence[str]]:
        """Return the cells to copy, column by column."""
        wanted = np.asarray(rows, dtype=np.intp).tolist()
        return [column.copied_cells(wanted) for column in self.copied_columns]

    def _sort_keys(self, column: int) -> FloatArray:
        if column not in self._keys:
            self._keys[column] = self.columns[column].keys(self.count)
        return self._keys[column]

    def _refresh(self) -> None:
        # Hidden rows are sorted too, so that a change of the filter needs no new sort.
        self.order = self._sorted[self._visible[self._sorted]]


def search_mask(texts: Sequence[str], search: str) -> BoolArray:
    """Return a mask of the texts that hold every word of ``search``.

    Args:
        texts: N texts, already case-folded.
        search: words apart by blanks; case does not count; none keeps everything.

    Returns:
        bool [N].
    """
    mask = np.ones(len(texts), dtype=np.bool_)
    for word in search.casefold().split():
        mask &= np.fromiter([word in text for text in texts], np.bool_, len(texts))
    return mask


def search_texts(*columns: Sequence[str]) -> list[str]:
    """Return the text that a search reads of each row: its texts as shown, case-folded.

    Args:
        columns: N texts each, from files.
    """
    texts = list(map(" ".join, zip(*columns, strict=True)))
    # One look at all of them: ten thousand texts are usually plain.
    if not is_plain("".join(texts)):
        texts = list(map(printable, texts))
    return list(map(str.casefold, texts))


def guarded(cell: str) -> str:
    """Return ``cell`` such that no spreadsheet takes it for a formula.

    Spreadsheets run a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return,
    and names in a model's file are a stranger's. An apostrophe in front makes it text; a number
    such as ``-1.5`` stays a number.
    """
    if cell.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def to_csv(
    header: Sequence[str],
    columns: Sequence[Sequence[str]],
    numeric: Sequence[bool],
    style: CsvStyle = CsvStyle.POINT,
) -> str:
    """Write a table as CSV after RFC 4180: CRLF, quotes where needed, formulas guarded.

    Args:
        header: names of the C columns; empty for the lines alone, to continue a table.
        columns: C lists of N cells.
        numeric: for each column whether it holds numbers; those are not guarded.
        style: separator of cells, and decimal mark of numbers.

    Returns:
        The table, header first, each line ended by CRLF.
    """
    safe = [
        [style.number(cell) for cell in cells] if is_number else [guarded(cell) for cell in cells]
        for cells, is_number in zip(columns, numeric, strict=True)
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n", delimiter=style.separator)
    if header:
        writer.writerow(header)
    writer.writerows(zip(*safe, strict=True))
    return text.getvalue()
