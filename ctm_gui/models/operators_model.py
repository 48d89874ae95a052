"""The operator table as a Qt model."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt

from ctm_gui.models.grid_model import GridModel, Index
from ctm_gui.presenters.grid import Grid
from ctm_gui.presenters.operators_grid import SHARE, OperatorsGrid

# How much of its cell a share's bar fills, 0 to 1.
BAR_ROLE = int(Qt.ItemDataRole.UserRole) + 1


class OperatorsModel(GridModel):
    """Operators of one model on one target; the share column tells how long its bar is."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(Grid(0, ()), parent)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a cell's text, or the length of its bar."""
        if role == BAR_ROLE and index.isValid():
            return self._bar(index)
        return super().data(index, role)

    def _bar(self, index: Index) -> float | None:
        grid = self.grid
        if not isinstance(grid, OperatorsGrid) or grid.columns[index.column()].key != SHARE:
            return None
        share = float(grid.table.share[grid.source(index.row())])
        return share / grid.largest_share if grid.largest_share > 0 and np.isfinite(share) else 0.0
