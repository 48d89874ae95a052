"""The dialog that adds a further configuration of a device to the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtWidgets import (
    QComboBox,
    QDialogButtonBox,
    QFormLayout,
    QListWidget,
    QWidget,
)

from ctm_gui.models.shelf import ModelShelf
from ctm_gui.targets.choice import TargetSelection, are_same
from ctm_gui.targets.ranking import ConfigurationRanking
from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import combo_box, explain_items, label, vbox
from ctm_gui.widgets.fields import MAX_BATCH, NumberBox
from predictor.core.errors import CtmError
from predictor.core.records import Configuration, Device
from predictor.core.runtimes import CPUS, RUNTIMES
from predictor.core.text import plural
from predictor.graph.model import Model
from predictor.presentation.wording import all_cores, shown, target_text
from predictor.services.prediction.targets import supports

if TYPE_CHECKING:
    from ctm_gui.targets.ranking import Ranked

_BATCHES = (1, 2, 4, 8, 16, 32, 64)
_TYPING_MS = 250
_LIST_MARGIN_PX = 28
_MAX_LIST_PX = 520


class VariantDialog(BaseDialog):
    """Asks for runtime, precision, threads and batch of a device, and adds them to the selection.

    What the device lists stands above the fields, the fastest first: a row fills the fields.

    Args:
        selection: gets the variant.
        shelf: reads the open models at the batch, and reports those that cannot run at it.
        ranking: predicts what the device lists.
        device: that the variant is of.
        parent: owner.
    """

    def __init__(
        self,
        selection: TargetSelection,
        shelf: ModelShelf,
        ranking: ConfigurationRanking,
        device: Device,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Add a variant", parent)
        self._selection, self._shelf, self._device = selection, shelf, device
        self._ranked_choices: Ranked = ()
        self._usual_batch = _usual_batch(shelf.models())
        # Typing a batch of 128 passes through 1 and 12.
        self._try_timer = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._make_fields()
        self._arrange()
        configurations = selection.choices(device)
        self._show_ranked(ranking.unpredicted(device, configurations))
        self._ranked = ranking.submit(device, configurations, self._show_ranked)
        self.finished.connect(lambda _: self._ranked.cancel())
        self._check()

    def accept(self) -> None:
        """Add the variant and close."""
        self._selection.add_variant(self._device, self._variant())
        super().accept()

    def _make_fields(self) -> None:
        device = self._device
        self.list = QListWidget()
        self.list.setAccessibleName("Configurations, the fastest first")
        self.list.setUniformItemSizes(True)
        chosen = self._selection.configuration_of(device)
        self._precisions = {str(item.precision): item.precision for item in device.configurations}
        tried = (Configuration(name, chosen.precision) for name in RUNTIMES)
        able = [item.runtime for item in tried if supports(device, item)]
        self.runtime_box = combo_box("Runtime", dict.fromkeys([chosen.runtime, *able]))
        self.precision_box = combo_box("Precision", self._precisions)
        explain_items(self.precision_box, [item.explanation for item in self._precisions.values()])
        self.precision_box.setCurrentText(str(chosen.precision))
        usual = all_cores(device.threads_in_use(0))
        self.threads_box = NumberBox(specialValueText=usual, accessibleName="Threads")
        self.threads_box.setMaximum(max(device.core_count or 0, chosen.threads))
        self.threads_box.setValue(chosen.threads)
        self.batch_box = combo_box("Batch", [self._usual_batch, *map(str, _BATCHES)])
        self.batch_box.setEditable(True)
        self.batch_box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.batch_box.setToolTip("Inputs of one call. Choose a number or type one.")
        self.problem = label(role="muted")
        self.buttons = self.make_buttons("Add")

    def _arrange(self) -> None:
        form = QFormLayout()
        form.addRow("&Runtime", self.runtime_box)
        form.addRow("&Precision", self.precision_box)
        # Threads mean nothing on a GPU.
        if self._device.family in CPUS:
            form.addRow("&Threads", self.threads_box)
        form.addRow("&Batch", self.batch_box)
        heading = label(f"{shown(self._device.name)}, beside what is predicted of it", wraps=False)
        vbox(heading, (self.list, 1), form, self.problem, self.buttons, of=self)
        self.list.currentRowChanged.connect(self._on_row)
        self.list.itemDoubleClicked.connect(self._on_double_click)
        self.runtime_box.currentIndexChanged.connect(self._check)
        self.precision_box.currentIndexChanged.connect(self._check)
        self.threads_box.valueChanged.connect(self._check)
        self.batch_box.editTextChanged.connect(self._on_batch)
        self._try_timer.timeout.connect(self._try_batch)
        self._shelf.batch_read.connect(self._check)
        self.finished.connect(lambda _: self._shelf.try_batch(None))

    def _batch(self) -> int | None:
        """Return the batch, 0 for each model's own; None where what was typed is no batch."""
        text = self.batch_box.currentText().strip()
        if text == self._usual_batch:
            return 0
        return int(text) if text.isdecimal() and 1 <= int(text) <= MAX_BATCH else None

    def _variant(self) -> Configuration:
        return Configuration(
            self.runtime_box.currentText(),
            self._precisions[self.precision_box.currentText()],
            self.threads_box.value(),
            self._batch() or 0,
        )

    def _show_ranked(self, ranked: Ranked) -> None:
        """List configurations; the current one stays so at its new place."""
        row = self.list.currentRow()
        current = self._ranked_choices[row].configuration if row >= 0 else None
        self._ranked_choices = ranked
        with QSignalBlocker(self.list):
            self.list.clear()
            self.list.addItems([item.words for item in ranked])
            places = [item.configuration for item in ranked]
            self.list.setCurrentRow(places.index(current) if current in places else -1)
        widest = self.list.sizeHintForColumn(0) + _LIST_MARGIN_PX
        self.list.setMinimumWidth(min(widest, _MAX_LIST_PX))

    def _on_row(self, row: int) -> None:
        """Fill the fields with a configuration of the list."""
        if row < 0:
            return
        configurations = self._ranked_choices[row].configuration
        self.runtime_box.setCurrentText(configurations.runtime)
        self.precision_box.setCurrentText(str(configurations.precision))
        self.threads_box.setValue(configurations.threads)

    def _on_double_click(self) -> None:
        if self.buttons.button(QDialogButtonBox.StandardButton.Ok).isEnabled():
            self.accept()

    def _on_batch(self) -> None:
        self._try_timer.start()
        self._check()

    def _try_batch(self) -> None:
        self._shelf.try_batch(self._batch() or None)
        self._check()

    def _check(self, *_: object) -> None:
        """Show why the variant cannot be added, or which models will have no number."""
        words, is_possible = self._problem()
        self.problem.setText(words or " ")
        kinds = QDialogButtonBox.StandardButton
        self.buttons.button(kinds.Ok).setEnabled(is_possible)

    def _problem(self) -> tuple[str, bool]:
        """Return a sentence on the variant, and whether it can be added."""
        device, variant = self._device, self._variant()
        if self._batch() is None:
            return f"A batch is a number from 1 to {MAX_BATCH}.", False
        if not supports(device, variant):
            return "The device does not run it.", False
        readings = self._shelf.readings_at(variant.batch) if variant.batch else {}
        chosen = self._selection.configuration_of(device)
        present = [chosen, *self._selection.variants_of(device)]
        unbatched = replace(variant, batch=0)
        # A batch that is every model's own gives the row that is there.
        is_default_batch = bool(readings) and set(readings.values()) <= set(self._shelf.models())
        if any(
            are_same(device, item, unbatched if is_default_batch else variant) for item in present
        ):
            return f"{target_text(variant)} is predicted already.", False
        return _at_batch(readings, variant.batch)


def _usual_batch(models: Sequence[Model]) -> str:
    """Return the words for each model's own batch: ``auto: 1``, where it is that of all."""
    from predictor.services.prediction.predict import model_batch  # not needed at a start

    batches = {model_batch(model) for model in models}
    return f"auto: {batches.pop()}" if len(batches) == 1 else "auto: each model's own"


def _at_batch(readings: Mapping[str, Model | CtmError | None], batch: int) -> tuple[str, bool]:
    """Return which models cannot run at a batch, and whether one of them can."""
    if None in readings.values():
        return f"Reading {plural(len(readings), 'model')} at batch {batch}…", False
    refused = [(name, item) for name, item in readings.items() if isinstance(item, CtmError)]
    if not refused:
        return "", True
    name, error = refused[0]
    more = len(refused) - 1
    more_models = f" So it is with {plural(more, 'other model')}." if more else ""
    words = f"{shown(name)}: {error.reason}; {error.action}.{more_models}"
    return words, len(refused) < len(readings)
