"""Widths of a table's columns, by their titles and a sample of their cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QTableView

from ctm_gui.tasks.turns import in_turns
from ctm_gui.widgets.geometry import shared_widths
from ctm_gui.widgets.grid import Column
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.theme import CELL_PADDING_PX

_SAMPLED_ROWS = 32
_SAMPLED_CELLS = 512
_MIN_SAMPLED = 4
_MEASURED_TEXTS = 12
_WIDEST_COLUMN_PX = 360.0
_NARROWEST_TEXT_PX = 140.0
_WIDE_PX = 940  # of a table beside the panels of a window of 1440
_SCROLLED_SHARE = 0.3  # of the width, which a text may have in a wide table that scrolls
# More columns than these are not in view together: the rest is measured in turns.
_COLUMNS_A_TURN = 20


class ColumnFit(QObject):
    """Fits the columns of a table.

    Where they do not fit in its width, columns of text are pressed together, so that the numbers
    stay in view. A wide table that scrolls all the same presses none of them under three tenths of
    its width: a name that is cut says less than the column that it pushes out of view. Widths that
    the user has set are left as they are until there are other columns.

    Args:
        table: shows ``model``; owns this.
        model: its grid has the columns.
        min_width_px: width under which a column of wider texts is never fitted, by its key.
    """

    def __init__(
        self, table: QTableView, model: GridModel, min_width_px: Mapping[str, int]
    ) -> None:
        super().__init__(table)
        self._table, self._model = table, model
        self._natural_px: list[float] = []
        self._fits = 0
        self._keys: tuple[str, ...] = ()
        self._min_width_px = min_width_px
        self.at_work = False
        self.is_users = False

    @property
    def last_visible(self) -> int:
        """Number of the last column that is not hidden, which may stretch; -1 where none is."""
        columns = reversed(range(self._model.columnCount()))
        return next((at for at in columns if not self._table.isColumnHidden(at)), -1)

    def fit(self) -> None:
        """Measure and set the widths; many columns in turns, those at the left at once."""
        self._fits += 1
        columns = self._model.grid.columns
        keys = tuple(column.key for column in columns)
        if keys != self._keys:
            # Qt keeps the width of a place for another column there: it is not the user's.
            self._keys, self.is_users = keys, False
        if self.is_users or not columns:
            return
        # A last column of text takes what is left over; numbers stay beside the others.
        stretches = not columns[self.last_visible].numeric
        self._table.horizontalHeader().setStretchLastSection(stretches)
        self._natural_px = self._measured(columns[:_COLUMNS_A_TURN])
        self.share()
        if len(columns) > _COLUMNS_A_TURN:
            # The number lets an older run notice that it is outdated.
            in_turns(self._fit_rest(self._fits), self)

    def refit(self) -> None:
        """Share out another width of the table."""
        if not self._natural_px:
            self.fit()
        elif not self.is_users and len(self._natural_px) == self._model.columnCount():
            self.share()

    def share(self) -> None:
        """Set the widths that were measured, in the room that there is."""
        columns, natural = self._model.grid.columns, list(self._natural_px)
        # The last column stretches to the edge unless it holds numbers: it has no width of its own.
        last = self.last_visible
        measured = range(min(len(natural), last + columns[last].numeric))
        texts = [number for number in measured if not columns[number].numeric]
        numbers = sum(natural) - sum(natural[number] for number in texts)
        text_px = [natural[number] for number in texts]
        minimum_px = [self._min_width_px.get(columns[at].key, _NARROWEST_TEXT_PX) for at in texts]
        width_px = self._table.viewport().width()
        room_px = width_px - numbers
        scrolls = sum(map(min, text_px, minimum_px)) > room_px
        if scrolls and width_px >= _WIDE_PX:
            minimum_px = [max(px, width_px * _SCROLLED_SHARE) for px in minimum_px]
        pressed = shared_widths(text_px, room_px, minimum_px)
        for number, width in zip(texts, pressed, strict=True):
            natural[number] = width
        self._set(0, natural)

    def _fit_rest(self, fit: int) -> Iterator[None]:
        columns = self._model.grid.columns
        for first in range(_COLUMNS_A_TURN, len(columns), _COLUMNS_A_TURN):
            yield
            if fit != self._fits or columns is not self._model.grid.columns:
                return  # others are shown by now
            natural_px = self._measured(columns[first : first + _COLUMNS_A_TURN], first)
            self._natural_px += natural_px
            self._set(first, natural_px)

    def _set(self, first: int, widths_px: Sequence[float]) -> None:
        self.at_work = True
        for number, width in enumerate(widths_px, start=first):
            if not self._table.isColumnHidden(number):
                # Rounded up they would be wider than the table together.
                self._table.setColumnWidth(number, int(width))
        self.at_work = False

    def _measured(self, columns: Sequence[Column], first: int = 0) -> list[float]:
        model = self._model
        # Few rows of many columns: a cell takes a while to write.
        rows = max(_MIN_SAMPLED, min(_SAMPLED_ROWS, _SAMPLED_CELLS // model.columnCount()))
        # Half of them at the top, which is looked at first, the others from all over.
        step = max(1, model.rowCount() // (rows - rows // 2))
        places = {*range(min(rows // 2, model.rowCount())), *range(0, model.rowCount(), step)}
        sample = [model.grid.source(place) for place in sorted(places)]
        return [
            0.0 if self._table.isColumnHidden(number) else self._width(column, sample)
            for number, column in enumerate(columns, start=first)
        ]

    def _width(self, column: Column, sample: Sequence[int]) -> float:
        metrics = self._table.fontMetrics()
        cells = {column.text(row) for row in sample}
        lines = [line for text in {column.title, *cells} for line in text.split("\n")]
        # Measuring takes longer than writing: the widest is among those with most letters.
        widest = max(map(metrics.horizontalAdvance, nlargest(_MEASURED_TEXTS, lines, key=len)))
        margin = 2 * CELL_PADDING_PX + metrics.horizontalAdvance("m")
        # What is still to be typed needs room too, and what is drawn beside a number.
        is_fitted = any(cells) and not column.numeric
        minimum = 0.0 if is_fitted else float(self._min_width_px.get(column.key, 0))
        return max(min(float(widest + margin), _WIDEST_COLUMN_PX), minimum)
