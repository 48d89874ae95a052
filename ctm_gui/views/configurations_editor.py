"""What a device can run: runtimes and precisions, the usual one first."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QListWidget,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.views.metric_field import note_label, show_note
from ctm_gui.views.parts import bare_column, push_button
from ctm_gui.views.what_if_bar import PRECISION_NAMES
from predictor.core.records import Configuration, Precision
from predictor.core.runtimes import RUNTIMES
from predictor.core.wording import configuration_text

_MAX_THREADS = 1024
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
        self.runtime = _combo("Runtime", sorted(RUNTIMES))
        self.precision = _combo("Precision", [PRECISION_NAMES[p] for p in Precision])
        self.threads = QSpinBox(minimum=0, maximum=_MAX_THREADS)
        self.threads.setSpecialValueText("all threads")
        self.threads.setAccessibleName("Threads")
        self.add_button = QPushButton("Add")
        self.add_button.setAccessibleName("Add configuration")
        self.first_button = push_button("Make usual", "Predictions use the first configuration")
        self.remove_button = QPushButton("Remove")
        self.remove_button.setAccessibleName("Remove configuration")
        self.problem = note_label("bad")
        self._arrange()
        self.add_button.clicked.connect(self._add)
        self.first_button.clicked.connect(self._make_first)
        self.remove_button.clicked.connect(self._remove)
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
        """Show what is wrong with the list."""
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
        top, below, beside = QHBoxLayout(), QHBoxLayout(), QVBoxLayout()
        beside.addWidget(self.first_button)
        beside.addWidget(self.remove_button)
        beside.addStretch(1)
        top.addWidget(self.list, 1)
        top.addLayout(beside)
        for widget in (self.runtime, self.precision, self.threads, self.add_button):
            below.addWidget(widget)
        below.addStretch(1)
        layout = bare_column(self)
        layout.addLayout(top)
        layout.addLayout(below)
        layout.addWidget(self.problem)

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


def _combo(name: str, texts: list[str]) -> QComboBox:
    box = QComboBox()
    box.addItems(texts)
    box.setAccessibleName(name)
    return box
