"""The comparison table as a Qt model."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor

from ctm_gui.models.grid_model import GridModel
from ctm_gui.presenters.comparison import details
from ctm_gui.presenters.comparison_columns import ComparisonColumns
from ctm_gui.presenters.comparison_grid import ComparisonGrid
from ctm_gui.theme import LIGHT, Theme
from predictor.core.columns import COLUMN_BY_ID, Place, TableContext
from predictor.core.report import Tone


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
        """Return what hovering over the row at ``position`` tells, as plain text."""
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
