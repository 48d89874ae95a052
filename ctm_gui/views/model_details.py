"""Below the Models list: the current model's error, its progress, or its dimensions and facts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from ctm_gui.presenters.shelf import ModelEntry, ModelShelf
from ctm_gui.views.dimensions_editor import DimensionsEditor
from ctm_gui.views.parts import plain_label, push_button
from predictor.core.text import plural, shortened
from predictor.core.units import format_bytes

_SHOWN_INPUTS = 4


class ModelDetails(QWidget):
    """Details of one row of the shelf; hidden where there is none."""

    def __init__(self, shelf: ModelShelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self._entry: ModelEntry | None = None
        self._error = _text_label("bad", "Why the model could not be read")
        self._facts = _text_label("muted", "About the model")
        self._progress = QProgressBar(minimum=0, maximum=0, textVisible=False)
        self._progress.setMaximumHeight(8)
        self._progress.setAccessibleName("Reading the model")
        self.dimensions = DimensionsEditor()
        self.dimensions.value_changed.connect(self._on_dimension)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(6)
        for widget in (self._error, self._progress, self.dimensions, self._facts):
            layout.addWidget(widget)
        layout.addLayout(self._build_buttons())

    def show_row(self, row: int | None) -> None:
        """Show a row of the shelf, or nothing."""
        self._entry = None if row is None else self._shelf.entries[row]
        self.setVisible(self._entry is not None)
        if self._entry is not None:
            self._show(self._entry)

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self._cancel = self._button("Cancel", "Stop reading this model", self._shelf.cancel)
        self._retry = self._button("Try Again", "Read the file again", self._shelf.read_again)
        self._dismiss = self._button("Dismiss", "Take it off the list", self._remove)
        for button in (self._cancel, self._retry, self._dismiss):
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _button(self, text: str, tip: str, act: Callable[[int], None]) -> QPushButton:
        button = push_button(text, tip)
        button.setAccessibleDescription(tip)
        button.clicked.connect(lambda: self._on_row(act))
        return button

    def _on_row(self, act: Callable[[int], None]) -> None:
        """Act on the row of the entry, which may have moved since it was shown."""
        if self._entry is not None and self._entry in self._shelf.entries:
            act(self._shelf.entries.index(self._entry))

    def _remove(self, row: int) -> None:
        self._shelf.remove([row])

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

    def _on_dimension(self, name: str, value: int) -> None:
        self._on_row(lambda row: self._shelf.bind(row, name, value))


def _text_label(role: str, accessible_name: str) -> QLabel:
    label = plain_label(role=role, name=accessible_name)
    # Names come from files: never markup.
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return label


def _facts(entry: ModelEntry) -> str:
    model = entry.model
    if model is None:
        return ""
    lines = [
        f"{shortened(info.name, 24)}: {info.dtype} {'×'.join(map(str, info.shape)) or 'scalar'}"
        for info in model.inputs[:_SHOWN_INPUTS]
    ]
    if len(model.inputs) > _SHOWN_INPUTS:
        lines.append(f"and {plural(len(model.inputs) - _SHOWN_INPUTS, 'more input')}")
    opsets = ", ".join(
        f"{shortened(domain, 20)} {version}" if domain else f"opset {version}"
        for domain, version in sorted(model.opsets.items())
    )
    lines.append(f"{opsets} · {format_bytes(model.graph.weights_total_bytes)} of weights")
    if model.producer:
        lines.append(f"from {shortened(model.producer, 40)}")
    lines.extend(shortened(note, 160) for note in model.notes[:3])
    return "\n".join(lines)
