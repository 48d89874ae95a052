"""The History tab: past predictions and their errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialogButtonBox, QWidget

from ctm_gui.history.conflicts_dialog import ConflictsDialog
from ctm_gui.history.past_rows import PastRow, PastRows
from ctm_gui.history.past_tables import (
    NOTHING_YET,
    TAGS,
    ChangeGrid,
    ErrorsGrid,
    PastGrid,
    change_summary,
    row_details,
    summary,
    warnings,
)
from ctm_gui.history.past_view import PastFilterBar, PastModel, PastTable
from ctm_gui.history.presenter import HistoryPresenter
from ctm_gui.history.project_menu import ProjectButton, ProjectProgress
from ctm_gui.history.projects import OpenedProject, ProjectExchange
from ctm_gui.history.truth_dialog import TruthDialog
from ctm_gui.history.truth_plot import TruthPlot
from ctm_gui.widgets.base_dialog import BaseDialog
from ctm_gui.widgets.basic import (
    STRETCH,
    ContentOrMessage,
    add_view_keys,
    button,
    hbox,
    holder,
    label,
    splitter,
    vbox,
)
from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.grid_model import GridModel
from ctm_gui.widgets.late_view import LateView
from ctm_gui.widgets.ordering import BoolArray, IndexArray
from ctm_gui.widgets.save_plot import save_button
from ctm_gui.widgets.table_view import GridView, copy_button
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.stored import StoredPrediction
from predictor.core.units import LatencyUnit
from predictor.services.history.changes import Change

_SIZE_PX = (1120, 360)
_MIN_WIDTHS_PX = {"model": 150, "device": 200, "why": 250}


class ChangeDialog(BaseDialog):
    """Shows the result of predicting again; deleted when it is closed."""

    def __init__(
        self,
        entries: tuple[Change, ...],
        rows: Sequence[PastRow],
        unit: LatencyUnit,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Then and now", parent, _SIZE_PX)
        self.heading = label(change_summary(entries), "heading")
        self.table = GridView(
            GridModel(ChangeGrid(entries, rows, unit)), "Then and now", _MIN_WIDTHS_PX
        )
        self.table.fit_columns()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        foot = hbox(copy_button(self.table), STRETCH, buttons)
        vbox(self.heading, (self.table, 1), foot, of=self)


_TARGET_PX = 230


class HistoryView(LateView):
    """Shows a history presenter; built, and the store read, when it is first shown.

    Args:
        options: unit and theme.
        presenter: the predictions of the past.
        projects: writes them to files and takes them over from files.

    Signals:
        open_requested: the user asks for the dialog of files.
    """

    open_requested = Signal()

    def __init__(
        self, options: ViewOptions, presenter: HistoryPresenter, projects: ProjectExchange
    ) -> None:
        super().__init__(presenter)
        self._options = options
        self.presenter, self.projects = presenter, projects
        self.conflicts: ConflictsDialog | None = None
        presenter.truth_requested.connect(self._ask_truth)
        projects.undecided.connect(self._ask_conflicts)

    def focus_search(self) -> None:
        """Put the cursor into the filter."""
        if self.is_built:
            self.table.focus_search()

    def record(self) -> TruthDialog | None:
        """Ask for the latency that was measured of the current prediction."""
        row = self.table.current_row()
        if row is None:
            return None
        past = self.presenter.data.rows[row]
        return self._ask_truth(past.stored, past.device_name)

    def delete(self) -> None:
        """Delete the selected predictions with the runs they stand for; undo brings them back."""
        rows = self.table.selected_rows()
        if self.filter_bar.wanted().newest:
            rows = self.presenter.data.with_runs(rows)
        self.presenter.delete(rows.tolist())

    def compare(self) -> None:
        """Predict the selected predictions again; all that are shown where none is selected."""
        rows = self.table.selected_rows()
        self.presenter.compare((rows if rows.size else self._model.grid.order).tolist())

    def open_again(self) -> None:
        """Open the model of the current prediction again."""
        row = self.table.current_row()
        if row is not None:
            self.presenter.open_again(row)

    def _build(self) -> Iterator[None]:
        self._make_table()
        yield
        self._make_truth()
        yield
        self._make_buttons()
        self._arrange()
        self._connect()
        self._show_data()

    def _make_table(self) -> None:
        self.summary = label(role="heading", name="Summary")
        self.warning = label(role="warn", name="Warning")
        self._model = PastModel(self)
        self.table = PastTable(self._model)
        self.table.add_row_action("Open Again", lambda _: self.open_again(), of_one=True)
        self.table.add_row_action("Compare with Now", lambda _: self.compare())
        record = "Record Measured Latency…"
        self.table.add_row_action(record, lambda _: self.record(), of_one=True)
        delete = self.table.add_row_action("Delete", lambda _: self.delete())
        delete.setShortcut(QKeySequence.StandardKey.Delete)
        self.filter_bar = PastFilterBar(self.table)
        self.table.details_of = self._details
        self.table.mask_of = self._mask
        self.table.sort_by("created", descending=True)

    def _make_truth(self) -> None:
        self.plot = TruthPlot(self._options)
        grid = ErrorsGrid(PastRows())
        self.errors = GridView(GridModel(grid), "Errors by target", {"target": _TARGET_PX})

    def _make_buttons(self) -> None:
        self.open_button = button(
            "&Open Again", "Open the model with its dimensions again", self.open_again
        )
        self.compare_button = button(
            "Compare with &Now",
            "Predict the selected rows again with the present engine",
            self.compare,
        )
        self.record_button = button(
            "&Record Measured…", "Type a latency that was measured for this prediction", self.record
        )
        self.delete_button = button(
            "&Delete",
            "Delete the selected rows with their runs; undo brings them back",
            self.delete,
        )
        self.save_button = save_button(
            "predicted-measured",
            self.plot.save,
            text="S&ave plot…",
            tip="Save the plot as SVG or PNG",
        )
        self.project_button = ProjectButton(self.projects, lambda: self.filter_bar.wanted().tag)
        self.progress = ProjectProgress(self.projects)

    def _arrange(self) -> None:
        of_rows = holder(
            hbox(
                self.open_button,
                self.compare_button,
                self.record_button,
                self.delete_button,
                STRETCH,
                self.table.matches,
                self.table.copy_button,
                self.save_button,
            )
        )
        # A project can be opened while there is nothing else.
        buttons = hbox((of_rows, 1), self.project_button)
        buttons.setAlignment(self.project_button, Qt.AlignmentFlag.AlignRight)
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self.truth = splitter(across, self.plot, self.errors, sizes=(420, 560))
        parts = splitter(down, self.table, self.truth, sizes=(440, 340))
        models = button("Open &Models…", "Ctrl+O", self.open_requested.emit)
        self._stack = ContentOrMessage(parts, NOTHING_YET, buttons=[models])
        self._of_data = (*self.filter_bar.ticks, self.filter_bar, of_rows)
        head = hbox((self.summary, 1), *self.filter_bar.ticks)
        heads = (head, self.warning, self.filter_bar)
        vbox(*heads, buttons, self.progress, (self._stack, 1), of=self)

    def _connect(self) -> None:
        self.presenter.changed.connect(self._show_data)
        self.presenter.compared.connect(self._show_changes)
        self._options.unit_changed.connect(self._show_data)
        self.filter_bar.changed.connect(self._show_rows)
        self._model.edited.connect(self._on_edited)
        self.table.itemDelegate().closeEditor.connect(
            lambda: QTimer.singleShot(0, self, self._follow)
        )
        self.table.rows_selected.connect(self._on_selected)
        self.table.row_activated.connect(lambda _: self.compare())
        self.plot.pair_chosen.connect(
            lambda chosen: self._select_ids((frozenset({chosen}), chosen))
        )
        add_view_keys(self, QKeySequence.StandardKey.Find, self.focus_search)

    def _show_data(self) -> None:
        if self.table.is_edited:
            return  # the editor would go; it is shown when the user has finished
        data = self.presenter.data
        self.summary.setText(summary(data))
        self.summary.setVisible(len(data) > 0)
        sentences = warnings(data)
        self.warning.setText("\n".join(sentences))
        self.warning.setVisible(bool(sentences))
        self._stack.show_content(visible=len(data) > 0)
        for part in self._of_data:
            part.setVisible(len(data) > 0)
        self.filter_bar.show_choices(data)
        # By the ids of predictions: a new one moves the rows of those that were selected.
        chosen = self._selected_ids()
        self.table.selectionModel().reset()
        self.table.show_grid(PastGrid(data, self._options.unit))
        self._select_ids(chosen)
        has_interval = any(row.stored.prediction.low80_ms is not None for row in data.rows)
        has_pairs = bool(data.pairs)
        needed = {"interval": has_interval, "measured": has_pairs, "error": has_pairs}
        if not self.table.set_columns_visible(needed):
            self.table.fit_columns()
        self.errors.show_grid(ErrorsGrid(data))
        self.errors.fit_columns()
        self.plot.show_pairs(data)
        self.truth.setVisible(bool(data.pairs))
        self._show_state()

    def _follow(self) -> None:
        """Show the data that came while a cell was edited."""
        grid = self._model.grid
        if grid.data is not self.presenter.data:
            self._show_data()

    def _show_rows(self) -> None:
        self.table.filter()
        self._show_state()

    def _mask(self, grid: Grid) -> BoolArray:
        rows = grid.data if isinstance(grid, PastGrid) else PastRows()
        return rows.mask(self.filter_bar.wanted())

    def _show_state(self) -> None:
        chosen = self.table.selected_rows().size
        self.open_button.setEnabled(chosen == 1)
        self.record_button.setEnabled(chosen == 1)
        self.delete_button.setEnabled(chosen > 0)
        self.compare_button.setEnabled(self._model.rowCount() > 0)
        self.save_button.setEnabled(bool(self.presenter.data.pairs))

    def _selected_ids(self) -> tuple[frozenset[str], str]:
        """Return the ids of the selected predictions, and that of the current one."""
        rows = self._model.grid.data.rows
        current = self.table.current_row()
        ids = frozenset(rows[row].stored.id for row in self.table.selected_rows().tolist())
        return ids, "" if current is None else rows[current].stored.id

    def _select_ids(self, chosen: tuple[frozenset[str], str]) -> None:
        ids, current = chosen
        places = {row.stored.id: place for place, row in enumerate(self.presenter.data.rows)}
        self.table.select_rows(sorted(places[i] for i in ids if i in places), places.get(current))

    def _on_selected(self, *_: IndexArray | int | None) -> None:
        self.plot.select(self._selected_ids()[0])
        self._show_state()

    def _on_edited(self, row: int, key: str, text: str) -> None:
        if key == TAGS:
            self.presenter.set_tags(row, text)
        else:
            self.presenter.set_note(row, text)

    def _details(self, place: int) -> str:
        row = self._model.grid.source(place)
        return row_details(self.presenter.data.rows[row], self._options.unit)

    def _ask_truth(self, stored: StoredPrediction, device_name: str) -> TruthDialog:
        dialog = TruthDialog(stored, device_name, self._options.unit, self.window())
        dialog.recorded.connect(partial(self.presenter.add_truth, stored))
        dialog.open()
        self.truth_dialog = dialog
        return dialog

    def _ask_conflicts(self, opened: OpenedProject) -> None:
        self.conflicts = ConflictsDialog(opened, self.window())
        self.conflicts.answered.connect(partial(self.projects.apply, opened))
        self.conflicts.open()

    def _show_changes(self, entries: tuple[Change, ...]) -> None:
        row_of = {row.stored.id: row for row in self.presenter.data.rows}
        there = tuple(e for e in entries if e.stored.id in row_of)
        rows = [row_of[entry.stored.id] for entry in there]
        self.changes = ChangeDialog(there, rows, self._options.unit, self)
        self.changes.show()
