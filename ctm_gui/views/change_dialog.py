"""The window of predictions then and now."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from ctm_gui.models.grid_model import GridModel
from ctm_gui.presenters.past_grid import ChangeGrid
from ctm_gui.presenters.past_rows import PastRow
from ctm_gui.presenters.past_wording import change_summary
from ctm_gui.views.tables import GridView, copy_button
from predictor.core.units import LatencyUnit
from predictor.services.history.changes import Change

_SIZE_PX = (1120, 360)
_LEAST_PX = {"model": 150, "device": 200, "why": 250}


class ChangeDialog(QDialog):
    """Shows what predicting again gave; it goes when it is closed."""

    def __init__(
        self,
        entries: tuple[Change, ...],
        rows: Sequence[PastRow],
        unit: LatencyUnit,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Then and now")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(*_SIZE_PX)
        self.heading = QLabel(change_summary(entries))
        self.heading.setProperty("role", "heading")
        self.heading.setWordWrap(True)
        self._model = GridModel(ChangeGrid(entries, rows, unit), self)
        self.table = GridView(self._model, "Then and now")
        for key, width_px in _LEAST_PX.items():
            self.table.set_least_width(key, width_px)
        self.table.fit_columns()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        foot = QHBoxLayout()
        foot.addWidget(copy_button(self.table))
        foot.addStretch(1)
        foot.addWidget(buttons)
        layout = QVBoxLayout(self)
        layout.addWidget(self.heading)
        layout.addWidget(self.table, 1)
        layout.addLayout(foot)
