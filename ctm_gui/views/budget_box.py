"""The field of the latency budget."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDoubleSpinBox, QWidget

from predictor.core.units import significant

_LARGEST_MS = 1e6


class BudgetBox(QDoubleSpinBox):
    """A budget in milliseconds; zero means none.

    Signals:
        budget_edited: the user set the budget: milliseconds, or None.
    """

    budget_edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(0.0, _LARGEST_MS)
        self.setDecimals(4)
        self.setSuffix(" ms")
        self.setSpecialValueText("no budget")
        self.setKeyboardTracking(False)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.setAccessibleName("Latency budget in milliseconds; zero for none")
        self.valueChanged.connect(self._tell)

    def set_budget_ms(self, budget_ms: float | None) -> None:
        """Show a budget without telling that the user did."""
        blocked = self.blockSignals(True)
        self.setValue(budget_ms or 0.0)
        self.blockSignals(blocked)

    def textFromValue(self, value: float) -> str:
        """Write a budget without trailing zeros."""
        return significant(value, 6)

    def _tell(self, value: float) -> None:
        self.budget_edited.emit(value or None)
