"""The header above the form: name, commands and warnings of a device."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QComboBox, QWidget

from ctm_gui.devices.form import DeviceForm
from ctm_gui.devices.live import LivePrediction
from ctm_gui.widgets.basic import ElidedLabel, button, hbox, holder, label, named, show_note, vbox
from ctm_gui.widgets.fields import line_edit, make_searchable
from ctm_gui.widgets.tooltips import as_tooltip
from predictor.core.text import plural
from predictor.presentation.wording import shown

# Under the 80 of the style: five of these and the list have to fit into a small screen.
_BUTTON_PX = 72
_START_LETTERS = 20
_FIXED_WIDTH = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
_SHIPPED = "Shipped with the program. Duplicate it to make a device of your own from it."


class _Findings(ElidedLabel):
    """How many sentences stand below; ``clicked`` asks for the first of them."""

    clicked = Signal()

    def __init__(self, role: str) -> None:
        super().__init__()
        self.setProperty("role", role)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        self.clicked.emit()


class DeviceHeader(QWidget):
    """Name, buttons and summary of the device that a form shows.

    Signals:
        duplicate, export, delete: the buttons that are not of the form itself.
        note_requested: the user wants to see the first note in the form.
    """

    duplicate = Signal()
    export = Signal()
    delete = Signal()
    note_requested = Signal()

    def __init__(self, form: DeviceForm, live: LivePrediction) -> None:
        super().__init__()
        self._form, self._live = form, live
        self.name = ElidedLabel()
        self.name.setProperty("role", "heading")
        self.state = label(role="muted")
        # A line each, also where they are empty: a header that grows moves the field that is typed
        # into. The sentences stand below their fields: these count them, and have them as tips.
        self.live, self.problems, self.warnings = ElidedLabel(), _Findings("bad"), _Findings("warn")
        for findings in (self.problems, self.warnings):
            findings.clicked.connect(self.note_requested)
        self.duplicate_button = button(
            "&Duplicate", "Make a device of your own from this one", self.duplicate.emit
        )
        self.save_button = button("&Save", "Keep what was typed; predictions follow", form.save)
        self.revert_button = button("&Revert", "Go back to what was saved", form.revert)
        self.export_button = button("E&xport…", "Write a device file", self.export.emit)
        self.delete_button = button(
            "De&lete", "Delete this device; undo brings it back", self.delete.emit
        )
        commands = (
            self.save_button,
            self.revert_button,
            self.duplicate_button,
            self.export_button,
            self.delete_button,
        )
        for command in commands:
            command.setMinimumWidth(_BUTTON_PX)
        buttons = hbox((self.name, 1), *commands, spacing=6)
        notes = hbox((self.problems, 1), (self.warnings, 1), spacing=8)
        self.start_box = QComboBox()
        line = line_edit("Start from a similar device", placeholderText="type a part of its name")
        make_searchable(self.start_box, line)
        self.start_box.setMinimumContentsLength(_START_LETTERS)
        self.start_box.setSizeAdjustPolicy(_FIXED_WIDTH)
        self._keys: list[str] = []
        self.start_box.activated.connect(lambda place: form.start_from(self._keys[place]))
        start = hbox(named("Start &from a similar device", self.start_box), (self.start_box, 1))
        self._start = holder(start)
        vbox(
            buttons,
            self._start,
            self.state,
            self.live,
            notes,
            of=self,
            margins=(8, 8, 8, 4),
            spacing=3,
        )
        live.changed.connect(lambda: self.live.set_full_text(live.words))
        for signal in (form.device_changed, form.changed, form.modified_changed):
            signal.connect(self._show)
        self._show()

    def _show(self, *_: object) -> None:
        form = self._form
        here = form.entry is not None
        self.name.set_full_text(shown(form.fields.name) if here else "No device is chosen")
        editable = form.editable
        for part in (self.save_button, self.revert_button):
            part.setVisible(editable)
        self.delete_button.setVisible(editable and form.is_stored)
        self.save_button.setEnabled(form.can_save)
        self.revert_button.setEnabled(form.modified)
        for part in (self.duplicate_button, self.export_button):
            part.setEnabled(here)
        show_note(self.state, [self._state()] if here else [])
        self._start.setVisible(here and form.is_empty)
        if here and form.is_empty and not self._keys:
            self._offer()
        missing = " ".join([form.missing_line(), form.unsourced_line()] if here else "").strip()
        problems = form.problem_lines() if editable else []
        warnings = form.warning_lines() if here else []
        _count(self.problems, "", problems, "wrong value")
        _count(self.warnings, missing, warnings, "warning")
        self.problems.setVisible(bool(problems))  # the line is the warnings' alone

    def _offer(self) -> None:
        """Offer the devices that one may start from."""
        entries = self._form.entries
        self._keys = [entry.key for entry in entries]
        self.start_box.addItems([shown(entry.device.name) for entry in entries])
        self.start_box.setCurrentIndex(-1)

    def _state(self) -> str:
        form = self._form
        if not form.editable:
            return _SHIPPED
        if form.is_stored:
            saved = "saved, and among the targets."
            state = f"Your own device; {'changes are not saved yet.' if form.modified else saved}"
        else:
            state = "This PC as detected; what you change is stored."
        return f"{state} {len(form.fields.available)} facts known."


def _count(count_label: ElidedLabel, first: str, lines: list[str], thing: str) -> None:
    """Show a sentence, and how many others stand below; the tip has all of them."""
    below = f"{plural(len(lines), thing)} below" if lines else ""
    count_label.set_full_text(" ".join(filter(None, (first, below))))
    tip = "\n".join(filter(None, (first, *lines)))
    count_label.setToolTip(as_tooltip(tip) if "<" in tip else tip)
