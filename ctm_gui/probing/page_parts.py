"""Parts that the pages share: their margins, labels as high as their text, tables."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.widgets import basic
from ctm_gui.widgets.basic import Margins, Part, vbox
from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.table_view import GridView

MARGIN_PX = 12


def label(text: str = "", role: str = "", name: str = "") -> QLabel:
    """Return a label that wraps and takes no more room than its text."""
    made = basic.label(text, role, name)
    made.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return made


def show_words(words: QLabel, text: str, role: str = "") -> None:
    """Show a text in the colour of a role; an empty one takes no room."""
    if words.property("role") != role:
        words.setProperty("role", role)
        words.style().polish(words)
    words.setText(text)
    words.setVisible(bool(text))


def button(text: str, tip: str = "", act: Callable[[], object] | None = None) -> QPushButton:
    """Return a button that the Enter key does not press from elsewhere."""
    made = basic.button(text, tip, act)
    made.setAutoDefault(False)
    return made


def column(
    parent: QWidget, *parts: Part, margins: Margins = MARGIN_PX, spacing: int = 8
) -> QVBoxLayout:
    """Put parts below one another into a widget, with the margins of a page."""
    return vbox(*parts, of=parent, margins=margins, spacing=spacing)


def box(*parts: Part, margins: Margins = 0, spacing: int = 8) -> QWidget:
    """Return a widget with parts below one another."""
    made = QWidget()
    column(made, *parts, margins=margins, spacing=spacing)
    return made


class Table(GridView):
    """A table that fits its columns to each grid.

    Args:
        name: for screen readers.
        several: whether more than one row can be selected.
    """

    def __init__(self, name: str, *, several: bool = False) -> None:
        super().__init__(GridModel(), name)
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if several else mode.SingleSelection)

    def show_grid(self, grid: Grid) -> None:
        """Show other rows; order and selected places stay."""
        super().show_grid(grid)
        self.fit_columns()
