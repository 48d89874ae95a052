"""The boxes that choose the model and the target that a tab is about, over what would change it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ctm_gui.widgets.basic import combo_box, fill, fill_box, label, named, vbox
from predictor.presentation.wording import shown


class PairChoice(QWidget):
    """A box of models and a box of targets, and a sentence on what would change the prediction.

    Signals:
        choice_changed: the user chose another model or target: their indices.
    """

    choice_changed = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self.model_box = combo_box("Model", letters=16)
        self.target_box = combo_box("Target", letters=16)
        self.sentence = label(name="What would change it", selectable=True)
        layout = fill(QHBoxLayout(), margins=0)
        vbox(layout, self.sentence, of=self, margins=0)
        for text, box in (("&Model", self.model_box), ("Ta&rget", self.target_box)):
            fill(layout, named(text, box), (box, 1))
            box.setEnabled(False)
            box.activated.connect(self._emit_choice)

    def set_choices(
        self, models: Sequence[str], targets: Sequence[str], choice: tuple[int, int] | None
    ) -> None:
        """Offer models and targets, and choose one of each, which emits nothing.

        Args:
            models: their labels.
            targets: their names.
            choice: index of the model and of the target; None keeps what is chosen, where it still
                exists.
        """
        boxes = (self.model_box, models), (self.target_box, targets)
        for (box, names), place in zip(boxes, choice or (None, None), strict=True):
            texts = [shown(name) for name in names]
            fill_box(box, texts, box.currentText() if place is None else place)
            for index, text in enumerate(texts):
                box.setItemData(index, text, Qt.ItemDataRole.AccessibleTextRole)
            box.setEnabled(bool(texts))

    def show_sentence(self, text: str, details: str) -> None:
        """Show what would change the prediction; all of it as the tip."""
        self.sentence.setText(text)
        self.sentence.setToolTip(details)

    def _emit_choice(self, *_: object) -> None:
        self.choice_changed.emit(self.model_box.currentIndex(), self.target_box.currentIndex())
