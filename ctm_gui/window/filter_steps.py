"""What is searched in the window's views, as steps of its undo stack."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from ctm_gui.undo import UndoStep
from ctm_gui.widgets.basic import SearchBox
from predictor.core.wording import shown


class FilterSteps(QObject):
    """Puts the words that are typed into any search box of a window on its undo stack.

    A box is followed from when it first has the focus: views are made one by one, after the window.

    Args:
        window: has the boxes; they live as long as it does.
        stack: of the window.
    """

    def __init__(self, window: QMainWindow, stack: QUndoStack) -> None:
        super().__init__(window)
        self._window, self._stack = window, stack
        self._boxes: set[SearchBox] = set()
        QApplication.instance().focusChanged.connect(self._follow)  # type: ignore[union-attr]

    def _follow(self, _: QWidget | None, box: QWidget | None) -> None:
        is_new = isinstance(box, SearchBox) and box not in self._boxes
        if isinstance(box, SearchBox) and is_new and self._window.isAncestorOf(box):
            self._boxes.add(box)
            box.words_typed.connect(partial(self._push, box))

    def _push(self, box: SearchBox, before: str, words: str) -> None:
        what = box.accessibleName()
        text = f"{what}: {shown(words)}" if words else f"Clear {what}"
        change, back = partial(box.show_text, words), partial(box.show_text, before)
        self._stack.push(UndoStep(text, change, back, what if words else ""))
