"""What the user filters in the window's views, as steps of its undo stack."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QMainWindow, QWidget

from ctm_gui.undo import UndoStep
from ctm_gui.widgets.basic import SearchBox, is_filter
from predictor.presentation.wording import shown


class FilterSteps(QObject):
    """Puts what is typed, ticked or chosen in the filters of a window on its undo stack.

    A filter is followed from when it first has the focus: views are made one by one, after the
    window.

    Args:
        window: has the filters; they live as long as it does.
        stack: of the window.
    """

    def __init__(self, window: QMainWindow, stack: QUndoStack) -> None:
        super().__init__(window)
        self._window, self._stack = window, stack
        self._followed: set[QWidget] = set()
        self._indices: dict[QComboBox, int] = {}
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def follow(self, part: QWidget) -> None:
        """Follow a filter; a search box is one."""
        if part in self._followed:
            return
        self._followed.add(part)
        if isinstance(part, SearchBox):
            part.words_typed.connect(partial(self._push_words, part))
        elif isinstance(part, QAbstractButton):
            part.clicked.connect(lambda checked: self._push_tick(part, checked=checked))
        elif isinstance(part, QComboBox):
            self._indices[part] = part.currentIndex()
            part.activated.connect(partial(self._push_choice, part))

    def _on_focus(self, _: QWidget | None, part: QWidget | None) -> None:
        if part is not None and is_filter(part) and self._window.isAncestorOf(part):
            self.follow(part)

    def _push_words(self, box: SearchBox, before: str, words: str) -> None:
        what = box.accessibleName()
        text = f"{what}: {shown(words)}" if words else f"Clear {what}"
        change, back = partial(box.show_text, words), partial(box.show_text, before)
        self._stack.push(UndoStep(text, change, back, what if words else ""))

    def _push_tick(self, box: QAbstractButton, *, checked: bool) -> None:
        words = f"{'Tick' if checked else 'Untick'} {box.text().replace('&', '')}"
        change, back = (partial(box.setChecked, state) for state in (checked, not checked))
        self._stack.push(UndoStep(words, change, back))

    def _push_choice(self, box: QComboBox, index: int) -> None:
        before, self._indices[box] = self._indices[box], index
        if before == index:
            return
        words = f"{box.accessibleName()}: {shown(box.itemText(index))}"
        change, back = (partial(self._choose, box, place) for place in (index, before))
        self._stack.push(UndoStep(words, change, back))

    def _choose(self, box: QComboBox, index: int) -> None:
        self._indices[box] = index
        if box.currentIndex() != index:
            box.setCurrentIndex(index)
            box.activated.emit(index)  # views follow what the user chooses alone
