"""Above the form: which device it is, what can be done with it, what is odd about it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ctm_gui.presenters.device_form import DeviceForm
from ctm_gui.views.elided_label import ElidedLabel
from ctm_gui.views.metric_field import note_label, show_note
from ctm_gui.views.parts import plain_label, push_button
from predictor.core.wording import shown

_SHOWN_LINES = 3
_SHIPPED = "Shipped with the program. Duplicate it to make a device of your own from it."


class DeviceHeader(QWidget):
    """Name, buttons and summary of the device that a form shows.

    Signals:
        duplicate, export, delete: the buttons that are not of the form itself.
    """

    duplicate = Signal()
    export = Signal()
    delete = Signal()

    def __init__(self, form: DeviceForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._form = form
        self.name = ElidedLabel()
        self.name.setProperty("role", "heading")
        self.state = plain_label(role="muted")
        self.needs = note_label("warn")
        self.problems = note_label("bad")
        self.warnings = note_label("warn")
        self.duplicate_button = push_button("&Duplicate", "Make a device of your own from this one")
        self.save_button = push_button("&Save", "Keep what was typed; predictions follow")
        self.revert_button = push_button("&Revert", "Go back to what was saved")
        self.export_button = push_button("E&xport…", "Write a device file")
        self.delete_button = push_button("De&lete", "Delete this device; undo brings it back")
        self._arrange()
        self.duplicate_button.clicked.connect(self.duplicate)
        self.save_button.clicked.connect(form.save)
        self.revert_button.clicked.connect(form.revert)
        self.export_button.clicked.connect(self.export)
        self.delete_button.clicked.connect(self.delete)
        for signal in (form.device_shown, form.changed, form.modified_changed):
            signal.connect(self._show)
        self._show()

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.name, 1)
        for button in (
            self.save_button,
            self.revert_button,
            self.duplicate_button,
            self.export_button,
            self.delete_button,
        ):
            row.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 4)
        layout.setSpacing(3)
        layout.addLayout(row)
        for label in (self.state, self.needs, self.problems, self.warnings):
            layout.addWidget(label)

    def _show(self, *_: object) -> None:
        form = self._form
        here = form.entry is not None
        self.name.set_full_text(shown(form.fields.name) if here else "No device is chosen")
        own = form.editable
        for button in (self.save_button, self.revert_button, self.delete_button):
            button.setVisible(own)
        self.save_button.setEnabled(form.can_save)
        self.revert_button.setEnabled(form.modified)
        for button in (self.duplicate_button, self.export_button):
            button.setEnabled(here)
        show_note(self.state, [self._state()] if here else [])
        missing = form.missing_line() if here else ""
        show_note(self.needs, [missing] if missing else [])
        show_note(self.problems, _at_most(form.problem_lines()) if own else [])
        show_note(self.warnings, _at_most(form.warning_lines()) if here else [])

    def _state(self) -> str:
        form = self._form
        if not form.editable:
            return _SHIPPED
        state = (
            "Your own device; changes are not saved yet."
            if form.modified
            else "Your own device; saved, and among the targets."
        )
        known = f"{len(form.fields.available)} metrics known."
        return f"{state} {known}"


def _at_most(lines: list[str]) -> list[str]:
    rest = len(lines) - _SHOWN_LINES
    return [*lines[:_SHOWN_LINES], f"and {rest} more below"] if rest > 0 else lines
