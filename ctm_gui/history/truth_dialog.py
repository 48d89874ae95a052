"""The dialog that records a measured latency for a prediction."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialogButtonBox, QFormLayout, QWidget

from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import combo_box, hbox, label, vbox
from ctm_gui.widgets.fields import line_edit
from predictor.core.errors import InputError
from predictor.core.stored import StoredPrediction
from predictor.core.tags import MAX_NOTE
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import batch_of, configuration_text, latency_text, shown
from predictor.services.history.past_predictions import STATISTICS, NewTruth, plausible_ms
from predictor.services.history.truth import engine_ms


class TruthDialog(BaseDialog):
    """Asks for a latency, its unit, its statistic over the runs, and a note.

    Signals:
        recorded: the user has typed a latency: a NewTruth.
    """

    recorded = Signal(object)

    def __init__(
        self,
        stored: StoredPrediction,
        device_name: str,
        unit: LatencyUnit,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Record a measured latency", parent)
        self._stored = stored
        self._make_fields(unit)
        self._arrange(device_name)
        self.value_box.textChanged.connect(self._check)
        self.unit_box.currentIndexChanged.connect(self._check)
        self._check()
        self.value_box.setFocus()

    def accept(self) -> None:
        """Emit the latency and close."""
        self.recorded.emit(
            NewTruth(
                self.value_box.text(),
                LatencyUnit(self.unit_box.currentText()),
                STATISTICS[self.statistic_box.currentIndex()],
                self.note_box.text(),
            )
        )
        super().accept()

    def _make_fields(self, unit: LatencyUnit) -> None:
        self.value_box = line_edit("Measured latency")
        self.unit_box = combo_box("Unit", map(str, LatencyUnit))
        self.unit_box.setCurrentText(str(unit))
        self.statistic_box = combo_box("", map(str, STATISTICS))
        hint = "tool, driver, power mode, who measured…"
        self.note_box = line_edit("", maxLength=MAX_NOTE, placeholderText=hint)
        self.problem = label(role="muted")
        self.buttons = self.make_buttons("Record", QDialogButtonBox.StandardButton.Save)

    def _arrange(self, device_name: str) -> None:
        prediction = self._stored.prediction
        heading = label(
            f"{shown(prediction.model)} on {shown(device_name)}\n"
            f"{configuration_text(prediction.configuration)}, "
            f"batch {batch_of(prediction.configuration)}\n"
            f"Predicted: {self._text(engine_ms(prediction))}",
            wraps=False,
        )
        value = hbox((self.value_box, 1), self.unit_box)
        form = QFormLayout()
        form.addRow("&Latency", value)
        form.labelForField(value).setBuddy(self.value_box)  # type: ignore[attr-defined]
        form.addRow("&Statistic", self.statistic_box)
        form.addRow("&Note", self.note_box)
        vbox(heading, form, self.problem, self.buttons, of=self)

    def _check(self) -> None:
        """Show why the value is wrong, or its ratio to the prediction."""
        unit = LatencyUnit(self.unit_box.currentText())
        prediction = self._stored.prediction
        good, words = False, " "
        try:
            value_ms = plausible_ms(self.value_box.text(), unit, prediction)
        except InputError as error:
            if self.value_box.text().strip():
                words = f"{error.reason}; {error.action}."
        else:
            good = True
            predicted_ms = engine_ms(prediction)
            if predicted_ms:
                words = f"The prediction is {predicted_ms / value_ms:.3g} × this."
        self.problem.setText(words[:1].upper() + words[1:])
        self.buttons.button(QDialogButtonBox.StandardButton.Save).setEnabled(good)

    def _text(self, latency_ms: float | None) -> str:
        return latency_text(
            latency_ms,
            LatencyUnit(self.unit_box.currentText()),
            batch_of(self._stored.prediction.configuration),
        )
