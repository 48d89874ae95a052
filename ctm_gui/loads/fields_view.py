"""Fields of a table of a load file: each with room below it for what is wrong there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QWidget

from ctm_gui.widgets.basic import fill_box, named, note_label, show_note
from ctm_gui.widgets.fields import DecimalBox, FormLineEdit, NumberBox
from predictor.core.units import significant

LARGEST: Final = 1e9  # prices of any currency
_FIELD_PX, _LABEL_PX = 90, 76
_LAST_ROW = 100


class PlainBox(DecimalBox):
    """A box of a number that is written without trailing zeros; the file's reader judges it.

    Args:
        name: for screen readers.
        suffix: after the number.
        minimum: the least number that can be typed.
        none: shown in place of the least number; empty for the number itself.
    """

    def __init__(self, name: str, suffix: str, minimum: float = 0.0, none: str = "") -> None:
        super().__init__(decimals=4, accessibleName=name)
        self.setRange(minimum, LARGEST)
        self.setSuffix(f" {suffix}" if suffix else "")
        self.setSpecialValueText(none)
        # Each digit of a number would be a load of its own.
        self.setKeyboardTracking(False)
        self.setStepType(DecimalBox.StepType.AdaptiveDecimalStepType)

    def textFromValue(self, value: float) -> str:
        """Write a number without trailing zeros."""
        return significant(value, 6)


class CountBox(NumberBox):
    """A box of a whole number, which the file's reader judges; its least is shown in words.

    Args:
        name: for screen readers.
        none: shown in place of 0.
    """

    def __init__(self, name: str, none: str) -> None:
        super().__init__(minimum=0, maximum=100_000_000, accessibleName=name)
        self.setSpecialValueText(none)
        self.setKeyboardTracking(False)
        self.setGroupSeparatorShown(True)


class TableForm(QWidget):
    """Fields of a table of a load file, in pairs side by side.

    Signals:
        edited: the user set a key: its name, and its value or None.
    """

    edited = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(3)
        for column in (1, 3):
            self._grid.setColumnStretch(column, 1)
            self._grid.setColumnMinimumWidth(column - 1, _LABEL_PX)
        self.fields: dict[str, QWidget] = {}
        self._notes = {"": note_label("bad", self)}
        self._grid.addWidget(self._notes[""], _LAST_ROW, 0, 1, 4)
        self._tips: dict[str, str] = {}
        self._count = 0

    def add(
        self, key: str, text: str, field: QWidget, tip: str = "", *, wide: bool = False
    ) -> None:
        """Add a field at the next place.

        Args:
            key: of the table.
            text: its label, with the mnemonic marked.
            field: with its accessible name.
            tip: a sentence on it.
            wide: whether it has a row of its own.
        """
        self._count += self._count % 2 if wide else 0
        row, side = divmod(self._count, 2)
        self._count += 2 if wide else 1
        column, span = 2 * side, 3 if wide else 1
        title = named(text, field)
        for widget in (title, field):
            widget.setToolTip(tip)
        field.setMinimumWidth(_FIELD_PX)
        self._grid.addWidget(title, 2 * row, column)
        self._grid.addWidget(field, 2 * row, column + 1, 1, span)
        note = self._notes[key] = note_label("bad", self)
        self._grid.addWidget(note, 2 * row + 1, column, 1, 1 + span)
        self.fields[key], self._tips[key] = field, tip

    def show_problem(self, key: str | None, sentence: str) -> None:
        """Say what is wrong below the field of a key, or below all; None for nothing."""
        place = key if key is None or key in self.fields else ""
        for name, note in self._notes.items():
            show_note(note, [sentence] if name == place else [])
        for name, field in self.fields.items():
            field.setAccessibleDescription(sentence if name == place else self._tips[name])

    def line(
        self,
        key: str,
        text: str,
        name: str,
        read: Callable[[str], object] = str,
        *,
        wide: bool = False,
    ) -> FormLineEdit:
        """Add a line of text; an empty one leaves the key out."""
        made = FormLineEdit()
        made.setAccessibleName(name)
        self.add(key, text, made, wide=wide)

        def finish() -> None:
            # A text that stands in for what the file leaves out is no edit of it.
            if made.isModified():
                made.setModified(False)
                self.edited.emit(key, read(made.text().strip()) if made.text().strip() else None)

        made.editingFinished.connect(finish)
        return made

    def number(self, key: str, text: str, box: DecimalBox | NumberBox, tip: str = "") -> None:
        """Add a box of a number; its least one leaves the key out."""
        self.add(key, text, box, tip)
        box.valueChanged.connect(
            lambda value: self.edited.emit(key, value if value > box.minimum() else None)
        )

    def choice(self, key: str, text: str, box: QComboBox, tip: str = "") -> None:
        """Add a box of choices; the first leaves the key out where its data are empty."""
        self.add(key, text, box, tip)
        box.activated.connect(lambda _: self.edited.emit(key, box.currentData() or None))


def show_text(field: FormLineEdit, value: object) -> None:
    """Show a text, or a list of them, that was not typed here."""
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")
    field.show_text(text)


def show_number(box: DecimalBox | NumberBox, value: Any) -> None:
    """Show a number; the least one where the file has none, or no number."""
    with QSignalBlocker(box):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        wanted = float(value) if is_number and math.isfinite(value) else box.minimum()
        if isinstance(box, NumberBox):
            box.setValue(int(min(wanted, box.maximum())))
        else:
            box.setValue(wanted)


def fill_data(box: QComboBox, items: Sequence[tuple[str, str]], chosen: str) -> None:
    """Give a box entries with their data; what is chosen is one of them."""
    entries = list(items)
    if chosen not in [data for _, data in entries]:
        entries.append((chosen.replace("\\", "/").rpartition("/")[2] or "none", chosen))
    if entries == [(box.itemText(i), box.itemData(i)) for i in range(box.count())]:
        with QSignalBlocker(box):
            box.setCurrentIndex(box.findData(chosen))
        return
    fill_box(box, [])
    with QSignalBlocker(box):
        for text, data in entries:
            box.addItem(text, data)
        box.setCurrentIndex(box.findData(chosen))
