"""The Pareto page of Compare: latency on one target against a score that the user types."""

from __future__ import annotations

from contextlib import suppress

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QWidget

from ctm_gui.compare.matrix import VariantsPresenter
from ctm_gui.compare.pareto import (
    SCORE,
    ScoresGrid,
    prefers_log_axis,
    trade_off,
    trade_off_sentence,
)
from ctm_gui.compare.pareto_plot import ParetoPlot
from ctm_gui.compare.scores import Scores, parse_score
from ctm_gui.widgets.basic import (
    ContentOrMessage,
    combo_box,
    fill_box,
    hbox,
    label,
    named,
    splitter,
    vbox,
)
from ctm_gui.widgets.fields import line_edit
from ctm_gui.widgets.grid_model import EditedGridModel
from ctm_gui.widgets.save_plot import save_button
from ctm_gui.widgets.table_view import GridView, copy_button
from ctm_gui.widgets.view_options import ViewOptions

_MODEL_PX, _SCORE_PX = 150, 100
_TRIGGERS = (
    QAbstractItemView.EditTrigger.DoubleClicked
    | QAbstractItemView.EditTrigger.EditKeyPressed
    | QAbstractItemView.EditTrigger.AnyKeyPressed
    | QAbstractItemView.EditTrigger.SelectedClicked
)


class ParetoView(QWidget):
    """A plot, and beside it the table in which scores are typed.

    Args:
        options: unit, budget and theme.
        variants: the models.
        scores: of the models.
    """

    def __init__(self, options: ViewOptions, variants: VariantsPresenter, scores: Scores) -> None:
        super().__init__()
        self._options = options
        self._variants, self._scores = variants, scores
        self._scaled = False
        self._model = EditedGridModel(parent=self)
        min_width_px = {"model": _MODEL_PX, SCORE: _SCORE_PX}
        self.table = GridView(self._model, "Scores of the models", min_width_px)
        self.table.setEditTriggers(_TRIGGERS)
        self.plot = ParetoPlot(options)
        self._make_controls()
        self._arrange()
        self._connect()

    def follow(self) -> None:
        """Show the models of the present matrix; the target stays where it is in it."""
        matrix = self._variants.matrix
        if matrix is not None:
            names = [matrix.target_title(t).replace("\n", ", ") for t in range(len(matrix.targets))]
            fill_box(self.target_box, names, self.target_box.currentText())
        self._refresh()

    def focus_search(self) -> None:
        """Go to the scores: there is nothing to search."""
        self.table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _make_controls(self) -> None:
        self.summary = label(role="heading", name="Summary of the plot")
        self.target_box = combo_box("Target of the plot", letters=14)
        tip = "What the scores are: accuracy, mAP, word error rate."
        self.name_box = line_edit("What the scores are", self._scores.name, toolTip=tip)
        self.name_box.setMinimumWidth(100)
        self.name_box.setMaximumWidth(160)
        self.higher_box = QCheckBox("Higher is &better")
        self.higher_box.setChecked(self._scores.higher_is_better)
        self.log_box = QCheckBox("&Log scale")
        self.save_button = save_button("pareto", self.plot.save)

    def _arrange(self) -> None:
        controls = hbox(
            named("Ta&rget", self.target_box),
            (self.target_box, 1),
            8,
            named("S&core", self.name_box),
            self.name_box,
            8,
            self.higher_box,
            self.log_box,
            8,
            copy_button(self.table),
            self.save_button,
        )
        self._stack = ContentOrMessage(self.plot)
        parts = splitter(
            Qt.Orientation.Horizontal, self._stack, self.table, sizes=(480, 520), stretch=(3, 2)
        )
        vbox(self.summary, controls, (parts, 1), of=self)

    def _connect(self) -> None:
        self.target_box.activated.connect(self._refresh)
        self.name_box.editingFinished.connect(lambda: self._scores.set_name(self.name_box.text()))
        self.higher_box.toggled.connect(
            lambda higher: self._scores.set_higher_is_better(higher=higher)
        )
        self.log_box.toggled.connect(lambda log: self.plot.set_log(log=log))
        self.plot.model_chosen.connect(lambda model: self.table.select_rows([model], model))
        self.table.rows_selected.connect(lambda _, current: self.plot.select(current))
        self.table.row_activated.connect(self._edit)
        self._model.edited.connect(self._on_score)
        # Not at once: the table still takes itself for edited. Not queued: the editor is deleted.
        self.table.itemDelegate().closeEditor.connect(
            lambda *_: QTimer.singleShot(0, self, self._refresh)
        )
        self._scores.changed.connect(self._refresh)
        self._options.unit_changed.connect(self._refresh)
        self._options.budget_changed.connect(self._refresh)

    def _refresh(self, *_: object) -> None:
        matrix, target = self._variants.matrix, self.target_box.currentIndex()
        if self.table.is_edited:
            return  # what is typed would be lost; it follows when the editor closes
        if matrix is None or not 0 <= target < len(matrix.targets):
            return
        points = trade_off(
            matrix,
            target,
            self._scores.of_all(matrix.models),
            score_name=self._scores.name,
            higher_is_better=self._scores.higher_is_better,
            unit=self._options.unit,
            budget_ms=self._options.budget_ms,
        )
        self.table.show_grid(ScoresGrid(points))
        self.table.fit_columns()  # what is said of a model is longer once it has a score
        sentence, has_points = trade_off_sentence(points), bool(points.is_placed.any())
        self.summary.setText(sentence)
        self.summary.setVisible(has_points)
        if has_points:
            self._stack.show_content()
        else:
            self._stack.show_message(sentence)
        if not self._scaled and points.is_placed.sum() > 1:
            self._scaled = True  # from then on the scale is the user's
            self.log_box.setChecked(prefers_log_axis(points))
        self.plot.show_trade_off(points)

    def _on_score(self, model: int, _: str, text: str) -> None:
        matrix = self._variants.matrix
        with suppress(ValueError):  # a text that is no number changes nothing
            if matrix is not None:
                self._scores.set(matrix.models[model], parse_score(text))

    def _edit(self, model: int) -> None:
        """Type the score of a model."""
        places = self._model.grid.positions([model])
        if places.size:
            self.table.edit(self._model.index(int(places[0]), self.table.column(SCORE)))
