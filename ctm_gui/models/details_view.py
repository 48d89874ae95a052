"""Below the Models list: the current model's error, its progress, or its dimensions and facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFormLayout, QPushButton, QSpinBox, QWidget

from ctm_gui.models.shelf import ModelEntry, ModelShelf
from ctm_gui.widgets.basic import STRETCH, busy_bar, button, hbox, label, named, vbox
from ctm_gui.widgets.fields import NumberBox
from predictor.core.tensors import DynamicDimension
from predictor.core.text import plural, shortened
from predictor.core.units import format_bytes
from predictor.graph.model import ONNX, Model

MAX_DIMENSION = 1_000_000
# Held arrows and typed digits become one reading.
CHANGE_DELAY_MS = 200
_MAX_INPUTS = 4


class DimensionsEditor(QWidget):
    """One spin box a dynamic dimension; ``value_changed`` gives its name and value."""

    value_changed = Signal(str, int)

    def __init__(self) -> None:
        super().__init__()
        self._form = QFormLayout(self)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setSpacing(4)
        self._boxes: dict[str, QSpinBox] = {}
        self._displayed: tuple[int, tuple[str, ...]] = (0, ())
        self._waiting: dict[str, int] = {}
        self._timer = QTimer(self, singleShot=True, interval=CHANGE_DELAY_MS)
        self._timer.timeout.connect(self._emit_waiting)

    def show_dimensions(self, entry_id: int, dimensions: Sequence[DynamicDimension]) -> None:
        """Show the dimensions of a model; the boxes stay as they are while it is the same one."""
        displayed = (entry_id, tuple(dimension.name for dimension in dimensions))
        if displayed != self._displayed:
            self._emit_waiting()
            self._displayed = displayed
            self._rebuild(dimensions)
        for dimension in dimensions:
            box = self._boxes[dimension.name]
            is_assumed = dimension.value == dimension.default
            box.setSuffix(" (assumed)" if is_assumed else "")
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
            box = NumberBox(minimum=1, maximum=MAX_DIMENSION, value=dimension.value)
            name = shortened(dimension.name, 24)
            box.setAccessibleName(f"Dimension {name}")
            box.setToolTip(f"Default {dimension.default}: {dimension.reason}")
            box.setAcceptDrops(False)
            box.lineEdit().setAcceptDrops(False)
            box.valueChanged.connect(lambda value, name=dimension.name: self._on_value(name, value))
            words = named(name, box)
            words.setToolTip(shortened(dimension.name, 200))
            self._form.addRow(words, box)
            self._boxes[dimension.name] = box

    def _on_value(self, name: str, value: int) -> None:
        self._waiting[name] = value
        self._timer.start()

    def _emit_waiting(self) -> None:
        self._timer.stop()
        waiting, self._waiting = self._waiting, {}
        for name, value in waiting.items():
            self.value_changed.emit(name, value)


class ModelDetails(QWidget):
    """Details of one row of the shelf; hidden where there is none."""

    def __init__(self, shelf: ModelShelf) -> None:
        super().__init__()
        self._shelf = shelf
        self._entry: ModelEntry | None = None
        self._error = label(role="bad", name="Why the model could not be read", selectable=True)
        self._facts = label(role="muted", name="About the model", selectable=True)
        self._progress = busy_bar("Reading the model", 8)
        self.dimensions = DimensionsEditor()
        self.dimensions.value_changed.connect(
            lambda name, value: self._on_row(lambda row: shelf.bind(row, name, value))
        )
        self._cancel = self._button("Cancel", "Stop reading this model", shelf.cancel)
        self._retry = self._button("Try Again", "Read the file again", shelf.read_again)
        self._dismiss = self._button(
            "Dismiss", "Take it off the list", lambda row: shelf.remove([row])
        )
        parts = (self._error, self._progress, self.dimensions, self._facts)
        buttons = hbox(self._cancel, self._retry, self._dismiss, STRETCH)
        vbox(*parts, buttons, of=self, margins=(0, 4, 0, 0), spacing=6)

    def show_row(self, row: int | None) -> None:
        """Show a row of the shelf, or nothing."""
        self._entry = None if row is None else self._shelf.entries[row]
        self.setVisible(self._entry is not None)
        if self._entry is not None:
            self._show(self._entry)

    def _button(self, text: str, tip: str, act: Callable[[int], None]) -> QPushButton:
        made = button(text, tip, lambda: self._on_row(act))
        made.setAccessibleDescription(tip)
        return made

    def _on_row(self, act: Callable[[int], None]) -> None:
        """Act on the row of the entry, which may have moved since it was shown."""
        if self._entry is not None and self._entry in self._shelf.entries:
            act(self._shelf.entries.index(self._entry))

    def _show(self, entry: ModelEntry) -> None:
        failed = entry.error is not None
        self._error.setText(str(entry.error) if failed else "")
        self._error.setVisible(failed)
        self._retry.setVisible(failed)
        self._dismiss.setVisible(failed)
        self._progress.setVisible(entry.pending)
        self._cancel.setVisible(entry.pending)
        self.dimensions.show_dimensions(entry.id, entry.dimensions)
        facts = _facts(entry)
        self._facts.setText(facts)
        self._facts.setVisible(bool(facts) and not failed)


def _facts(entry: ModelEntry) -> str:
    model = entry.model
    if model is None:
        return ""
    lines = [
        f"{shortened(info.name, 24)}: {info.dtype} {'×'.join(map(str, info.shape)) or 'scalar'}"
        for info in model.inputs[:_MAX_INPUTS]
    ]
    if len(model.inputs) > _MAX_INPUTS:
        lines.append(f"and {plural(len(model.inputs) - _MAX_INPUTS, 'more input')}")
    weights = format_bytes(model.graph.weights_total_bytes)
    lines.append(f"{_format(model)} · {weights} of weights")
    if model.producer:
        lines.append(f"from {shortened(model.producer, 40)}")
    lines.extend(shortened(note, 160) for note in model.notes[:3])
    return "\n".join(lines)


def _format(model: Model) -> str:
    """Return the opsets of an ONNX file, the format of another one."""
    if model.format != ONNX:
        return model.format
    return ", ".join(
        f"{shortened(domain, 20)} {version}" if domain else f"opset {version}"
        for domain, version in sorted(model.opsets.items())
    )
