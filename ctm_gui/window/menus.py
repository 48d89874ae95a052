"""The menu bar from the table of actions, Open Recent, and the texts of Undo and Redo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QUndoGroup
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from ctm_gui import settings as table
from ctm_gui.settings import Settings
from ctm_gui.widgets.theme import ThemeChoice
from ctm_gui.window.actions import MENUS, ActionSpec
from predictor.core.text import shortened

_PATH_CHARACTERS = 80


def fill_menus(
    bar: QMenuBar,
    specs: Sequence[ActionSpec],
    actions: Mapping[str, QAction],
    recent: QMenu,
    theme: ThemeChoice,
) -> None:
    """Add the menus of the table, with Open Recent below Open Folder.

    Args:
        bar: gets the menus.
        specs: rows of the actions, in their order.
        actions: by id.
        recent: the Open Recent menu.
        theme: the checked one.
    """
    themes = QActionGroup(bar)
    for title in MENUS:
        menu = bar.addMenu(title)
        group: str | None = None
        for spec in (spec for spec in specs if spec.menu == title):
            if group not in {None, spec.group}:
                menu.addSeparator()
            group = spec.group
            menu.addAction(actions[spec.id])
            if spec.group == "theme":
                themes.addAction(actions[spec.id])
            if spec.id == "open_folder":
                menu.addMenu(recent)
    actions[f"theme_{theme.value}"].setChecked(True)


class RecentMenu(QMenu):
    """Filled from the settings each time it opens; ``path_chosen`` gives a file."""

    path_chosen = Signal(str)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__("Open &Recent", parent)
        self._settings = settings
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        recent = self._settings.get(table.RECENT)
        for path in recent:
            # An ampersand would mark the next letter as the entry's key.
            action = self.addAction(shortened(path, _PATH_CHARACTERS).replace("&", "&&"))
            action.triggered.connect(lambda _, path=path: self.path_chosen.emit(path))
        if recent:
            self.addSeparator()
            self.addAction("Clear List").triggered.connect(
                lambda: self._settings.set(table.RECENT, [])
            )
        else:
            self.addAction("No file yet").setEnabled(False)


class StepText(QObject):
    """Keeps the text of an action true to the next step of a stack.

    An object that the action owns, so that its connection to the stack, which may outlive the
    window, ends with the action.
    """

    def __init__(self, action: QAction) -> None:
        super().__init__(action)
        self._action, self._verb = action, action.text()

    def show(self, step: str) -> None:
        """Name the step after the verb."""
        # An ampersand in a file's name would mark the next letter as the entry's key.
        self._action.setText(f"{self._verb} {step.replace('&', '&&')}".strip())


def follow_undo(stack: QUndoGroup, undo: QAction, redo: QAction) -> None:
    """Keep text and state of both actions true to the active stack of a group."""
    stack.canUndoChanged.connect(undo.setEnabled)
    stack.canRedoChanged.connect(redo.setEnabled)
    undo.setEnabled(stack.canUndo())
    redo.setEnabled(stack.canRedo())
    stack.undoTextChanged.connect(StepText(undo).show)
    stack.redoTextChanged.connect(StepText(redo).show)
