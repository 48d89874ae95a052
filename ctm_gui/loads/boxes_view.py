"""The tab of boxes that carry the load, those of the fewest joules first."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from ctm_gui.loads.presenter import LoadPresenter
from ctm_gui.loads.rows import BoxesGrid
from ctm_gui.loads.work import MAX_HOLDING
from ctm_gui.widgets.basic import (
    STRETCH,
    ContentOrMessage,
    button,
    combo_box,
    hbox,
    holder,
    label,
    named,
    vbox,
)
from ctm_gui.widgets.filtered_table import FilteredTable
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.metrics import Family
from predictor.core.text import capitalised
from predictor.presentation.metric_labels import FAMILY_WORDS
from predictor.services.loads.choice import BoxChoice
from predictor.services.loads.records import Load
from predictor.services.loads.sentences import choice_sentence

_MIN_WIDTHS_PX = {"box": 220, "problem": 160}


class BoxesView(QWidget):
    """A button that asks, and the table of its answer.

    Args:
        options: the theme.
        presenter: of the load.

    Signals:
        used: the load runs on a box of the table from now on.
    """

    used = Signal()

    def __init__(self, options: ViewOptions, presenter: LoadPresenter) -> None:
        super().__init__()
        self._options, self._presenter = options, presenter
        self.ask_button = button(
            "&Which Boxes Hold This?",
            "Try the boxes that ship and yours, at their usual clocks and in their power modes.",
            self._ask,
        )
        self.scope_box = combo_box("What is tried")
        self.scope_box.addItem("All boxes", None)
        for family in Family:
            words = FAMILY_WORDS[family]
            self.scope_box.addItem(f"Each {words} alone", family)
        self.table = FilteredTable(
            GridModel(), "Boxes", "Search box or mode (Ctrl+F)", _MIN_WIDTHS_PX
        )
        self.sentence = label(role="heading", name="Which boxes hold the load", selectable=True)
        self.use_button = button("Use This Box", "Run the load on the selected box.", self._use)
        search = hbox(
            (self.table.search_box, 1), self.table.matches, self.table.copy_button, self.use_button
        )
        content = holder(self.sentence, search, (self.table, 1))
        self.content = ContentOrMessage(content, name="Why no box is listed")
        ask = hbox(self.ask_button, named("Of", self.scope_box), self.scope_box, STRETCH)
        vbox(ask, (self.content, 1), of=self)
        self.table.row_activated.connect(self._use_row)
        presenter.choice_changed.connect(self._show)
        self._show()

    def _ask(self) -> None:
        self._presenter.choose(self.scope_box.currentData())

    def _use(self) -> None:
        row = self.table.current_row()
        if row is not None:
            self._use_row(row)

    def _use_row(self, row: int) -> None:
        choice = self._presenter.choice
        if choice is not None:
            self._presenter.use_candidate(choice.candidates[row].box)
            self.used.emit()

    def _show(self) -> None:
        choice, prepared = self._presenter.choice, self._presenter.prepared
        if choice is None or prepared is None:
            words = f"Trying boxes until {MAX_HOLDING} of them hold…"
            message = self._presenter.choice_message
            self.content.show_message(words if self._presenter.choosing else message)
            return
        self._show_choice(choice, prepared.load)

    def _show_choice(self, choice: BoxChoice, load: Load) -> None:
        self.sentence.setText(capitalised(choice_sentence(load, choice)))
        self.table.show_grid(BoxesGrid(choice.candidates, load))
        self.table.fit_columns()
        self.content.show_content()
