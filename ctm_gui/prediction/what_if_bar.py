"""The tool bar: what-if batch, precision and threads, and the unit of every latency."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QWidget

from ctm_gui.prediction.comparison import WhatIf
from ctm_gui.widgets.basic import STRETCH, button, combo_box, explain_items, fill, label, named
from ctm_gui.widgets.fields import NumberBox
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.records import Precision
from predictor.core.units import LatencyUnit

MAX_BATCH = 65_536
MAX_THREADS = 1024
_PRECISIONS = (None, *Precision)
# Tooltip and explanation ("What's This?") of each control.
_BATCH = (
    "Batch of every model",
    (
        "How many inputs one run takes, for every model in place of its own. The models are read "
        "again with it; where an operator pins the batch, the row of the model says which one."
    ),
)
_PRECISION = (
    "Arithmetic of every target",
    (
        "The arithmetic of every target in place of its default. A target that does not support "
        "it has no number. INT8 on a model of floats means that the whole model is quantised."
    ),
)
_THREADS = (
    "CPU threads of every target",
    (
        "How many threads every CPU target uses in place of its default. Targets without "
        "threads are not changed."
    ),
)
_UNIT = (
    "Unit of every latency; FPS is batch / latency",
    (
        "The unit of every latency in the window, in what is copied and in reports. FPS, frames a "
        "second, is batch divided by latency."
    ),
)
_RESET = (
    "Back to the defaults of models and devices",
    "Sets batch, precision and threads back to the defaults of models and devices.",
)


class WhatIfBar(QWidget):
    """Controls that predict again at once; the usual value of each is its first.

    ``reset_requested`` is emitted to have all of them as usual.

    Args:
        options: the unit.
    """

    batch_changed = Signal(object)
    precision_changed = Signal(object)
    threads_changed = Signal(object)
    reset_requested = Signal()

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        self.batch = _spin_box(MAX_BATCH, "model default", "Batch", _BATCH)
        self.threads = _spin_box(MAX_THREADS, "default", "Threads", _THREADS)
        self.precision = combo_box(
            "Precision", ["default", *(precision.words for precision in Precision)]
        )
        explain_items(self.precision, ["", *(precision.explanation for precision in Precision)])
        _explain(self.precision, _PRECISION)
        self.unit = combo_box("Unit", [unit.value for unit in LatencyUnit])
        _explain(self.unit, _UNIT)
        self.reset = button("Reset", act=self.reset_requested.emit, name="Reset what-ifs")
        _explain(self.reset, _RESET)
        self._arrange()
        self._show_unit()
        self._connect()
        self._show_reset()

    def show_what_if(self, what_if: WhatIf) -> None:
        """Show values that were set elsewhere."""
        self.batch.setValue(what_if.batch or 0)
        self.threads.setValue(what_if.threads or 0)
        self.precision.setCurrentIndex(_PRECISIONS.index(what_if.precision))

    def _arrange(self) -> None:
        controls = [("Batch", self.batch), ("Precision", self.precision), ("Threads", self.threads)]
        layout = fill(QHBoxLayout(self), label("What if", "heading", wraps=False), margins=0)
        layout.setSpacing(6)
        for text, control in controls:
            fill(layout, named(text, control), control, 6)
        fill(layout, self.reset, STRETCH, named("Unit", self.unit), self.unit, 6)

    def _connect(self) -> None:
        self.batch.valueChanged.connect(lambda value: self.batch_changed.emit(value or None))
        self.threads.valueChanged.connect(lambda value: self.threads_changed.emit(value or None))
        self.precision.currentIndexChanged.connect(
            lambda index: self.precision_changed.emit(_PRECISIONS[index])
        )
        self.unit.currentIndexChanged.connect(
            lambda index: self._options.set_unit(list(LatencyUnit)[index])
        )
        self._options.unit_changed.connect(self._show_unit)
        for signal in (self.batch.valueChanged, self.threads.valueChanged):
            signal.connect(self._show_reset)
        self.precision.currentIndexChanged.connect(self._show_reset)

    def _show_unit(self) -> None:
        self.unit.setCurrentIndex(list(LatencyUnit).index(self._options.unit))

    def _show_reset(self) -> None:
        self.reset.setEnabled(
            bool(self.batch.value() or self.threads.value() or self.precision.currentIndex())
        )


def _spin_box(maximum: int, usual: str, name: str, words: tuple[str, str]) -> QSpinBox:
    # Zero stands for "as usual" and is shown in words.
    box = NumberBox(maximum=maximum, specialValueText=usual, accessibleName=name)
    box.setMinimumWidth(110)
    _explain(box, words)
    return box


def _explain(widget: QWidget, words: tuple[str, str]) -> None:
    tip, explanation = words
    widget.setToolTip(tip)
    widget.setWhatsThis(explanation)
