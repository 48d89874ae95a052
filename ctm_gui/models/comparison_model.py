"""The comparison table as a Qt model."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor

from ctm_gui.models.grid_model import GridModel
from ctm_gui.presenters.comparison import details
from ctm_gui.presenters.comparison_columns import ComparisonColumns
from ctm_gui.presenters.comparison_grid import ComparisonGrid
from ctm_gui.theme import LIGHT, Theme
from predictor.core.units import LatencyUnit
from predictor.core.verdict import Verdict, verdict


class ComparisonModel(GridModel):
    """Rows of predictions; verdicts in words and in the theme's colours, details on hovering."""

    def __init__(self, parent: QObject | None = None) -> None:
        self._unit = LatencyUnit.MS
        self._budget_ms: float | None = None
        self._theme = LIGHT
        self._grid = ComparisonGrid(ComparisonColumns(()), self._unit, None)
        super().__init__(self._grid, parent)

    def show_comparison(
        self, grid: ComparisonGrid, unit: LatencyUnit, budget_ms: float | None
    ) -> None:
        """Show another comparison."""
        self._grid, self._unit, self._budget_ms = grid, unit, budget_ms
        self.replace(grid)

    def set_theme(self, theme: Theme) -> None:
        """Take the theme's colours for the verdicts."""
        self._theme = theme
        if self.rowCount():
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.ForegroundRole])

    def details(self, position: int) -> str:
        """Return what hovering over the row at ``position`` tells, as plain text."""
        row = self._grid.rows[self._grid.source(position)]
        return details(row, self._unit, self._budget_ms)

    def colour(self, row: int, column: int) -> QColor | None:
        """Return the colour of a verdict or of a problem."""
        prediction = self._grid.rows[self._grid.source(row)].prediction
        key = self._grid.columns[column].key
        if prediction.latency_ms is None:
            return QColor(self._theme.muted)
        if key == "memory" and prediction.fits_memory is False:
            return QColor(self._theme.bad)
        if key != "verdict":
            return None
        colour = {
            Verdict.MEETS: self._theme.good,
            Verdict.MEETS_MAYBE: self._theme.warn,
            Verdict.OVER_MAYBE: self._theme.warn,
            Verdict.OVER: self._theme.bad,
        }.get(verdict(prediction, self._budget_ms))
        return None if colour is None else QColor(colour)
