"""Lists of a device's form: its configurations, and rows of fields for its other lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QListWidget, QSizePolicy, QWidget

from ctm_gui.devices.form import DeviceForm, ListRow
from ctm_gui.widgets.basic import (
    STRETCH,
    button,
    combo_box,
    explain_items,
    hbox,
    label,
    note_label,
    show_note,
    tool_button,
    vbox,
)
from ctm_gui.widgets.fields import MAX_THREADS, ChoiceLineEdit, FormLineEdit, NumberBox
from ctm_gui.widgets.tooltips import as_tooltip
from predictor.core.metrics import MEASURABLE
from predictor.core.records import Configuration, Precision
from predictor.core.runtimes import RUNTIMES
from predictor.devices.consistency import CLUSTERS, MEASURED, OPERATING_POINTS
from predictor.devices.form import ClusterFields, MeasuredFields, PointFields
from predictor.presentation.wording import configuration_text
from predictor.services.devices.design import instruction_sets_of

_LIST_PX = 104


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
        self.precision = combo_box("Precision", [precision.words for precision in Precision])
        explain_items(self.precision, [precision.explanation for precision in Precision])
        self.threads = NumberBox(maximum=MAX_THREADS, accessibleName="Threads")
        self.threads.setSpecialValueText("all threads")
        self.add_button = button("Add", act=self._add, name="Add configuration")
        self.first_button = button(
            "Make default", "Predictions use the first configuration", self._make_first
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
                self.list.addItem(f"{text}  (default)" if number == 0 else text)
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
        buttons = vbox(self.first_button, self.remove_button, STRETCH)
        new = hbox(self.runtime, self.precision, self.threads, self.add_button, STRETCH)
        vbox(hbox((self.list, 1), buttons), new, self.problem, of=self, margins=0)
        # Else a tall form tears the list from its buttons.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CellKind:
    """A column of a list.

    Attributes:
        key: name of the rows' field that it shows.
        title: header.
        width: in pixels; 0 for the room that is left.
        choices: words by value, where it is one of a few.
        offered: titles by id, where ids are typed.
        hint: placeholder of an empty cell in a row.
        said: its text in a row, where it cannot be edited.
    """

    key: str
    title: str
    width: int = 0
    choices: Mapping[str, str] = field(default_factory=dict)
    offered: Mapping[str, str] = field(default_factory=dict)
    hint: Callable[[Any], str] | None = None
    said: Callable[[Any], str] | None = None


class RowsEditor(QWidget):
    """A row of fields for each entry of a list.

    Args:
        key: name of the list; its problems have keys that begin with it.
        cells: its columns.
        new_row: a row that is added.
        add_text: words of the button that adds one.
        parent: owner.

    Signals:
        edited: the rows, and the cell that was typed into (empty for another kind of change).
    """

    edited = Signal(object, str)

    def __init__(
        self,
        key: str,
        cells: Sequence[CellKind],
        new_row: ListRow,
        add_text: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.key, self._kinds, self._new_row = key, tuple(cells), new_row
        self._rows: tuple[ListRow, ...] = ()
        self.cells: list[dict[str, QWidget]] = []
        self._is_editable: bool | None = None
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._body = QWidget()
        self._body.setLayout(self._grid)
        self.add_button = button(add_text, act=self._add)
        self.problem = note_label("bad")
        self.warning = note_label("warn")
        layout = vbox(self._body, self.problem, self.warning, of=self, margins=0)
        layout.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)

    def show_rows(self, rows: tuple[ListRow, ...], *, editable: bool) -> None:
        """Show the rows; the fields stay while their number is the same."""
        self._rows = rows
        if len(rows) != len(self.cells) or editable is not self._is_editable:
            self._is_editable = editable
            self._rebuild(len(rows), editable=editable)
        for row, cells in zip(rows, self.cells, strict=True):
            for kind in self._kinds:
                _show_cell(cells[kind.key], kind, row)
        self.add_button.setVisible(editable)

    def show_notes(self, problems: Mapping[str, str], warnings: Sequence[str]) -> None:
        """Show problems and contradictions of the list."""
        lines = []
        for key, sentence in problems.items():
            parts = key.split(".")
            if parts[0] == self.key:
                lines.append(f"Row {int(parts[1]) + 1}: {sentence}" if len(parts) > 1 else sentence)
        show_note(self.problem, lines)
        show_note(self.warning, warnings)

    def _rebuild(self, count: int, *, editable: bool) -> None:
        while item := self._grid.takeAt(0):
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self.cells = []
        for column, kind in enumerate(self._kinds):
            if count:
                self._grid.addWidget(label(kind.title, "muted", wraps=False), 0, column)
            self._grid.setColumnStretch(column, 0 if kind.width else 1)
        for row in range(count):
            self._add_row(row, editable=editable)
        if all(kind.width for kind in self._kinds):
            self._grid.setColumnStretch(len(self._kinds) + 1, 1)
        self._body.setVisible(bool(count))

    def _add_row(self, row: int, *, editable: bool) -> None:
        cells = {}
        for column, kind in enumerate(self._kinds):
            cell = self._new_cell(kind, row, editable=editable)
            if kind.width:
                cell.setFixedWidth(kind.width)
            cell.setAccessibleName(f"{kind.title} of row {row + 1}")
            self._grid.addWidget(cell, row + 1, column)
            cells[kind.key] = cell
        self.cells.append(cells)
        if editable:
            remove = tool_button("×", "Remove this row", f"Remove row {row + 1}")
            remove.clicked.connect(lambda: self._remove(row))
            self._grid.addWidget(remove, row + 1, len(self._kinds))

    def _new_cell(self, kind: CellKind, row: int, *, editable: bool) -> QWidget:
        if kind.said is not None:
            return label(wraps=False)
        if kind.choices:
            box = combo_box("", kind.choices.values())
            box.setEnabled(editable)
            values = list(kind.choices)
            box.activated.connect(lambda at: self._on_edited(row, kind.key, values[at], ""))
            return box
        line = ChoiceLineEdit()
        if kind.offered:
            line.offer(kind.offered)
        line.setReadOnly(not editable)
        line.setAcceptDrops(False)
        typed = f"{row}.{kind.key}"
        line.textEdited.connect(lambda text: self._on_edited(row, kind.key, text, typed))
        return line

    def _on_edited(self, row: int, name: str, text: str, typed: str) -> None:
        rows = list(self._rows)
        rows[row] = replace(rows[row], **{name: text})  # type: ignore[arg-type]
        self.edited.emit(tuple(rows), typed)

    def _add(self) -> None:
        self.edited.emit((*self._rows, self._new_row), "")

    def _remove(self, row: int) -> None:
        self.edited.emit((*self._rows[:row], *self._rows[row + 1 :]), "")


def _show_cell(cell: QWidget, kind: CellKind, row: ListRow) -> None:
    if isinstance(cell, QLabel) and kind.said is not None:
        cell.setText(kind.said(row))
        return
    text: str = getattr(row, kind.key)
    if isinstance(cell, QComboBox):
        cell.setCurrentIndex(list(kind.choices).index(text))
    elif isinstance(cell, FormLineEdit):
        cell.show_text(text)
        hint = "" if kind.hint is None else kind.hint(row)
        cell.setPlaceholderText(hint)
        cell.setToolTip(as_tooltip(kind.offered.get(text, "") or text or hint))


def list_editors(
    form: DeviceForm, titles: Mapping[str, str], parent: QWidget | None
) -> Iterator[RowsEditor]:
    """Yield the lists below the metrics of a form.

    Args:
        form: gives the stated values beside the measured ones.
        titles: of the architectures, by id.
        parent: owner.
    """
    yield RowsEditor(
        CLUSTERS,
        (
            CellKind(key="name", title="Core", width=104),
            CellKind(key="cores", title="Cores", width=42),
            CellKind(key="clock_mhz", title="Clock, MHz", width=72),
            CellKind(key="fp32_au_per_core", title="FP32 lanes", width=72),
            CellKind(key="architecture", title="Architecture", width=110, offered=titles),
            CellKind(
                key="instruction_sets",
                title="Instructions",
                hint=lambda row: implied_sets(row.architecture),
            ),
        ),
        ClusterFields(),
        "Add a kind of core",
        parent,
    )
    rates = {metric.name: f"{metric.label}, {metric.unit}" for metric in MEASURABLE.values()}
    yield RowsEditor(
        MEASURED,
        (
            CellKind(key="metric", title="Rate", width=176, choices=rates),
            CellKind(key="value", title="Measured", width=70),
            CellKind(
                key="stated",
                title="Stated",
                width=60,
                said=lambda row: form.stated_text(row.metric),
            ),
            CellKind(key="source", title="Source"),
        ),
        MeasuredFields(),
        "Add a measured rate",
        parent,
    )
    yield RowsEditor(
        OPERATING_POINTS,
        (
            CellKind(key="name", title="Name", width=92),
            CellKind(key="power_w", title="Power, W", width=56),
            CellKind(key="cpu_mhz", title="CPU MHz", width=56),
            CellKind(key="gpu_mhz", title="GPU MHz", width=56),
            CellKind(key="memory_mhz", title="Memory MHz", width=76),
            CellKind(key="cores", title="Cores", width=42),
            CellKind(key="gpu_cores", title="GPU cores", width=66),
            CellKind(key="source", title="Source"),
        ),
        PointFields(),
        "Add an operating point",
        parent,
    )


def implied_sets(architecture: str) -> str:
    """Write the instruction sets of an architecture; nothing where it is unknown."""
    return " ".join(instruction_sets_of(architecture))
