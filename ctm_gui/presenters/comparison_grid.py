"""The comparison table: columns from the registry, over rows of predictions."""

from __future__ import annotations

from collections.abc import Sequence

from ctm_gui.presenters.comparison_columns import ComparisonColumns
from ctm_gui.presenters.grid import Column, Grid
from ctm_gui.presenters.ordering import FloatArray, number_keys
from predictor.core.columns import (
    COLUMNS,
    PredictionColumn,
    PredictionRow,
    TableContext,
    columns_of,
)
from predictor.core.wording import plain_number

# Columns whose order turns round between a time and a rate.
TIME_COLUMNS = frozenset(column.id for column in COLUMNS if column.is_time)


class ComparisonGrid(Grid):
    """The comparison table over ``data``: unit and budget are those of ``context``."""

    def __init__(self, data: ComparisonColumns, context: TableContext) -> None:
        self.rows, self.context = data.rows, context
        super().__init__(len(data), prediction_columns(data.rows, context))

    def needed_columns(self) -> dict[str, bool]:
        """Return for each column whether it has anything to say of these rows."""
        return {c.id: c.is_needed(self.rows, self.context) for c in columns_of(self.context.place)}


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
        column.id,
        column.title(context),
        numeric=column.is_number,
        text=lambda row: column.text(rows[row], context),
        sort_keys=keys if key else None,
        copied=copied if value else None,
        help=column.help,
    )
