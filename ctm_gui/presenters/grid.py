"""A table of rows behind an index array: columns, order and filter, without widgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm_gui.presenters.ordering import FloatArray, IndexArray, stable_order
from ctm_gui.presenters.tabular import to_csv
from predictor.core.markdown import markdown_table
from predictor.core.text import is_plain, printable
from predictor.core.wording import NOTHING


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        key: stable name.
        title: header, with the unit where there is one.
        numeric: whether it holds numbers, which are set to the right.
        text: what the row's cell shows.
        sort_keys: float64 [N] over all rows, NaN for a missing cell; computed when first asked.
        copied: what the cells of rows are in a copy, for all rows at once, since a copy may hold
            every row; None where it is what they show, a dash left out.
        help: one sentence for the header's tooltip.
    """

    key: str
    title: str
    numeric: bool
    text: Callable[[int], str]
    sort_keys: Callable[[], FloatArray]
    copied: Callable[[list[int]], Sequence[str]] | None = None
    help: str = ""

    def copied_cells(self, rows: list[int]) -> Sequence[str]:
        """Return the cells of ``rows`` for a copy."""
        if self.copied is not None:
            return self.copied(rows)
        return ["" if (text := self.text(row)) == NOTHING else text for row in rows]


class Grid:
    """Rows 0 .. N-1 of some data, shown through an order and a mask.

    Args:
        count: N.
        columns: all columns, in the order in which they are shown.
        copied: columns that only a copy holds, after the others.
    """

    def __init__(
        self, count: int, columns: Sequence[Column], copied: Sequence[Column] = ()
    ) -> None:
        self.columns = tuple(columns)
        self._copied_columns = (*columns, *copied)
        self.count = count
        self.sort_column: int | None = None
        self.descending = False
        self._sorted: IndexArray = np.arange(count, dtype=np.intp)
        self._visible: npt.NDArray[np.bool_] = np.ones(count, dtype=np.bool_)
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

    def show_only(self, visible: npt.NDArray[np.bool_]) -> None:
        """Show the rows where ``visible`` (bool [N]) is true, in the present order."""
        self._visible = visible
        self._refresh()

    def source(self, position: int) -> int:
        """Return the row of the data that is shown at ``position``."""
        return int(self.order[position])

    def positions(self, rows: Sequence[int] | IndexArray) -> IndexArray:
        """Return where ``rows`` of the data are shown, ascending; those not shown are left out."""
        wanted = np.zeros(self.count, dtype=np.bool_)
        wanted[np.asarray(rows, dtype=np.intp)] = True
        return np.flatnonzero(wanted[self.order])

    def as_csv(self, rows: Sequence[int] | IndexArray, *, titled: bool = True) -> str:
        """Write ``rows`` of the data, in the order given, as CSV, with or without its header."""
        return to_csv(self._titles() if titled else [], self._copied(rows), self._numeric())

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
            self._keys[column] = self.columns[column].sort_keys()
        return self._keys[column]

    def _refresh(self) -> None:
        self.order = self._sorted[self._visible[self._sorted]]


def search_mask(texts: Sequence[str], search: str) -> npt.NDArray[np.bool_]:
    """Return which texts hold every word of ``search``.

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
    """Return what a search looks through: the texts of each row as shown, case-folded.

    Args:
        columns: N texts each, from files.
    """
    texts = list(map(" ".join, zip(*columns, strict=True)))
    # One look at all of them: ten thousand texts are usually plain.
    if not is_plain("".join(texts)):
        texts = list(map(printable, texts))
    return list(map(str.casefold, texts))
