"""The page of Compare about two models: operators added, removed, changed, and time moved."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from ctm_gui.compare.difference import (
    TIME_CHANGE,
    DifferenceGrid,
    DifferencePresenter,
    ModelDifference,
    TargetsGrid,
    difference_summary,
)
from ctm_gui.prediction.comparison import place_of, target_names
from ctm_gui.widgets.basic import (
    ContentOrMessage,
    button,
    combo_box,
    fill_box,
    hbox,
    holder,
    label,
    named,
    splitter,
    vbox,
)
from ctm_gui.widgets.filtered_table import PATH_ELIDE, PATH_PX, FilteredTable
from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.ordering import BoolArray
from ctm_gui.widgets.table_view import GridView
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.records import RunId
from predictor.presentation.wording import shown
from predictor.services.prediction.operator_difference import Change

_DEVICE_PX = 180
_CHANGES = (None, *Change)


class DifferenceView(QWidget):
    """Two models side by side: by target above, operator by operator below.

    Args:
        options: the unit.
        presenter: the two models.
    """

    def __init__(self, options: ViewOptions, presenter: DifferencePresenter) -> None:
        super().__init__()
        self._options, self._presenter = options, presenter
        self._difference: ModelDifference | None = None
        self._run_id: RunId | None = None
        self.targets = GridView(GridModel(), "Time moved by target", {"device": _DEVICE_PX})
        self.table = FilteredTable(
            GridModel(), "Operators of both models", min_width_px={"name": PATH_PX}
        )
        self.table.setTextElideMode(PATH_ELIDE)
        self.table.mask_of = self._mask
        self._make_controls()
        self._arrange()
        self._connect()

    def follow(self) -> None:
        """Offer the models, and show which two are chosen."""
        presenter = self._presenter
        labels = [shown(compared.label) for compared in presenter.models]
        for box, chosen in zip((self.first_box, self.second_box), presenter.choice, strict=True):
            fill_box(box, labels, chosen if chosen < len(labels) else -1)
            box.setEnabled(len(labels) > 1)
        # What came while another page was looked at, or what it waits for.
        if presenter.difference is not self._difference:
            self.show_difference()
        elif presenter.difference is None:
            self._stack.show_message(presenter.message)

    def show_difference(self) -> None:
        """Show two models' operators, or say why there are none; targets may come part by part."""
        difference = self._presenter.difference
        before, self._difference = self._difference, difference
        if difference is not None and before is not None and self._follows(before, difference):
            self._show_targets(difference)
            return
        if difference is None:
            self.targets.show_nothing()
            self.table.show_nothing()
            self._stack.show_message(self._presenter.message)
        else:
            self._stack.show_content()
        self._refresh()
        self.targets.fit_columns()
        self.table.fit_columns()

    def choose_target(self, target: RunId) -> None:
        """Show where the time goes on a target."""
        self._run_id = target
        self._show_operators()

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        self.table.focus_search()

    def _make_controls(self) -> None:
        self.first_box = combo_box("First model", letters=16)
        self.second_box = combo_box("Second model", letters=16)
        self.exchange_button = button(
            "S&wap", "Compare the other way round.", self._presenter.exchange
        )
        changes = ["All operators" if c is None else c.capitalize() for c in _CHANGES]
        self.change_box = combo_box("Operators shown", changes)
        self.summary = label(role="heading", name="Summary of the difference")
        self.target_label = label(role="muted", wraps=False)

    def _arrange(self) -> None:
        choices = hbox(
            named("Fi&rst", self.first_box),
            (self.first_box, 1),
            named("Seco&nd", self.second_box),
            (self.second_box, 1),
            self.exchange_button,
        )
        controls = hbox(
            (self.target_label, 1),
            (self.table.search_box, 1),
            self.table.matches,
            self.change_box,
            self.table.copy_button,
        )
        operators = holder(controls, (self.table, 1))
        parts = splitter(
            Qt.Orientation.Vertical, self.targets, operators, sizes=(240, 480), stretch=(0, 1)
        )
        self._stack = ContentOrMessage(parts)
        vbox(self.summary, choices, (self._stack, 1), of=self)

    def _connect(self) -> None:
        first, second = self.first_box, self.second_box
        for box in (first, second):
            box.activated.connect(
                lambda _: self._presenter.choose(first.currentIndex(), second.currentIndex())
            )
        self.change_box.currentIndexChanged.connect(self.table.filter)
        self.targets.rows_selected.connect(self._on_target)
        self._options.unit_changed.connect(self._refresh)

    def _refresh(self) -> None:
        difference = self._difference
        self.summary.setVisible(difference is not None)
        if difference is None:
            return
        self.summary.setText(difference_summary(difference))
        self._show_targets(difference)
        self._show_operators()

    def _follows(self, before: ModelDifference, difference: ModelDifference) -> bool:
        """Whether the change adds targets without affecting the current one."""
        target = self._target_of(difference)
        old, new = (d.times[target : target + 1] for d in (before, difference))
        same_times = [*map(id, old)] == [*map(id, new)]
        if not same_times or target >= len(before.targets):
            return False
        return before.on(target).operators is difference.on(target).operators

    def _target_of(self, difference: ModelDifference) -> int:
        return place_of(difference.targets, self._run_id)

    def _show_targets(self, difference: ModelDifference) -> None:
        self.targets.show_grid(TargetsGrid(difference, self._options.unit))

    def _show_operators(self) -> None:
        difference = self._difference
        if difference is None:
            return
        target = self._target_of(difference)
        if difference.targets:
            name = target_names(difference.targets)[target]
            self.target_label.setText(f"Times on {shown(name)}")
        is_first = not self.table.grid_model.grid.columns
        self.table.show_grid(DifferenceGrid(difference, target, self._options.unit))
        if is_first:
            self.table.sort_by(TIME_CHANGE, descending=True)

    def _mask(self, grid: Grid) -> BoolArray:
        if not isinstance(grid, DifferenceGrid):
            return np.ones(grid.count, dtype=np.bool_)
        return grid.mask(self.table.words, _CHANGES[self.change_box.currentIndex()])

    def _on_target(self, _: object, current: int | None) -> None:
        if self._difference is not None and current is not None:
            chosen = self._difference.targets[current].run_id
            if chosen != self._run_id:
                self._run_id = chosen
                self._show_operators()
