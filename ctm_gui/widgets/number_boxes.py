"""Boxes of numbers whose words begin where those of other fields do."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDoubleSpinBox, QSpinBox

# A style sheet has no say in it: it gives a box's line the frame of the box.
_INSET_PX = 4


class NumberBox(QSpinBox):
    """A box of a whole number; it takes the properties of its class by name."""

    def __init__(self, **properties: Any) -> None:
        super().__init__(**properties)
        self.lineEdit().setTextMargins(_INSET_PX, 0, 0, 0)

    def sizeHint(self) -> QSize:
        """Return the size that the widest number needs."""
        return super().sizeHint() + QSize(_INSET_PX, 0)

    def minimumSizeHint(self) -> QSize:
        """Return the size under which it is not pressed."""
        return super().minimumSizeHint() + QSize(_INSET_PX, 0)


class DecimalBox(QDoubleSpinBox):
    """A box of a number with decimals; it takes the properties of its class by name."""

    def __init__(self, **properties: Any) -> None:
        super().__init__(**properties)
        self.lineEdit().setTextMargins(_INSET_PX, 0, 0, 0)

    def sizeHint(self) -> QSize:
        """Return the size that the widest number needs."""
        return super().sizeHint() + QSize(_INSET_PX, 0)

    def minimumSizeHint(self) -> QSize:
        """Return the size under which it is not pressed."""
        return super().minimumSizeHint() + QSize(_INSET_PX, 0)
