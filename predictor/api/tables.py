"""Tables of plain rows, for data frames and notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

from predictor.core.errors import HostError
from predictor.core.units import significant

Row = Mapping[str, Any]

_MAX_DISPLAYED: Final = 60  # rows in a notebook
_STYLE: Final = 'style="text-align:left"'


class Table(Sequence[Row]):
    """Rows of plain values: texts, numbers, truth values, and None where there is no value.

    All rows have the same columns.

    Args:
        rows: of the table.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = tuple(rows)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows, each a mapping from the name of a column to its value."""
        return self._rows

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; none of an empty table."""
        return tuple(self._rows[0]) if self._rows else ()

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column.

        Raises:
            KeyError: there is no such column.
        """
        return [row[name] for row in self._rows]

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``.

        Raises:
            HostError: pandas is not installed.
        """
        return _library("pandas").DataFrame(list(self._rows), columns=list(self.columns))

    def to_polars(self) -> Any:
        """Return a ``polars.DataFrame``.

        Raises:
            HostError: polars is not installed.
        """
        return _library("polars").DataFrame(
            {name: self.column(name) for name in self.columns}, strict=False
        )

    def to_arrow(self) -> Any:
        """Return a ``pyarrow.Table``.

        Raises:
            HostError: pyarrow is not installed.
        """
        return _library("pyarrow").table({name: self.column(name) for name in self.columns})

    def __repr__(self) -> str:
        return f"{type(self).__name__} of {len(self)} rows: {', '.join(self.columns)}"

    def _repr_html_(self) -> str:
        return html_table(self._rows, self.columns)


def html_table(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Return rows as an HTML table; of very many rows the first."""
    from html import escape  # noqa: PLC0415  # 3 ms that programs without a notebook do not need

    heads = "".join(f"<th {_STYLE}>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(_cell(escape(_text(row[name]))) for name in columns)}</tr>"
        for row in rows[:_MAX_DISPLAYED]
    )
    rest = len(rows) - _MAX_DISPLAYED
    more = f"<p>{rest} more rows are in .rows</p>" if rest > 0 else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(text: str) -> str:
    return f"<td {_STYLE}>{text}</td>"


def _text(value: object) -> str:
    if value is None:
        return "—"
    if isinstance(value, float) and math.isfinite(value):
        return significant(value)
    return str(value)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise HostError(name, "this library is not installed", f"pip install {name}") from error
