"""Tables of predictions as Qt models: compared, by model and target, with scores."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor

from ctm_gui.compare.columns import ComparisonColumns, ComparisonGrid
from ctm_gui.compare.matrix import VariantsGrid, cell_details
from ctm_gui.compare.pareto import SCORE, ScoresGrid, parse_score
from ctm_gui.compare.words import details
from ctm_gui.widgets.grid_model import GridModel, Index
from ctm_gui.widgets.theme import LIGHT, Theme
from predictor.core.columns import COLUMN_BY_ID, Place, TableContext
from predictor.core.report import Tone
from predictor.core.wording import plain_number


class ComparisonModel(GridModel):
    """Rows of predictions; verdicts in words and in the theme's colours, details on hovering."""

    grid: ComparisonGrid

    def __init__(self, parent: QObject | None = None) -> None:
        self._theme = LIGHT
        super().__init__(ComparisonGrid(ComparisonColumns(()), TableContext(Place.COMPARE)), parent)

    def set_theme(self, theme: Theme) -> None:
        """Take the theme's colours for the verdicts."""
        self._theme = theme
        if self.rowCount():
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.ForegroundRole])

    def details(self, position: int) -> str:
        """Return the tooltip of the row at ``position``, plain text."""
        row, context = self.grid.rows[self.grid.source(position)], self.grid.context
        return details(row, context.unit, context.budget_ms)

    def colour(self, row: int, column: int) -> QColor | None:
        """Return the colour of a verdict or of a problem."""
        shown = self.grid.rows[self.grid.source(row)]
        if shown.prediction.latency_ms is None:
            return QColor(self._theme.muted)
        tone = COLUMN_BY_ID[self.grid.columns[column].key].tone(shown, self.grid.context)
        colour = {
            Tone.GOOD: self._theme.good,
            Tone.WARN: self._theme.warn,
            Tone.BAD: self._theme.bad,
        }.get(tone)
        return None if colour is None else QColor(colour)


# How a model stands to the baseline: -1 faster, 1 slower, 0 not clear or no difference.
TREND_ROLE = int(Qt.ItemDataRole.UserRole) + 1
# Whether it is the fastest that meets the budget on this target.
FASTEST_ROLE = int(Qt.ItemDataRole.UserRole) + 2


class VariantsModel(GridModel):
    """A row a model, a column a target."""

    def pair_at(self, index: Index) -> tuple[int, int] | None:
        """Return model and target of a cell, None for a cell of no target."""
        if not index.isValid() or not isinstance(self.grid, VariantsGrid):
            return None
        target = self.grid.target_of(index.column())
        return None if target is None else (self.grid.source(index.row()), target)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's lines, its trend against the baseline, or its details."""
        pair = self.pair_at(index)
        if pair is None or not isinstance(self.grid, VariantsGrid):
            return super().data(index, role)
        if role == TREND_ROLE:
            return self.grid.matrix.trend(*pair)
        if role == FASTEST_ROLE:
            return bool(self.grid.fastest[pair[1]] == pair[0])
        if role == Qt.ItemDataRole.ToolTipRole:
            return cell_details(self.grid.matrix, *pair, self.grid.unit)
        return super().data(index, role)


class ScoresModel(GridModel):
    """Models with scores that can be typed in.

    Signals:
        score_typed: the user gave a model a score: its index, and a number or None.
    """

    score_typed = Signal(int, object)

    def is_score(self, index: Index) -> bool:
        """Return whether a cell holds a score."""
        return index.isValid() and self.grid.columns[index.column()].key == SCORE

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if self.is_score(index) else flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text; a score that is edited has all its digits."""
        if role == Qt.ItemDataRole.EditRole and self.is_score(index):
            return self._typed(index)
        return super().data(index, role)

    def _typed(self, index: Index) -> str:
        if not isinstance(self.grid, ScoresGrid):
            return ""
        return plain_number(float(self.grid.points.scores[self.grid.source(index.row())]))

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Take a score; a text that is no number changes nothing."""
        if role != Qt.ItemDataRole.EditRole or not self.is_score(index):
            return False
        try:
            score = parse_score(str(value))
        except ValueError:
            return False
        self.score_typed.emit(self.grid.source(index.row()), score)
        return True
