"""Undo steps of the options of views."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoStack

from ctm_gui import settings as table
from ctm_gui.settings import Settings
from ctm_gui.undo import push_change
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.session import remembered_unit
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import number


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
            push_change(
                self._stack, words, self._set_budget_ms, now, before, "budget", page="compare"
            )

    def _set_budget_ms(self, budget_ms: float | None) -> None:
        self._settings.set(table.BUDGET_MS, budget_ms or 0.0)
        self._options.set_budget_ms(budget_ms)
