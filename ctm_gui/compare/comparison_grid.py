"""The table of the comparison: a device a row, with its other configurations under it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ctm_gui.prediction.columns import ComparisonColumns
from ctm_gui.widgets.grid import Column, Grid
from ctm_gui.widgets.ordering import BoolArray, FloatArray, IndexArray, number_keys
from predictor.core.records import Basis
from predictor.core.units import LatencyUnit
from predictor.presentation.columns import COLUMNS, PredictionColumn, columns_of
from predictor.presentation.prediction_rows import PredictionRow, TableContext
from predictor.presentation.wording import plain_number, runtime_text, shown

SURER = "surer"  # key of the column that leads to a measurement
OPENED, CLOSED = "▾", "▸"
_SURER_WORDS = "Make It Surer…"
_SURE_SPAN = 1.3  # upper over lower end of an interval that no measurement has to narrow
_OF_TOKENS = ("tokens", "tokens80", "first")  # columns that language models alone fill
# Columns whose order turns round between a time and a rate.
TIME_COLUMNS = frozenset(column.id for column in COLUMNS if column.is_time)


class ComparisonGrid(Grid):
    """The comparison table over ``data``: unit and budget are those of ``context``.

    A device is a row with its first configuration; its others stand under it where it is opened.

    Args:
        data: the rows.
        context: unit and budget.
        more: by device id, whether it is opened, for those that have other configurations.
    """

    def __init__(
        self,
        data: ComparisonColumns,
        context: TableContext,
        more: Mapping[str, bool] | None = None,
    ) -> None:
        self.data, self.rows, self.context = data, data.rows, context
        columns = prediction_columns(data.rows, context)
        has_tokens = bool(data.is_tokens.any())
        # Copies have these columns: names without their marks.
        super().__init__(len(data), [c for c in columns if has_tokens or c.key not in _OF_TOKENS])
        # No column may hold the grid: it would stay until the garbage is collected.
        marked = [_marked(column, data, context, more or {}) for column in columns]
        place = [column.key for column in columns].index("basis") + 1
        self.columns = (*marked[:place], _surer(data.rows), *marked[place:])

    def search(self, words: str) -> BoolArray:
        """Return a mask of the rows that hold every word, bool [N]."""
        return self.data.search_mask(words)

    def sort(self, column: int | None, *, descending: bool = False) -> None:
        """Sort the rows of the comparison, the others of a device under its row of their model."""
        super().sort(column, descending=descending)
        if self.data.compared < len(self.data):
            self._sorted = self._under_their_devices(self._sorted)
            self._refresh()

    def _under_their_devices(self, order: IndexArray) -> IndexArray:
        rows, compared = self.rows, self.data.compared
        under: dict[tuple[str, str], list[int]] = {}
        for row in order[order >= compared].tolist():
            key = rows[row].model_label, rows[row].prediction.device_id
            under.setdefault(key, []).append(row)
        places: list[int] = []
        for row in order[order < compared].tolist():
            places.append(row)
            places += under.pop((rows[row].model_label, rows[row].prediction.device_id), [])
        left = (row for of_device in under.values() for row in of_device)
        return np.array([*places, *left], dtype=np.intp)

    def needed_columns(self) -> dict[str, bool]:
        """Return for each column whether it has anything to say of these rows."""
        rows, context = self.data.examples, self.context
        needed = {c.id: c.is_needed(rows, context) for c in columns_of(context.place)}
        # The title names the only one, and the room is needed for what the numbers rest on.
        return needed | {"model": len(self.data.models) != 1}


def _marked(
    column: Column, data: ComparisonColumns, context: TableContext, more: Mapping[str, bool]
) -> Column:
    """Return a column as the table shows it, with the marks and the order of its rows."""
    if column.key == "latency":
        return replace(column, sort_keys=lambda: _latency_keys(data, context.unit))
    if column.key != "device":
        return column
    return replace(
        column,
        text=lambda row: _device(data, row, more),
        sort_keys=lambda: column.keys(len(data)),
    )


def _device(data: ComparisonColumns, row: int, more: Mapping[str, bool]) -> str:
    """Return a device's name after the mark that opens its others, or that of one of them."""
    result = data.rows[row]
    if row >= data.compared:
        return f"      └ {runtime_text(result.prediction.configuration)}"
    is_open = None if result.tokens is not None else more.get(result.prediction.device_id)
    name = shown(result.device_name)
    return name if is_open is None else f"{OPENED if is_open else CLOSED} {name}"


def _latency_keys(data: ComparisonColumns, unit: LatencyUnit) -> FloatArray:
    """Return the order by latency, float64 [N], lower limits and rows without one behind."""
    times = np.where(data.is_lower_limit, np.nan, data.latency_ms)
    return data.batch / times if unit is LatencyUnit.FPS else times


def _surer(rows: Sequence[PredictionRow]) -> Column:
    return Column(
        key=SURER,
        title="Surer",
        text=lambda row: _SURER_WORDS if is_uncertain(rows[row]) else "",
        help="Measure reference networks on the device: its intervals get narrower.",
    )


def prediction_columns(rows: Sequence[PredictionRow], context: TableContext) -> list[Column]:
    """Return the columns that the context's place shows."""
    return [_column(column, rows, context) for column in columns_of(context.place)]


def _column(
    column: PredictionColumn, rows: Sequence[PredictionRow], context: TableContext
) -> Column:
    value, key = column.value, column.sort_key or column.value

    def keys() -> FloatArray:
        return number_keys([key(row, context) for row in rows] if key else [])

    def copied(places: list[int]) -> list[str]:
        return [plain_number(value(rows[place], context)) for place in places] if value else []

    return Column(
        key=column.id,
        title=column.title(context),
        numeric=column.is_number,
        text=lambda row: column.text(rows[row], context),
        sort_keys=keys if key else None,
        copied=copied if value else None,
        help=column.help,
    )


def is_uncertain(row: PredictionRow) -> bool:
    """Whether a measurement of the target would narrow the interval of a row."""
    prediction, tokens = row.prediction, row.tokens
    value, low, high = prediction.latency_ms, prediction.low80_ms, prediction.high80_ms
    if tokens is not None:
        value, low, high = tokens.per_s, tokens.low_per_s, tokens.high_per_s
    if value is None or prediction.basis is Basis.MEASURED:
        return False
    return low is None or high is None or high > _SURE_SPAN * low
