"""The dialog of one target's what-ifs: batch, precision and threads, predicted as they change."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QDialogButtonBox, QFormLayout, QWidget

from ctm_gui.targets.choice import TargetSelection
from ctm_gui.targets.what_ifs import WhatIf
from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import combo_box, explain_items, label, vbox
from ctm_gui.widgets.fields import MAX_BATCH, MAX_THREADS, NumberBox
from predictor.core.records import Device, Precision
from predictor.core.runtimes import CPUS
from predictor.presentation.wording import shown, target_text

_PRECISIONS = (None, *Precision)
# Typing a batch of 128 passes through 1 and 12.
_TYPING_MS = 250
_BATCH = (
    "How many inputs one run takes, in place of the model's own. The models are read again with "
    "it; where an operator pins the batch, the row of the model says which one."
)
_PRECISION = (
    "The arithmetic in place of the target's own. A target that does not support it has no "
    "number. INT8 on a model of floats means that the whole model is quantised."
)
_THREADS = "How many threads the processor uses, in place of the target's own."
_INTRODUCTION = "The numbers follow at once. A line over them says so until you reset it."


class WhatIfDialog(BaseDialog):
    """Fields of which the usual value of each is its first; they stay when it is closed.

    Args:
        selection: gets the what-if of the device.
        device: that is predicted otherwise.
        parent: owner.
    """

    def __init__(
        self, selection: TargetSelection, device: Device, parent: QWidget | None = None
    ) -> None:
        super().__init__("What if", parent)
        self._selection, self._device = selection, device
        usual = selection.configuration_of(device)
        what_if = selection.what_ifs.get(device.id, WhatIf())
        self.batch = _number(MAX_BATCH, "Batch", usual.batch, what_if.batch, "the model's own")
        self.threads = _number(MAX_THREADS, "Threads", usual.threads, what_if.threads, "all")
        words = [f"as now ({usual.precision.words})", *(item.words for item in Precision)]
        self.precision = combo_box("Precision", words)
        explain_items(self.precision, ["", *(item.explanation for item in Precision)])
        self.precision.setCurrentIndex(_PRECISIONS.index(what_if.precision))
        for field, text in (
            (self.batch, _BATCH), (self.precision, _PRECISION), (self.threads, _THREADS),
        ):  # fmt: skip
            field.setToolTip(text)
            field.setWhatsThis(text)
        self._timer = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._timer.timeout.connect(self._apply)
        self._arrange(target_text(usual))
        self.batch.valueChanged.connect(lambda _: self._timer.start())
        self.threads.valueChanged.connect(lambda _: self._timer.start())
        self.precision.currentIndexChanged.connect(lambda _: self._apply())
        self.finished.connect(lambda _: self._apply())

    @property
    def what_if(self) -> WhatIf:
        """The what-if of the fields, empty where each is as now."""
        return WhatIf(
            self.batch.value() or None,
            _PRECISIONS[self.precision.currentIndex()],
            self.threads.value() or None,
        )

    def _arrange(self, usual: str) -> None:
        form = QFormLayout()
        form.addRow("&Batch", self.batch)
        form.addRow("&Precision", self.precision)
        # Threads mean nothing on a GPU.
        if self._device.family in CPUS:
            form.addRow("&Threads", self.threads)
        heading = label(f"{shown(self._device.name)} ({usual})", "heading", wraps=False)
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Reset | kinds.Close)
        self.buttons.button(kinds.Reset).clicked.connect(self._reset)
        self.buttons.rejected.connect(self.close)
        vbox(heading, label(_INTRODUCTION, "muted"), form, self.buttons, of=self)

    def _apply(self) -> None:
        self._timer.stop()
        self._selection.set_what_if(self._device, self.what_if)

    def _reset(self) -> None:
        self.batch.setValue(0)
        self.threads.setValue(0)
        self.precision.setCurrentIndex(0)
        self._apply()


def _number(maximum: int, name: str, usual: int, value: int | None, none: str) -> NumberBox:
    # Zero stands for "as now" and is shown in words.
    text = f"as now ({usual or none})"
    box = NumberBox(maximum=maximum, specialValueText=text, accessibleName=name)
    box.setValue(value or 0)
    return box
