"""Undo steps of the options and filters of views."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QMainWindow, QWidget

from ctm_gui import settings as table
from ctm_gui.settings import Settings
from ctm_gui.undo import push_change
from ctm_gui.widgets.basic import SearchBox, is_filter
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.session import remembered_unit
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import number, shown


class OptionSteps(QObject):
    """Writes another unit or budget into the settings, as a step that can be taken back.

    Args:
        options: followed; a step changes them.
        settings: with the values before the change; what they have already makes no step.
        stack: of the window.
        parent: owner.
    """

    def __init__(
        self, options: ViewOptions, settings: Settings, stack: QUndoStack, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._options, self._settings, self._stack = options, settings, stack
        options.unit_changed.connect(self._on_unit)
        options.budget_changed.connect(self._on_budget)

    def _on_unit(self) -> None:
        before, now = remembered_unit(self._settings), self._options.unit
        if now is not before:
            push_change(self._stack, f"Unit {now.value}", self._set_unit, now, before)

    def _set_unit(self, unit: LatencyUnit) -> None:
        self._settings.set(table.UNIT, unit.value)
        self._options.set_unit(unit)

    def _on_budget(self) -> None:
        before, now = self._settings.get(table.BUDGET_MS) or None, self._options.budget_ms
        if now != before:
            words = "No Budget" if now is None else f"Budget {number(now)} ms"
            push_change(self._stack, words, self._set_budget_ms, now, before, "budget")

    def _set_budget_ms(self, budget_ms: float | None) -> None:
        self._settings.set(table.BUDGET_MS, budget_ms or 0.0)
        self._options.set_budget_ms(budget_ms)


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
        push_change(self._stack, text, box.show_text, words, before, what if words else "")

    def _push_tick(self, box: QAbstractButton, *, checked: bool) -> None:
        words = f"{'Tick' if checked else 'Untick'} {box.text().replace('&', '')}"
        push_change(self._stack, words, box.setChecked, checked, not checked)

    def _push_choice(self, box: QComboBox, index: int) -> None:
        before, self._indices[box] = self._indices[box], index
        if before == index:
            return
        words = f"{box.accessibleName()}: {shown(box.itemText(index))}"
        push_change(self._stack, words, partial(self._choose, box), index, before)

    def _choose(self, box: QComboBox, index: int) -> None:
        self._indices[box] = index
        if box.currentIndex() != index:
            box.setCurrentIndex(index)
            box.activated.emit(index)  # views follow what the user chooses alone
