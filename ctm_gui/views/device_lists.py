"""Lists of a device's form: the runtimes and precisions that it has, and its kinds of cores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QListWidget, QSpinBox, QWidget

from ctm_gui.views.fields import FormLineEdit
from ctm_gui.views.what_if_bar import MAX_THREADS, PRECISION_NAMES
from ctm_gui.views.widgets import (
    STRETCH,
    button,
    combo_box,
    hbox,
    label,
    note_label,
    show_note,
    vbox,
)
from predictor.core.records import Configuration, Precision
from predictor.core.runtimes import RUNTIMES
from predictor.core.wording import configuration_text
from predictor.services.devices.form import CLUSTERS, ClusterFields

_LIST_PX = 104
# Field of a kind of core, title, width.
_CELLS = (
    ("name", "Core", 180),
    ("cores", "Cores", 70),
    ("clock_mhz", "Clock, MHz", 96),
    ("fp32_au_per_core", "FP32 FMA lanes", 110),
)


class ConfigurationsEditor(QWidget):
    """A list of configurations with controls to add, remove and put one first.

    ``edited`` gives the configurations after a change.
    """

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._configurations: tuple[Configuration, ...] = ()
        self.list = QListWidget()
        self.list.setAccessibleName("Configurations")
        self.list.setFixedHeight(_LIST_PX)
        self.runtime = combo_box("Runtime", sorted(RUNTIMES))
        self.precision = combo_box("Precision", [PRECISION_NAMES[p] for p in Precision])
        self.threads = QSpinBox(minimum=0, maximum=MAX_THREADS)
        self.threads.setSpecialValueText("all threads")
        self.threads.setAccessibleName("Threads")
        self.add_button = button("Add", act=self._add, name="Add configuration")
        self.first_button = button(
            "Make usual", "Predictions use the first configuration", self._make_first
        )
        self.remove_button = button("Remove", act=self._remove, name="Remove configuration")
        self.problem = note_label("bad")
        self._arrange()
        self.list.currentRowChanged.connect(self._follow_row)

    def show_configurations(
        self, configurations: tuple[Configuration, ...], *, editable: bool
    ) -> None:
        """Show the configurations; the first is marked as the usual one."""
        if configurations != self._configurations:
            row = self.list.currentRow()
            self._configurations = configurations
            self.list.clear()
            for number, configuration in enumerate(configurations):
                text = configuration_text(configuration)
                if configuration.runtime == "unknown":
                    text = f"runtime not known, {text}"
                self.list.addItem(f"{text}  (usual)" if number == 0 else text)
            self.list.setCurrentRow(min(row, len(configurations) - 1))
        for widget in self._controls:
            widget.setVisible(editable)
        self._follow_row(self.list.currentRow())

    def show_problem(self, problem: str) -> None:
        """Show the problem of the list."""
        show_note(self.problem, [problem] if problem else [])

    def _arrange(self) -> None:
        self._controls = (
            self.runtime,
            self.precision,
            self.threads,
            self.add_button,
            self.first_button,
            self.remove_button,
        )
        beside = vbox(self.first_button, self.remove_button, STRETCH)
        new = hbox(self.runtime, self.precision, self.threads, self.add_button, STRETCH)
        vbox(hbox((self.list, 1), beside), new, self.problem, of=self, margins=0)

    def _add(self) -> None:
        new = Configuration(
            self.runtime.currentText(),
            list(Precision)[self.precision.currentIndex()],
            self.threads.value(),
        )
        if new in self._configurations:
            self.show_problem("This runtime and precision is in the list already.")
        else:
            self.edited.emit((*self._configurations, new))

    def _make_first(self) -> None:
        chosen = self._configurations[self.list.currentRow()]
        self.edited.emit((chosen, *(c for c in self._configurations if c != chosen)))
        self.list.setCurrentRow(0)

    def _remove(self) -> None:
        row = self.list.currentRow()
        self.edited.emit((*self._configurations[:row], *self._configurations[row + 1 :]))

    def _follow_row(self, row: int) -> None:
        self.first_button.setEnabled(row > 0)
        self.remove_button.setEnabled(row >= 0 and len(self._configurations) > 1)


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
        self.add_button = button("Add a kind of core", act=self._add)
        self.problem = note_label("bad")
        self.warning = note_label("warn")
        layout = vbox(self._body, self.problem, self.warning, of=self, margins=0)
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
        """Show problems and contradictions of the clusters."""
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
                self._grid.addWidget(label(title, "muted", wraps=False), 0, column)
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
            cell.textEdited.connect(partial(self._on_edited, row, name))
            self._grid.addWidget(cell, row + 1, column)
            cells[name] = cell
        self.cells.append(cells)
        if editable:
            remove = button("Remove", act=lambda: self._remove(row), name=f"Remove row {row + 1}")
            self._grid.addWidget(remove, row + 1, len(_CELLS))

    def _on_edited(self, row: int, name: str, text: str) -> None:
        rows = list(self._rows)
        rows[row] = replace(rows[row], **{name: text})
        self.edited.emit(tuple(rows), f"{row}.{name}")

    def _add(self) -> None:
        self.edited.emit((*self._rows, ClusterFields()), "")

    def _remove(self, row: int) -> None:
        self.edited.emit((*self._rows[:row], *self._rows[row + 1 :]), "")
