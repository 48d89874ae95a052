"""Kinds of cores of a processor (big.LITTLE), the fastest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from ctm_gui.views.fields import FormLineEdit
from ctm_gui.views.metric_field import note_label, show_note
from ctm_gui.views.parts import bare_column
from predictor.services.devices.form import CLUSTERS, ClusterFields

# Field, title, width.
_CELLS = (
    ("name", "Core", 180),
    ("cores", "Cores", 70),
    ("clock_mhz", "Clock, MHz", 96),
    ("fp32_au_per_core", "FP32 FMA lanes", 110),
)


class ClustersEditor(QWidget):
    """A row of fields for each kind of core.

    Signals:
        edited: the rows, and the cell that was typed into (empty for a row added or removed).
    """

    edited = Signal(object, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[ClusterFields, ...] = ()
        self.cells: list[dict[str, FormLineEdit]] = []
        self._editable = True
        self._shown_editable: bool | None = None
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._body = QWidget()
        self._body.setLayout(self._grid)
        self.add_button = QPushButton("Add a kind of core")
        self.add_button.clicked.connect(lambda: self._emit((*self._rows, ClusterFields()), ""))
        self.problem = note_label("bad")
        self.warning = note_label("warn")
        layout = bare_column(self)
        for widget in (self._body, self.problem, self.warning):
            layout.addWidget(widget)
        layout.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)

    def show_clusters(self, rows: tuple[ClusterFields, ...], *, editable: bool) -> None:
        """Show the rows; the fields stay while their number is the same."""
        self._rows = rows
        if len(rows) != len(self.cells) or editable is not self._shown_editable:
            self._shown_editable = editable
            self._rebuild(len(rows), editable=editable)
        for row, cells in zip(rows, self.cells, strict=True):
            for name, _title, _width in _CELLS:
                cells[name].show_text(getattr(row, name))
        self.add_button.setVisible(editable)

    def show_notes(self, problems: Mapping[str, str], warnings: Sequence[str]) -> None:
        """Show the problems whose key is of the clusters, and what contradicts them."""
        lines = []
        for key, sentence in problems.items():
            parts = key.split(".")
            if parts[0] == CLUSTERS:
                lines.append(f"Row {int(parts[1]) + 1}: {sentence}" if len(parts) > 1 else sentence)
        show_note(self.problem, lines)
        show_note(self.warning, warnings)

    def _rebuild(self, count: int, *, editable: bool) -> None:
        while item := self._grid.takeAt(0):
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self.cells = []
        for column, (_name, title, _width) in enumerate(_CELLS):
            if count:
                label = QLabel(title)
                label.setProperty("role", "muted")
                self._grid.addWidget(label, 0, column)
        for row in range(count):
            self._add_row(row, editable=editable)
        self._grid.setColumnStretch(len(_CELLS) + 1, 1)
        self._body.setVisible(bool(count))

    def _add_row(self, row: int, *, editable: bool) -> None:
        cells = {}
        for column, (name, title, width) in enumerate(_CELLS):
            cell = FormLineEdit()
            cell.setFixedWidth(width)
            cell.setReadOnly(not editable)
            cell.setAccessibleName(f"{title} of row {row + 1}")
            cell.setAcceptDrops(False)
            cell.textEdited.connect(
                lambda text, row=row, name=name: self._on_edited(row, name, text)
            )
            self._grid.addWidget(cell, row + 1, column)
            cells[name] = cell
        self.cells.append(cells)
        if editable:
            remove = QPushButton("Remove")
            remove.setAccessibleName(f"Remove row {row + 1}")
            remove.clicked.connect(lambda _=False, row=row: self._remove(row))
            self._grid.addWidget(remove, row + 1, len(_CELLS))

    def _on_edited(self, row: int, name: str, text: str) -> None:
        rows = list(self._rows)
        rows[row] = replace(rows[row], **{name: text})
        self._emit(tuple(rows), f"{row}.{name}")

    def _remove(self, row: int) -> None:
        self._emit((*self._rows[:row], *self._rows[row + 1 :]), "")

    def _emit(self, rows: tuple[ClusterFields, ...], cell: str) -> None:
        self.edited.emit(rows, cell)
