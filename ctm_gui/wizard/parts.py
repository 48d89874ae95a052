"""What the pages share: labels of plain text, tables of one row each, headings."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QLabel, QSizePolicy, QVBoxLayout, QWidget

from ctm_gui.models.grid_model import GridModel
from ctm_gui.presenters.grid import Grid
from ctm_gui.views.tables import GridView

MARGIN_PX = 12


def label(text: str = "", role: str = "") -> QLabel:
    """Return a label that wraps and never reads its text as markup."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(True)
    made.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    if role:
        made.setProperty("role", role)
    return made


def show_words(words: QLabel, text: str, role: str = "") -> None:
    """Show a text in the colour of a role; an empty one takes no room."""
    if words.property("role") != role:
        words.setProperty("role", role)
        words.style().polish(words)
    words.setText(text)
    words.setVisible(bool(text))


def column(parent: QWidget | None = None) -> QVBoxLayout:
    """Return a column of widgets with the pages' margins."""
    made = QVBoxLayout(parent) if parent is not None else QVBoxLayout()
    made.setContentsMargins(MARGIN_PX, MARGIN_PX, MARGIN_PX, MARGIN_PX)
    made.setSpacing(8)
    return made


class Table(GridView):
    """A table whose rows are replaced as a whole; what was selected stays selected.

    Args:
        name: for screen readers.
        several: whether more than one row can be selected.
    """

    def __init__(self, name: str, *, several: bool = False) -> None:
        self.grid_model = GridModel(Grid(0, []))
        super().__init__(self.grid_model, name)
        self.grid_model.setParent(self)
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if several else mode.SingleSelection)

    def show_grid(self, grid: Grid) -> None:
        """Show other rows; order and selected places stay."""
        before = self.grid_model.grid
        rows: Sequence[int] = [int(row) for row in self.selected_rows() if row < grid.count]
        current = self.current_row()
        if len(before.columns) == len(grid.columns):
            grid.sort(before.sort_column, descending=before.descending)
        self.grid_model.replace(grid)
        self.fit_columns()
        if rows:
            self.select_rows(rows, current)
