"""The fields of a stream and of a stage: each with room below it for what is wrong there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QWidget

from ctm_gui.widgets.basic import combo_box, fill_box, named, note_label, show_note
from ctm_gui.widgets.fields import DecimalBox, FormLineEdit, NumberBox
from predictor.core.records import Precision
from predictor.core.units import significant
from predictor.services.loads.records import AUTO

ARRIVALS: Final = ("periodic", "poisson", "trace")
_LARGEST = 1e6
_LETTERS = 12
_FIELD_PX, _LABEL_PX = 90, 76
_NONE = "none"
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
        self.setRange(minimum, _LARGEST)
        self.setSuffix(f" {suffix}" if suffix else "")
        self.setSpecialValueText(none)
        # Each digit of a number would be a load of its own.
        self.setKeyboardTracking(False)
        self.setStepType(DecimalBox.StepType.AdaptiveDecimalStepType)
        self.setMinimumWidth(_FIELD_PX)

    def textFromValue(self, value: float) -> str:
        """Write a number without trailing zeros."""
        return significant(value, 6)


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

    def add(self, key: str, text: str, field: QWidget, tip: str = "") -> None:
        """Add a field at the next place.

        Args:
            key: of the table.
            text: its label, with the mnemonic marked.
            field: with its accessible name.
            tip: a sentence on it.
        """
        row, side = divmod(self._count, 2)
        self._count += 1
        column = 2 * side
        title = named(text, field)
        for widget in (title, field):
            widget.setToolTip(tip)
        self._grid.addWidget(title, 2 * row, column)
        self._grid.addWidget(field, 2 * row, column + 1)
        note = self._notes[key] = note_label("bad", self)
        self._grid.addWidget(note, 2 * row + 1, column, 1, 2)
        self.fields[key], self._tips[key] = field, tip

    def show_problem(self, key: str | None, sentence: str) -> None:
        """Say what is wrong below the field of a key, or below all; None for nothing."""
        place = key if key is None or key in self.fields else ""
        for name, note in self._notes.items():
            show_note(note, [sentence] if name == place else [])
        for name, field in self.fields.items():
            field.setAccessibleDescription(sentence if name == place else self._tips[name])

    def line(
        self, key: str, text: str, name: str, read: Callable[[str], object] = str
    ) -> FormLineEdit:
        """Add a line of text; an empty one leaves the key out."""
        made = FormLineEdit()
        made.setAccessibleName(name)
        made.setMinimumWidth(_FIELD_PX)
        self.add(key, text, made)
        made.editingFinished.connect(
            lambda: self.edited.emit(
                key, read(made.text().strip()) if made.text().strip() else None
            )
        )
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


class StreamForm(TableForm):
    """The fields of streams alike."""

    def __init__(self) -> None:
        super().__init__()
        self._is_traced = False
        self.name = self.line("name", "Name", "Name of the stream")
        self.rate = PlainBox("Items a second of one stream", "items/s", none=_NONE)
        self.add("rate", "&Rate", self.rate, "Items a second of one stream.")
        # That of a trace may be left out; any other stream needs one, as its reader says.
        self.rate.valueChanged.connect(
            lambda value: self.edited.emit("rate", value or (None if self._is_traced else 0))
        )
        self.count = NumberBox(minimum=0, maximum=100_000, accessibleName="Number of such streams")
        self.count.setSpecialValueText("1")
        self.count.setKeyboardTracking(False)
        self.number("count", "Streams", self.count, "Number of streams alike.")
        self.arrival = combo_box("How items arrive")
        for arrival in ARRIVALS:
            self.arrival.addItem(arrival, arrival)
        self.choice(
            "arrival", "&Arrival", self.arrival,
            "At equal distances, at random (Poisson), or as a file of seconds has it.",
        )  # fmt: skip
        self.deadline = PlainBox("Deadline in milliseconds", "ms", none=_NONE)
        self.number(
            "deadline_ms", "&Deadline", self.deadline, "From arrival to the end of the last stage."
        )
        self.share = PlainBox("Percent of the items that keep the deadline", "%", none="99 %")
        self.number("share", "&Kept by", self.share, "Share of the items that keep the deadline.")
        self.trace = self.line(
            "trace", "Trace", "File of the times of a trace, a number of seconds a line"
        )

    def show_table(self, table: Mapping[str, Any]) -> None:
        """Show the values of a stream."""
        _show_text(self.name, table.get("name"))
        _show_text(self.trace, table.get("trace"))
        self._is_traced = table.get("arrival") == "trace" or "trace" in table
        self.trace.setEnabled(self._is_traced)
        for box, key in (
            (self.rate, "rate"),
            (self.count, "count"),
            (self.deadline, "deadline_ms"),
            (self.share, "share"),
        ):
            show_number(box, table.get(key))
        usual = "trace" if "trace" in table else ARRIVALS[0]
        self.arrival.setCurrentIndex(max(self.arrival.findData(table.get("arrival", usual)), 0))


class StageForm(TableForm):
    """The fields of a stage.

    Attributes:
        model: files to choose from.
        unit: units of the box, and "auto".
    """

    def __init__(self) -> None:
        super().__init__()
        self.name = self.line("name", "Name", "Name of the stage")
        self.model = combo_box("Model of the stage", letters=_LETTERS)
        self.choice("model", "M&odel", self.model, "One of the open models, or a bundled sample.")
        self.unit = combo_box("Unit of the box that runs the stage")
        self.choice("unit", "&Unit", self.unit, "Of the box; auto is placed where most room is.")
        self.runs = PlainBox("Runs for an item", "", none="1")
        self.number(
            "per_item", "Runs an &item", self.runs, "3 for three crops, 0.2 for every fifth item."
        )
        self.batch = NumberBox(minimum=0, maximum=10_000, accessibleName="Largest batch of runs")
        self.batch.setSpecialValueText("none")
        self.batch.setKeyboardTracking(False)
        self.number("batch", "Batch", self.batch, "Largest number of runs at once.")
        self.delay = PlainBox("Time that a run waits for its batch", "ms", -1, "until it is full")
        self.number("batch_delay_ms", "Waits", self.delay, "For a full batch, at most.")
        self.precision = combo_box("Precision of the stage")
        self.precision.addItem("usual", "")
        for precision in Precision:
            self.precision.addItem(precision.words, precision.value)
        self.choice("precision", "Precision", self.precision)
        self.after = self.line("after", "After", "Names of the stages that it waits for", _names)
        self.dims = self.line("dims", "Dimensions", "Values of open dimensions", _dims)
        self.after.setPlaceholderText("the one before")
        self.dims.setPlaceholderText("sequence=64")

    def show_table(
        self, table: Mapping[str, Any], models: Sequence[tuple[str, str]], units: Sequence[str]
    ) -> None:
        """Show the values of a stage.

        Args:
            table: of the load file.
            models: to choose from: their names, and how the file has them.
            units: of the box.
        """
        _show_text(self.name, table.get("name"))
        self.show_choices(table, models, units)
        show_number(self.runs, table.get("per_item"))
        show_number(self.batch, table.get("batch"))
        show_number(self.delay, table.get("batch_delay_ms"))
        self.delay.setEnabled(self.batch.value() > 1)
        place = self.precision.findData(table.get("precision", ""))
        self.precision.setCurrentIndex(max(place, 0))
        after, dims = table.get("after"), table.get("dims", {})
        _show_text(self.after, _NONE if after == [] else after)
        pairs = dims.items() if isinstance(dims, Mapping) else ()
        text = ", ".join(f"{name}={size}" for name, size in pairs) or str(dims or "")
        _show_text(self.dims, text)

    def show_choices(
        self, table: Mapping[str, Any], models: Sequence[tuple[str, str]], units: Sequence[str]
    ) -> None:
        """Offer other models and units; what is typed in other fields stays."""
        _fill_data(self.model, models, str(table.get("model", "")))
        named_units = [(unit, unit) for unit in (AUTO, *units)]
        _fill_data(self.unit, named_units, str(table.get("unit", AUTO)))


def _names(text: str) -> object:
    """Return the names of stages as the file has them."""
    return [] if text == _NONE else [name.strip() for name in text.split(",") if name.strip()]


def _dims(text: str) -> object:
    """Return dimensions as the file has them; the text where it is none, for its reader to say."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and size.strip().isdecimal() for name, _, size in pairs):
        return text
    return {name.strip(): int(size) for name, _, size in pairs}


def _show_text(field: FormLineEdit, value: object) -> None:
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


def _fill_data(box: QComboBox, items: Sequence[tuple[str, str]], chosen: str) -> None:
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
