"""The window of predictions then and now."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from ctm_gui.models.grid_model import GridModel
from ctm_gui.presenters.past_rows import PastRow
from ctm_gui.presenters.past_tables import ChangeGrid, change_summary
from ctm_gui.views.tables import GridView, copy_button
from ctm_gui.views.widgets import STRETCH, hbox, label, vbox
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
        self.heading = label(change_summary(entries), "heading")
        self.table = GridView(GridModel(ChangeGrid(entries, rows, unit)), "Then and now", _LEAST_PX)
        self.table.fit_columns()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        foot = hbox(copy_button(self.table), STRETCH, buttons)
        vbox(self.heading, (self.table, 1), foot, of=self)
