"""Spin boxes for the dimensions that a model's file leaves open."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFormLayout, QLabel, QSpinBox, QWidget

from predictor.core.records import DynamicDimension
from predictor.core.text import shortened

MAX_DIMENSION = 1_000_000
# Held arrows and typed digits become one reading.
CHANGE_DELAY_MS = 200


class DimensionsEditor(QWidget):
    """One spin box a dynamic dimension; ``value_changed`` gives its name and value."""

    value_changed = Signal(str, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = QFormLayout(self)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setSpacing(4)
        self._boxes: dict[str, QSpinBox] = {}
        self._shown: tuple[int, tuple[str, ...]] = (0, ())
        self._waiting: dict[str, int] = {}
        self._timer = QTimer(self, singleShot=True, interval=CHANGE_DELAY_MS)
        self._timer.timeout.connect(self._emit_waiting)

    def show_dimensions(self, entry_id: int, dimensions: Sequence[DynamicDimension]) -> None:
        """Show the dimensions of a model; the boxes stay as they are while it is the same one."""
        shown = (entry_id, tuple(dimension.name for dimension in dimensions))
        if shown != self._shown:
            self._emit_waiting()
            self._shown = shown
            self._rebuild(dimensions)
        for dimension in dimensions:
            box = self._boxes[dimension.name]
            if dimension.name not in self._waiting and box.value() != dimension.value:
                box.blockSignals(True)
                box.setValue(dimension.value)
                box.blockSignals(False)
        self.setVisible(bool(dimensions))

    def box(self, name: str) -> QSpinBox:
        """Return the spin box of a dimension."""
        return self._boxes[name]

    def _rebuild(self, dimensions: Sequence[DynamicDimension]) -> None:
        while self._form.rowCount():
            self._form.removeRow(0)
        self._boxes = {}
        for dimension in dimensions:
            box = QSpinBox(minimum=1, maximum=MAX_DIMENSION, value=dimension.value)
            name = shortened(dimension.name, 24)
            box.setAccessibleName(f"Dimension {name}")
            box.setToolTip(f"Default {dimension.default}: {dimension.reason}")
            box.setAcceptDrops(False)
            box.lineEdit().setAcceptDrops(False)
            box.valueChanged.connect(lambda value, name=dimension.name: self._on_value(name, value))
            label = QLabel(name)
            label.setBuddy(box)
            label.setToolTip(shortened(dimension.name, 200))
            self._form.addRow(label, box)
            self._boxes[dimension.name] = box

    def _on_value(self, name: str, value: int) -> None:
        self._waiting[name] = value
        self._timer.start()

    def _emit_waiting(self) -> None:
        self._timer.stop()
        waiting, self._waiting = self._waiting, {}
        for name, value in waiting.items():
            self.value_changed.emit(name, value)
