"""A table with its search box, its number of matches, its copies and its empty state."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette

from ctm_gui.widgets.basic import SearchBox, label
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.table_view import GridView, copy_button

# Names of operators are paths: see ctm_gui.widgets.elision for what is left out of them.
PATH_ELIDE = Qt.TextElideMode.ElideLeft
PATH_PX = 220
NO_MATCH = "No row passes the filter."


class FilteredTable(GridView):
    """A table whose rows are those that hold the words of its search box.

    A view lays out ``search_box``, ``matches`` and ``copy_button``; one with further filters sets
    ``mask_of`` and reads ``words``.

    Args:
        model: its grid has the rows.
        name: for screen readers.
        hint: the facts that a search reads, shown in the empty box.
        min_width_px: width under which a column of wider texts is never fitted, by its key.
    """

    def __init__(
        self,
        model: GridModel,
        name: str,
        hint: str = "Search name or type (Ctrl+F)",
        min_width_px: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(model, name, min_width_px)
        self.search_box = SearchBox(hint, f"Search {name[0].lower()}{name[1:]}")
        self.matches = label(role="muted", wraps=False)
        self.copy_button = copy_button(self)
        self.mask_of = lambda grid: grid.search(self.words)
        self.search_box.textChanged.connect(self.filter)
        self.search_box.returnPressed.connect(self.setFocus)
        model.modelReset.connect(self._count)

    @property
    def words(self) -> str:
        """The words that are searched."""
        return str(self.search_box.text())

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        self.search_box.focus()

    def _count(self) -> None:
        visible, count = self.grid_model.grid.counts
        self.matches.setText("" if visible == count else f"{visible} of {count}")

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows, or why there are none."""
        super().paintEvent(event)
        if self.grid_model.grid.count and not self.grid_model.rowCount():
            painter = QPainter(self.viewport())
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, NO_MATCH)
