"""Tables of predictions as Qt models: compared, by model and target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor

from ctm_gui.compare.comparison_grid import SURER, ComparisonGrid
from ctm_gui.compare.matrix import CellValue, MatrixGrid, cell_details
from ctm_gui.compare.words import details
from ctm_gui.prediction.columns import ComparisonColumns
from ctm_gui.widgets.grid_model import GridModel, Index
from ctm_gui.widgets.view_options import ViewOptions
from predictor.presentation.columns import COLUMN_BY_ID
from predictor.presentation.prediction_rows import Place, TableContext
from predictor.presentation.report import Tone


class ComparisonModel(GridModel):
    """Rows of predictions; verdicts in words and in the theme's colours, details on hovering.

    Args:
        options: the theme.
        parent: owner.
    """

    grid: ComparisonGrid

    def __init__(self, options: ViewOptions, parent: QObject | None = None) -> None:
        super().__init__(ComparisonGrid(ComparisonColumns(()), TableContext(Place.COMPARE)), parent)
        self._options = options
        options.theme_changed.connect(self.colour_again)

    def details(self, position: int) -> str:
        """Return the tooltip of the row at ``position``, plain text."""
        row, context = self.grid.rows[self.grid.source(position)], self.grid.context
        return details(row, context.unit, context.budget_ms)

    def colour(self, row: int, column: int) -> QColor | None:
        """Return the colour of a verdict or of a problem."""
        record = self.grid.rows[self.grid.source(row)]
        if not record.has_number:
            return QColor(self._options.theme.muted)
        key = self.grid.columns[column].key
        if key == SURER:
            return QColor(self._options.theme.accent)
        tone = COLUMN_BY_ID[key].tone(record, self.grid.context)
        colour = {
            Tone.GOOD: self._options.theme.good,
            Tone.WARN: self._options.theme.warn,
            Tone.BAD: self._options.theme.bad,
        }.get(tone)
        return None if colour is None else QColor(colour)


class MatrixModel(GridModel):
    """A row a target, a column a model, in colours of the theme.

    Args:
        options: the theme.
        parent: owner.
    """

    def __init__(self, options: ViewOptions, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._options = options
        options.theme_changed.connect(self.colour_again)

    def pair_at(self, index: Index) -> tuple[int, int] | None:
        """Return model and target of a cell, None for a cell of words."""
        if not index.isValid() or not isinstance(self.grid, MatrixGrid):
            return None
        model = self.grid.model_of(index.column())
        return None if model is None else (model, self.grid.source(index.row()))

    def fill(self, index: Index) -> QColor | None:
        """Return the colour of a cell's background, None for that of any cell."""
        pair = self.pair_at(index)
        if pair is None or not isinstance(self.grid, MatrixGrid):
            return None
        heat, theme = float(self.grid.heat[pair]), self._options.theme
        if math.isnan(heat):
            return None
        if self.grid.value is CellValue.LATENCY:
            return _on_scale(theme.heat, heat)
        strongest = theme.good if heat > 0 else theme.bad
        return _on_scale((theme.surface, strongest), _PALE * abs(heat))

    def colour(self, row: int, column: int) -> QColor | None:
        """Return black or white, whichever the cell's background shows better."""
        fill = self.fill(self.index(row, column))
        if fill is None:
            return None
        return QColor("black" if _luminance(fill) > _EQUAL_CONTRAST else "white")

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's number, or its details."""
        pair = self.pair_at(index)
        if role == Qt.ItemDataRole.ToolTipRole and pair and isinstance(self.grid, MatrixGrid):
            return cell_details(self.grid.matrix, *pair, self.grid.unit)
        return super().data(index, role)


_PALE = 0.6  # of a colour's way from the surface: text stays readable


def _on_scale(colours: Sequence[str], place: float) -> QColor:
    """Return the colour at a place, 0 to 1, of a scale between colours."""
    below = min(int(place * (len(colours) - 1)), len(colours) - 2)
    part = place * (len(colours) - 1) - below
    low, high = QColor(colours[below]), QColor(colours[below + 1])
    ends = ((low.redF(), high.redF()), (low.greenF(), high.greenF()), (low.blueF(), high.blueF()))
    red, green, blue = ((1 - part) * low_part + part * high_part for low_part, high_part in ends)
    return QColor.fromRgbF(red, green, blue)


# Luminance on which black and white have the same contrast, 4.6: sqrt(1.05 * 0.05) - 0.05.
_EQUAL_CONTRAST = 0.179


def _luminance(colour: QColor) -> float:
    """Return the relative luminance of a colour, 0 to 1 (WCAG 2.2)."""
    channels = (colour.redF(), colour.greenF(), colour.blueF())
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
