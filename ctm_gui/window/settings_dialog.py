"""The dialog of the settings, made from their table."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QSpinBox,
    QWidget,
)

from ctm_gui.settings import TABLE, AnySetting, Settings
from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import STRETCH, label, vbox
from ctm_gui.widgets.fields import DecimalBox, NumberBox
from predictor.core.text import printable

_WIDTH_PX = 580


class SettingsDialog(BaseDialog):
    """Each row of the table that asks the user, in its order; a change takes effect at once.

    Signals:
        changed: the Setting that has another value now.
    """

    changed = Signal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__("Settings", parent)
        self._settings = settings
        self.editors: dict[str, QWidget] = {}
        form = QFormLayout()
        form.setVerticalSpacing(4)
        for setting in dialog_settings():
            self._add(form, setting)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.defaults_button = buttons.addButton(
            "Restore Defaults", QDialogButtonBox.ButtonRole.ResetRole
        )
        self.defaults_button.clicked.connect(self.restore_defaults)
        self.defaults_button.setAutoDefault(False)  # Enter in a field is not meant for it
        buttons.rejected.connect(self.reject)
        place = label(f"The settings are kept in {printable(str(settings.path))}.", "muted")
        layout = vbox(form, STRETCH, place, buttons, of=self)
        room = self.screen().availableSize()
        self.resize(_WIDTH_PX, min(layout.heightForWidth(_WIDTH_PX), room.height()))

    def restore_defaults(self) -> None:
        """Set every setting of the dialog to its default."""
        for setting in dialog_settings():
            show_value(self.editors[setting.key], setting.default)

    def _add(self, form: QFormLayout, setting: AnySetting) -> None:
        editor = make_editor(setting)
        self.editors[setting.key] = editor
        editor.setAccessibleName(setting.label)
        editor.setAccessibleDescription(setting.help)
        show_value(editor, self._settings.get(setting))  # type: ignore[misc]
        _signal(editor).connect(lambda _value: self._take(setting))
        if isinstance(editor, QCheckBox):
            editor.setText(setting.label)
            form.addRow("", editor)
        else:
            form.addRow(setting.label, editor)
        form.addRow("", label(setting.help, "muted"))

    def _take(self, setting: AnySetting) -> None:
        self._settings.set(setting, value_of(self.editors[setting.key]))
        self.changed.emit(setting)


def dialog_settings() -> list[AnySetting]:
    """Return the settings that the dialog asks for."""
    return [setting for setting in TABLE if setting.in_dialog]


def make_editor(setting: AnySetting) -> QWidget:
    """Return the editor that fits a setting's type: a choice, a check box or a number."""
    if setting.choices:
        box = QComboBox()
        for value, words in setting.choices:
            box.addItem(words, value)
        return box
    if isinstance(setting.default, bool):
        return QCheckBox()
    number = NumberBox() if isinstance(setting.default, int) else DecimalBox()
    number.setRange(0, setting.largest)  # type: ignore[arg-type]  # whole where it counts
    number.setSuffix(f" {setting.unit}" if setting.unit else "")
    number.setSpecialValueText(setting.none)
    return number


def show_value(editor: QWidget, value: Any) -> None:
    """Show a value in the editor of its setting."""
    if isinstance(editor, QComboBox):
        editor.setCurrentIndex(max(editor.findData(value), 0))
    elif isinstance(editor, QCheckBox):
        editor.setChecked(bool(value))
    elif isinstance(editor, QSpinBox | QDoubleSpinBox):
        editor.setValue(value)


def value_of(editor: QWidget) -> Any:
    """Return the value that an editor shows."""
    if isinstance(editor, QComboBox):
        return editor.currentData()
    if isinstance(editor, QCheckBox):
        return editor.isChecked()
    return editor.value() if isinstance(editor, QSpinBox | QDoubleSpinBox) else None


def _signal(editor: QWidget) -> Any:
    if isinstance(editor, QComboBox):
        return editor.currentIndexChanged
    return editor.toggled if isinstance(editor, QCheckBox) else editor.valueChanged  # type: ignore[attr-defined]
