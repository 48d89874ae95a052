"""The page of Compare about two models: operators added, removed, changed, and time moved."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QWidget,
)

from ctm_gui.models.grid_model import GridModel
from ctm_gui.presenters.difference import DifferencePresenter, ModelDifference
from ctm_gui.presenters.difference_grid import (
    MOVED,
    DifferenceGrid,
    TargetsGrid,
    difference_summary,
)
from ctm_gui.presenters.grid import Grid
from ctm_gui.views.parts import (
    add_labelled,
    bare_column,
    choice_box,
    empty_label,
    focus_on,
    plain_label,
    push_button,
    search_box,
    splitter,
    stacked,
)
from ctm_gui.views.tables import GridView, copy_button
from predictor.core.units import LatencyUnit
from predictor.core.wording import shown
from predictor.services.prediction.operator_difference import Change

_DEVICE_PX, _NAME_PX = 180, 220
_CHANGES = (None, *Change)


class DifferenceView(QWidget):
    """Two models side by side: by target above, operator by operator below.

    Signals:
        models_chosen: the user chose two models: their indices.
        exchange_asked: the user wants them the other way round.
    """

    models_chosen = Signal(int, int)
    exchange_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._difference: ModelDifference | None = None
        self._unit = LatencyUnit.MS
        self._target_id = ""
        self._targets_model = GridModel(Grid(0, ()), self)
        self.targets = GridView(self._targets_model, "Time moved by target")
        self.targets.set_least_width("device", _DEVICE_PX)
        self._model = GridModel(Grid(0, ()), self)
        self.table = GridView(self._model, "Operators of both models")
        self.table.set_least_width("name", _NAME_PX)
        self._make_controls()
        self._arrange()
        self._connect()

    def show_choices(self, desk: DifferencePresenter) -> None:
        """Offer the models, and show which two are chosen."""
        labels = [shown(compared.label) for compared in desk.models]
        for box, chosen in zip((self.first_box, self.second_box), desk.choice, strict=True):
            with QSignalBlocker(box):
                box.clear()
                box.addItems(labels)
                box.setCurrentIndex(chosen if chosen < len(labels) else -1)
            box.setEnabled(len(labels) > 1)

    def show_difference(self, difference: ModelDifference | None, message: str) -> None:
        """Show two models' operators, or say why there are none; targets may come part by part."""
        before, self._difference = self._difference, difference
        if difference is not None and before is not None and self._follows(before, difference):
            self._show_targets(difference)
            return
        self._message.setText(message)
        self._stack.setCurrentWidget(self._message if difference is None else self._parts)
        self._refresh()
        self.targets.fit_columns()
        self.table.fit_columns()

    def choose_target(self, device_id: str) -> None:
        """Show where the time goes on a target."""
        self._target_id = device_id
        self._show_operators()

    def set_unit(self, unit: LatencyUnit) -> None:
        """Show times in ``unit``; milliseconds where it is a rate."""
        self._unit = unit
        self._refresh()

    def focus_search(self) -> None:
        """Put the cursor into the search box."""
        focus_on(self.search_box)

    def _make_controls(self) -> None:
        self.first_box, self.second_box = choice_box("First model"), choice_box("Second model")
        self.exchange_button = push_button("E&xchange", "Compare the other way round.")
        self.change_box = QComboBox()
        for change in _CHANGES:
            self.change_box.addItem("All operators" if change is None else change.capitalize())
        self.change_box.setAccessibleName("Operators shown")
        self.search_box = search_box(
            "Search name or type (Ctrl+F)", "Search operators of both models"
        )
        self.summary = plain_label(role="heading", name="Summary of the difference")
        self.target_label = plain_label(role="muted", wraps=False)
        self._message = empty_label()

    def _arrange(self) -> None:
        choices, controls = QHBoxLayout(), QHBoxLayout()
        for text, box in (("Fi&rst", self.first_box), ("Seco&nd", self.second_box)):
            add_labelled(choices, text, box, 1)
        choices.addWidget(self.exchange_button)
        controls.addWidget(self.target_label, 1)
        controls.addWidget(self.search_box, 1)
        controls.addWidget(self.change_box)
        controls.addWidget(copy_button(self.table))
        below = QWidget()
        lower = bare_column(below)
        lower.addLayout(controls)
        lower.addWidget(self.table, 1)
        self._parts = splitter(
            Qt.Orientation.Vertical, self.targets, below, stretch=(0, 1), sizes=(240, 480)
        )
        self._stack = stacked(self._message, self._parts)
        layout = bare_column(self)
        layout.addWidget(self.summary)
        layout.addLayout(choices)
        layout.addWidget(self._stack, 1)

    def _connect(self) -> None:
        for box in (self.first_box, self.second_box):
            box.activated.connect(self._choose)
        self.exchange_button.clicked.connect(self.exchange_asked)
        self.change_box.currentIndexChanged.connect(self._filter)
        self.search_box.textChanged.connect(self._filter)
        self.search_box.returnPressed.connect(self.table.setFocus)
        self.targets.rows_selected.connect(self._on_target)

    def _refresh(self) -> None:
        difference = self._difference
        self.summary.setVisible(difference is not None)
        if difference is None:
            return
        self.summary.setText(difference_summary(difference))
        self._show_targets(difference)
        self._show_operators()

    def _follows(self, before: ModelDifference, difference: ModelDifference) -> bool:
        """Whether only targets came that nobody looks at."""
        target = self._target_of(difference)
        known = [f.times[target] if target < len(f.times) else None for f in (before, difference)]
        return before.difference is difference.difference and known[0] is known[1]

    def _target_of(self, difference: ModelDifference) -> int:
        ids = [target.device.id for target in difference.targets]
        return ids.index(self._target_id) if self._target_id in ids else 0

    def _show_targets(self, difference: ModelDifference) -> None:
        grid = TargetsGrid(difference, self._unit)
        grid.sort_like(self._targets_model.grid)
        self.targets.keeping_selection(lambda: self._targets_model.replace(grid))

    def _show_operators(self) -> None:
        difference = self._difference
        if difference is None:
            return
        target = self._target_of(difference)
        if difference.targets:
            self.target_label.setText(f"Times on {shown(difference.targets[target].device.name)}")
        grid, old = DifferenceGrid(difference, target, self._unit), self._model.grid
        if isinstance(old, DifferenceGrid):
            grid.sort_like(old)
            self.table.keeping_selection(lambda: self._model.replace(grid))
        else:
            self._model.replace(grid)
            self.table.sort_by(MOVED, descending=True)
        self._filter()

    def _filter(self, *_: object) -> None:
        grid = self._model.grid
        if isinstance(grid, DifferenceGrid):
            change = _CHANGES[self.change_box.currentIndex()]
            mask = grid.mask(self.search_box.text(), change)
            self.table.keeping_selection(lambda: self._model.show_only(mask))

    def _on_target(self, _: object, current: int | None) -> None:
        if self._difference is not None and current is not None:
            chosen = self._difference.targets[current].device.id
            if chosen != self._target_id:
                self._target_id = chosen
                self._show_operators()

    def _choose(self, *_: object) -> None:
        self.models_chosen.emit(self.first_box.currentIndex(), self.second_box.currentIndex())
