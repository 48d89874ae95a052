"""The dialog that adds a further configuration of a device to the comparison."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QSpinBox, QWidget

from ctm_gui.targets.choice import TargetSelection, are_same
from ctm_gui.widgets.basic import combo_box, label, vbox
from predictor.core.records import Configuration, Device
from predictor.core.runtimes import CPUS, RUNTIMES
from predictor.core.wording import configuration_text, shown
from predictor.services.prediction.predict import supports


class VariantDialog(QDialog):
    """Asks for runtime, precision and threads of a device, and adds them to the selection."""

    def __init__(
        self, selection: TargetSelection, device: Device, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Add a variant")
        self._selection, self._device = selection, device
        self._make_fields()
        self._arrange()
        self._check()

    def accept(self) -> None:
        """Add the variant and close."""
        self._selection.add_variant(self._device, self._variant())
        super().accept()

    def _make_fields(self) -> None:
        device = self._device
        chosen = self._selection.configuration_of(device)
        listed = dict.fromkeys(str(each.precision) for each in device.configurations)
        self._precisions = {str(each.precision): each.precision for each in device.configurations}
        tried = (Configuration(name, chosen.precision) for name in RUNTIMES)
        able = [each.runtime for each in tried if supports(device, each)]
        self.runtime_box = combo_box("Runtime", dict.fromkeys([chosen.runtime, *able]))
        self.precision_box = combo_box("Precision", listed)
        self.precision_box.setCurrentText(str(chosen.precision))
        self.threads_box = QSpinBox()
        self.threads_box.setAccessibleName("Threads")
        self.threads_box.setRange(0, max(device.core_count or 0, chosen.threads))
        self.threads_box.setSpecialValueText("all threads")
        self.threads_box.setValue(chosen.threads)
        self.problem = label(role="muted")
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        self.buttons.button(kinds.Ok).setText("Add")

    def _arrange(self) -> None:
        form = QFormLayout()
        form.addRow("&Runtime", self.runtime_box)
        form.addRow("&Precision", self.precision_box)
        # Threads mean nothing on a GPU.
        if self._device.family in CPUS:
            form.addRow("&Threads", self.threads_box)
        heading = label(f"{shown(self._device.name)}, beside what is predicted of it", wraps=False)
        vbox(heading, form, self.problem, self.buttons, of=self)
        self.runtime_box.currentIndexChanged.connect(self._check)
        self.precision_box.currentIndexChanged.connect(self._check)
        self.threads_box.valueChanged.connect(self._check)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)

    def _variant(self) -> Configuration:
        return Configuration(
            self.runtime_box.currentText(),
            self._precisions[self.precision_box.currentText()],
            self.threads_box.value(),
        )

    def _check(self, *_: object) -> None:
        """Show why the variant cannot be added."""
        device, variant = self._device, self._variant()
        present = (
            self._selection.configuration_of(device),
            *self._selection.variants_of(device),
        )
        words = ""
        if any(are_same(device, variant, each) for each in present):
            words = f"{configuration_text(variant)} is predicted already."
        elif not supports(device, variant):
            words = "The device does not run it."
        self.problem.setText(words or " ")
        kinds = QDialogButtonBox.StandardButton
        self.buttons.button(kinds.Ok).setEnabled(not words)
