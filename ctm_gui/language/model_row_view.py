"""The open language model below the list of models."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from ctm_gui.language.presenter import LanguagePresenter
from ctm_gui.widgets.basic import ElidedLabel, hbox, tool_button, vbox
from predictor.presentation.wording import shown
from predictor.services.generation.document import size_of

_MIN_NAME_PX = 40


class LanguageModelRow(QWidget):
    """Name and size of the language model; hidden while none is open.

    ``chosen`` asks for its page.

    Args:
        presenter: of the language model.
    """

    chosen = Signal()

    def __init__(self, presenter: LanguagePresenter) -> None:
        super().__init__()
        self._presenter = presenter
        self.name = _name_button()
        self.name.setAccessibleName("Language model")
        self.name.clicked.connect(self.chosen)
        self.facts = ElidedLabel()
        self.facts.setProperty("role", "muted")
        self.close_button = tool_button("✕", "Close the language model", "Close the language model")
        self.close_button.setAutoRaise(True)
        self.close_button.clicked.connect(presenter.close_model)
        head = hbox((self.name, 1), self.close_button, spacing=4)
        vbox(head, self.facts, of=self, margins=(0, 0, 0, 4), spacing=0)
        presenter.state_changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        model = self._presenter.state.model
        self.setVisible(model is not None)
        if model is not None:
            name, size = shown(model.architecture.name), size_of(model.architecture)
            self.name.setText(name)
            self.name.setToolTip(f"{name}: tokens a second and memory in the tab LLM")
            self.name.setAccessibleName(f"Language model {name}: {size}")
            self.facts.set_full_text(f"language model · {size}")


def _name_button() -> QPushButton:
    """Return a flat button as wide as its column, whose text begins at the left."""
    made = QPushButton(flat=True)
    made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    made.setMinimumWidth(_MIN_NAME_PX)
    made.setProperty("role", "heading")
    return made
