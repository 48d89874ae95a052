"""Parts that the pages share: rows and columns of widgets, labels of plain text, tables."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.models.grid_model import GridModel
from ctm_gui.presenters.grid import Grid
from ctm_gui.views.tables import GridView

MARGIN_PX = 12

Margins = tuple[int, int, int, int]
PAGE: Margins = (MARGIN_PX,) * 4
NONE: Margins = (0,) * 4


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


def button(text: str, tip: str = "") -> QPushButton:
    """Return a button that the Enter key does not press from elsewhere."""
    made = QPushButton(text)
    made.setToolTip(tip)
    made.setAutoDefault(False)
    return made


def caption(text: str, buddy: QWidget) -> QLabel:
    """Return a label whose marked letter leads to a field."""
    made = QLabel(text)
    made.setBuddy(buddy)
    return made


Part = QWidget | QLayout | tuple[QWidget, int] | int
"""A widget, one that grows with a weight, a layout, or room that grows with a weight."""


def column(parent: QWidget, *parts: Part, margins: Margins = PAGE, spacing: int = 8) -> QVBoxLayout:
    """Put parts below one another.

    Args:
        parent: that they fill.
        parts: from the top.
        margins: left, top, right and bottom in px.
        spacing: in px.
    """
    made = QVBoxLayout(parent)
    made.setContentsMargins(*margins)
    made.setSpacing(spacing)
    _fill(made, parts)
    return made


def row(*parts: Part) -> QHBoxLayout:
    """Return parts beside one another."""
    made = QHBoxLayout()
    _fill(made, parts)
    return made


def box(*parts: Part, margins: Margins = NONE, spacing: int = 8) -> QWidget:
    """Return a widget with parts below one another."""
    made = QWidget()
    column(made, *parts, margins=margins, spacing=spacing)
    return made


def splitter(*parts: QWidget, sizes: Sequence[int]) -> QSplitter:
    """Return parts below one another whose heights, in px at first, the user changes."""
    made = QSplitter(Qt.Orientation.Vertical)
    made.setChildrenCollapsible(False)
    for part in parts:
        made.addWidget(part)
    made.setSizes(list(sizes))
    return made


def _fill(layout: QBoxLayout, parts: Sequence[Part]) -> None:
    for part in parts:
        if isinstance(part, int):
            layout.addStretch(part)
        elif isinstance(part, QLayout):
            layout.addLayout(part)
        elif isinstance(part, tuple):
            layout.addWidget(*part)
        else:
            layout.addWidget(part)


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
