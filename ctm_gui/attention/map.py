"""Geometry of the attention maps: x in columns, y in pixels from the top.

Both maps stand side by side over the same rows: to the left the attention of operators to metrics,
to the right that of metrics to operators, with a gap of one column between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ctm_gui.attention.rows import AttentionRows, Map
from ctm_gui.attention.summary import AttentionSummary
from ctm_gui.widgets.ordering import IndexArray

ROW_PX = 18
GAP = 1
# The full map in a picture: rows get thinner where they would make it taller than this.
_TALLEST_PX = 10_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: the row of the data, the metric, and the map: backward is metrics to operators."""

    row: int
    metric: int
    backward: bool


@dataclass(frozen=True, slots=True, eq=False)
class MapLayout:
    """The rows shown, from the top down.

    Attributes:
        summary: the attention.
        rows: operators or types.
        order: the rows shown, intp [M].
        row_px: height of a row.
    """

    summary: AttentionSummary
    rows: AttentionRows
    order: IndexArray
    row_px: int = ROW_PX

    @property
    def metrics(self) -> int:
        """Number of metrics, K."""
        return len(self.summary.labels)

    @property
    def columns(self) -> int:
        """Columns of both maps with the gap."""
        return 2 * self.metrics + GAP

    @property
    def height_px(self) -> int:
        """Height of all rows."""
        return self.order.size * self.row_px

    def start(self, *, backward: bool) -> int:
        """Return the first column of a map."""
        return self.metrics + GAP if backward else 0

    def shares(self, places: slice, *, backward: bool) -> Map:
        """Return the cells of the rows at some places from the top, float32 [rows, K]."""
        shares = self.rows.from_metrics if backward else self.rows.to_metrics
        return shares[self.order[places]]

    def places_between(self, top_px: float, bottom_px: float) -> slice:
        """Return the places of the rows that reach into a stretch."""
        first = max(int(top_px // self.row_px), 0)
        return slice(first, min(int(bottom_px // self.row_px) + 1, self.order.size))

    def scale(self, *, backward: bool) -> tuple[float, float]:
        """Return the shares of the first and the last colour of a map.

        All rows count, shown or not, so that a filter changes no colour. The scale starts at 0,
        but at the smallest share where all are so alike that one colour would hide the rest.
        Where cells are above and below 0, nothing is in the middle.
        """
        shares = self.rows.from_metrics if backward else self.rows.to_metrics
        low, high = float(shares.min(initial=1.0)), float(shares.max(initial=0.0))
        if self.summary.is_signed:
            largest = max(high, -low) or 1.0
            return -largest, largest
        if low >= high:
            return 0.0, high or 1.0
        return (low if low > high / 2 else 0.0), high

    def x_of(self, cell: Cell) -> int:
        """Return the column of a cell."""
        return self.start(backward=cell.backward) + cell.metric

    def cell_at(self, x: float, y_px: float) -> Cell | None:
        """Return the cell at a point, None in the gap and outside."""
        place = self.place_at(y_px)
        column = int(np.floor(x))
        backward = column >= self.metrics + GAP
        metric = column - self.start(backward=backward)
        if place is None or not 0 <= metric < self.metrics:
            return None
        return Cell(int(self.order[place]), metric, backward)

    def place_at(self, y_px: float) -> int | None:
        """Return the place of the row at a height, counted from the top."""
        place = int(np.floor(y_px / self.row_px))
        return place if 0 <= place < self.order.size else None

    def place_of(self, row: int) -> int | None:
        """Return where a row is shown, counted from the top."""
        places = np.flatnonzero(self.order == row)
        return int(places[0]) if places.size else None

    def stepped(self, cell: Cell | None, down: int, right: int) -> Cell | None:
        """Return the cell that many rows down and columns to the right, inside the maps."""
        if not self.order.size:
            return None
        place = None if cell is None else self.place_of(cell.row)
        if cell is None or place is None:
            return Cell(int(self.order[0]), 0, backward=False)
        place = min(max(place + down, 0), self.order.size - 1)
        # Counted without the gap, so that one step to the right crosses it.
        column = cell.metric + (self.metrics if cell.backward else 0) + right
        column = min(max(column, 0), 2 * self.metrics - 1)
        return Cell(int(self.order[place]), column % self.metrics, column >= self.metrics)

    def sentence(self, cell: Cell) -> str:
        """Return a cell in words."""
        return self.summary.cell_sentence(self.rows, cell.row, cell.metric, backward=cell.backward)

    def full(self) -> MapLayout:
        """Return the layout for a picture of every row."""
        row_px = max(min(ROW_PX, _TALLEST_PX // max(self.order.size, 1)), 1)
        return MapLayout(self.summary, self.rows, self.order, row_px)
