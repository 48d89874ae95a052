"""The dialog that shows what a project and the store say differently, and asks what to do."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ctm_gui.presenters.projects import OpenedProject
from predictor.core.wording import shown
from predictor.services.project.imports import Choice, Conflict, Subject, always

_WORDS = {
    Choice.KEEP: "Keep mine",
    Choice.TAKE: "Take theirs",
    Choice.BOTH: "Keep both",
}
_MARKS_BOTH = "Join both"
_SIZE_PX = (900, 420)
_TITLES = ("What", "Which", "Mine", "Theirs", "Do")
_ANSWER = len(_TITLES) - 1


class ConflictsDialog(QDialog):
    """Lists every conflict with a box of what can be done; mine is kept unless something is chosen.

    Signals:
        answered: the user has chosen: a dict from Conflict to Choice.
    """

    answered = Signal(object)

    def __init__(self, opened: OpenedProject, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._conflicts = opened.plan.conflicts
        self.setWindowTitle("Conflicts")
        self.resize(*_SIZE_PX)
        self.heading = QLabel(
            f"Things in which {shown(Path(opened.path).name)} and this store differ: "
            f"{len(self._conflicts)}. Everything else is new or the same. Nothing is "
            "written before you choose."
        )
        self.heading.setWordWrap(True)
        self.boxes: list[QComboBox] = []
        self.table = self._make_table()
        self.all_buttons = {choice: QPushButton(f"{_WORDS[choice]}: all") for choice in Choice}
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        self.buttons.button(kinds.Ok).setText("Import")
        self._arrange()
        for choice, button in self.all_buttons.items():
            button.clicked.connect(lambda _=False, chosen=choice: self.choose_all(chosen))
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    def choose_all(self, choice: Choice) -> None:
        """Answer every conflict alike, as far as that makes sense."""
        answer = always(choice)
        for conflict, box in zip(self._conflicts, self.boxes, strict=True):
            box.setCurrentIndex(conflict.choices.index(answer(conflict) or Choice.KEEP))

    def accept(self) -> None:
        """Tell the answers."""
        self.answered.emit(
            {
                conflict: conflict.choices[box.currentIndex()]
                for conflict, box in zip(self._conflicts, self.boxes, strict=True)
            }
        )
        super().accept()

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(len(self._conflicts), len(_TITLES))
        table.setHorizontalHeaderLabels(_TITLES)
        table.setAccessibleName("Conflicts")
        table.verticalHeader().hide()
        table.horizontalHeader().setStretchLastSection(True)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        for row, conflict in enumerate(self._conflicts):
            words = (conflict.subject.value, conflict.name, conflict.mine, conflict.theirs)
            for column, text in enumerate(words):
                item = QTableWidgetItem(shown(text))
                item.setToolTip(shown(text))
                table.setItem(row, column, item)
            self.boxes.append(_answer_box(conflict))
            table.setCellWidget(row, _ANSWER, self.boxes[-1])
        table.resizeColumnsToContents()
        table.resizeRowsToContents()
        return table

    def _arrange(self) -> None:
        row = QHBoxLayout()
        for button in self.all_buttons.values():
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.buttons)
        layout = QVBoxLayout(self)
        layout.addWidget(self.heading)
        layout.addWidget(self.table, 1)
        layout.addLayout(row)


def _answer_box(conflict: Conflict) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(f"What to do about {conflict.subject} {shown(conflict.name)}")
    for choice in conflict.choices:
        joins = conflict.subject is Subject.MARKS and choice is Choice.BOTH
        box.addItem(_MARKS_BOTH if joins else _WORDS[choice])
    return box
