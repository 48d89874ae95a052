"""The dialog of conflicts between a project file and the store."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from ctm_gui.history.projects import OpenedProject
from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import STRETCH, button, combo_box, hbox, label, vbox
from predictor.presentation.wording import shown
from predictor.services.project.conflicts import Choice, Conflict, Subject, always

_WORDS = {
    Choice.KEEP: "Keep mine",
    Choice.TAKE: "Take theirs",
    Choice.BOTH: "Keep both",
}
_JOIN_MARKS = "Join both"
_SIZE_PX = (900, 420)
_TITLES = ("What", "Which", "Mine", "Theirs", "Do")
_ANSWER = len(_TITLES) - 1


class ConflictsDialog(BaseDialog):
    """Lists every conflict with a box of choices; the store's version is kept by default.

    Signals:
        answered: the user has chosen: a dict from Conflict to Choice.
    """

    answered = Signal(object)

    def __init__(self, opened: OpenedProject, parent: QWidget | None = None) -> None:
        super().__init__("Conflicts", parent, _SIZE_PX)
        self._conflicts = opened.plan.conflicts
        self.heading = label(
            f"Things in which {shown(Path(opened.path).name)} and this store differ: "
            f"{len(self._conflicts)}. Everything else is new or the same. Nothing is "
            "written before you choose."
        )
        self.boxes: list[QComboBox] = []
        self.table = self._make_table()
        self.all_buttons = {
            choice: button(f"{_WORDS[choice]}: all", act=partial(self.choose_all, choice))
            for choice in Choice
        }
        self.buttons = self.make_buttons("Import")
        foot = hbox(*self.all_buttons.values(), STRETCH, self.buttons)
        vbox(self.heading, (self.table, 1), foot, of=self)

    def choose_all(self, choice: Choice) -> None:
        """Answer every conflict alike, as far as that makes sense."""
        answer = always(choice)
        for conflict, box in zip(self._conflicts, self.boxes, strict=True):
            box.setCurrentIndex(conflict.choices.index(answer(conflict) or Choice.KEEP))

    def accept(self) -> None:
        """Emit the answers and close."""
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
            words = (conflict.subject.value, conflict.name, conflict.local, conflict.incoming)
            for column, text in enumerate(words):
                item = QTableWidgetItem(shown(text))
                item.setToolTip(shown(text))
                table.setItem(row, column, item)
            self.boxes.append(_answer_box(conflict))
            table.setCellWidget(row, _ANSWER, self.boxes[-1])
        table.resizeColumnsToContents()
        table.resizeRowsToContents()
        return table


def _answer_box(conflict: Conflict) -> QComboBox:
    box = combo_box(f"What to do about {conflict.subject} {shown(conflict.name)}")
    for choice in conflict.choices:
        joins = conflict.subject is Subject.MARKS and choice is Choice.BOTH
        box.addItem(_JOIN_MARKS if joins else _WORDS[choice])
    return box
