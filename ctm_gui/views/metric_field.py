"""One metric of the form: whether it is known, its value and unit, where it comes from."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from ctm_gui.presenters.device_tables import metric_help
from ctm_gui.tooltips import as_tooltip
from ctm_gui.views.fields import FormLineEdit
from ctm_gui.views.widgets import label, note_label, show_note
from predictor.core.metric_labels import metric_label
from predictor.core.metrics import Family, Metric
from predictor.services.devices.form import range_text

_LABEL_PX, _VALUE_PX, _UNIT_PX = 196, 104, 52


class MetricField(QWidget):
    """A row of the form, with what is wrong with it below.

    Signals:
        value_edited: the text of its value.
        availability_edited: whether it is known.
        source_edited: the text of its source.
    """

    value_edited = Signal(str)
    availability_edited = Signal(bool)
    source_edited = Signal(str)

    def __init__(self, metric: Metric, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._metric = metric
        self._family: Family | None = None
        self._shown: tuple[str, str, bool, bool] | None = None
        # Made as its children: Qt styles a widget anew when it gets another parent.
        self.available = QCheckBox(self)
        self.value = FormLineEdit(self)
        self.value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.unit = label(metric.unit, "muted", wraps=False, parent=self)
        self.source = FormLineEdit(self)
        self.source.setPlaceholderText("Source: document and publisher, or address")
        self.problem = note_label("bad", self)
        self.warning = note_label("warn", self)
        self._arrange()
        self.value.textEdited.connect(self.value_edited)
        self.source.textEdited.connect(self.source_edited)
        self.available.clicked.connect(self._on_available)

    def show_wording(self, family: Family) -> None:
        """Name the metric as it is called in a family."""
        if family is self._family:
            return
        self._family = family
        name, text = metric_label(self._metric.name, family), metric_help(self._metric, family)
        self.available.setText(name.replace("&", "&&"))
        self.available.setAccessibleName(f"{name} is known")
        self.value.setAccessibleName(f"{name} {self._metric.unit}".strip())
        self.source.setAccessibleName(f"Source of {name}")
        for widget in (self.available, self.value, self.unit):
            widget.setToolTip(text)
            widget.setWhatsThis(text)
        self.value.setAccessibleDescription(text)

    def show_value(self, text: str, source: str, *, available: bool, editable: bool) -> None:
        """Show what the form holds; an absent metric has no value to type."""
        state = (text, source, available, editable)
        if state == self._shown:
            return
        self._shown = state
        self.available.setChecked(available)
        self.available.setEnabled(editable)
        self.value.show_text(text if available else "")
        self.source.show_text(source if available else "")
        self.source.setToolTip(as_tooltip(source) if available and source else "")
        for field in (self.value, self.source):
            field.setReadOnly(not editable)
            field.setEnabled(available)
        self.value.setPlaceholderText(self._placeholder(available=available))

    def show_notes(self, problems: Sequence[str], warnings: Sequence[str]) -> None:
        """Show below the fields what is wrong, and what contradicts another value."""
        show_note(self.problem, problems)
        show_note(self.warning, warnings)

    def _placeholder(self, *, available: bool) -> str:
        unit = self._metric.unit
        return range_text(self._metric).removesuffix(unit).strip() if available else "not known"

    def _arrange(self) -> None:
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(8)
        layout.setVerticalSpacing(2)
        self.available.setFixedWidth(_LABEL_PX)
        self.value.setFixedWidth(_VALUE_PX)
        self.unit.setFixedWidth(_UNIT_PX)
        for column, widget in enumerate((self.available, self.value, self.unit, self.source)):
            layout.addWidget(widget, 0, column)
        layout.setColumnStretch(3, 1)
        layout.addWidget(self.problem, 1, 1, 1, 3)
        layout.addWidget(self.warning, 2, 1, 1, 3)

    def _on_available(self, checked: bool) -> None:
        self.availability_edited.emit(checked)
        if checked:
            self.value.setFocus(Qt.FocusReason.OtherFocusReason)
