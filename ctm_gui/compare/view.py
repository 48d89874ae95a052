"""The Compare tab: a sentence, latencies against the budget, and the table below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal, SignalInstance
from PySide6.QtGui import QKeySequence, QShowEvent
from PySide6.QtWidgets import QCheckBox, QWidget

from ctm_gui.compare.answer_view import AnswerView
from ctm_gui.compare.answers import summary, title_of
from ctm_gui.compare.chart import lay_out, prefers_log
from ctm_gui.compare.chart_view import LatencyChart
from ctm_gui.compare.comparison_grid import SURER, TIME_COLUMNS, ComparisonGrid, is_uncertain
from ctm_gui.compare.item_models import ComparisonModel
from ctm_gui.compare.tokens import TokensAnswer
from ctm_gui.prediction.columns import (
    ComparisonColumns,
    GroupOrder,
    target_groups,
)
from ctm_gui.tasks.turns import NextTurn
from ctm_gui.widgets.basic import (
    ContentOrMessage,
    ElidedLabel,
    add_view_keys,
    combo_box,
    hbox,
    named,
    splitter,
    vbox,
)
from ctm_gui.widgets.fields import LatencyBudgetBox
from ctm_gui.widgets.filtered_table import FilteredTable
from ctm_gui.widgets.ordering import IndexArray
from ctm_gui.widgets.save_plot import save_button
from ctm_gui.widgets.view_options import ViewOptions
from predictor.core.units import LatencyUnit
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext

_READING = "The models are being read: their latencies come here one by one."
_NOTHING_YET = "Open a model and tick a target to compare latencies here."
# Names distinguish the rows: they stay readable, and the table scrolls instead.
_NAME_WIDTHS_PX = {"model": 190, "device": 250}


class CompareView(QWidget):
    """Latency of every model on every target, side by side.

    The span of the latencies chooses the scale until the user does.

    Signals:
        row_activated: the user asks for more about a row: its index into the rows last shown.
        row_chosen: the user went to a row of the comparison: its index.
        tokens_activated: the user asks for more about a language model on a device: its label and
            the id.
        other_activated: the user wants a further configuration in place of its device's: its row.
        more_toggled: the user opens or closes the further configurations of a device: its id.
        surer_requested: the user wants to measure on a device: its id.
        what_if_requested: the user wants to predict a device otherwise: its id.

    Args:
        options: unit, budget and theme.
    """

    row_activated = Signal(int)
    row_chosen = Signal(int)
    tokens_activated = Signal(str, str)
    other_activated = Signal(object)
    more_toggled = Signal(str)
    surer_requested = Signal(str)
    what_if_requested = Signal(str)

    def __init__(self, options: ViewOptions) -> None:
        super().__init__()
        self._options = options
        self._data = ComparisonColumns(())
        self._tokens = TokensAnswer()
        self._more: Mapping[str, bool] = {}
        self._sources: tuple[object, ...] = (None,) * 3  # of the rows: what was given last
        self._budget_ms = options.budget_ms  # another one while its line is dragged
        self._scale_chosen = False
        self._model = ComparisonModel(options, self)
        self.table = FilteredTable(
            self._model, "Predictions", "Filter by model, device, vendor, runtime…", _NAME_WIDTHS_PX
        )
        self.table.details_of = self._model.details
        more = self.table.add_row_action(
            "Show or Hide Its Other Configurations", self._of_device(self.more_toggled)
        )
        more.setShortcut(QKeySequence(Qt.Key.Key_Plus))
        self.table.add_row_action("What If…", self._of_device(self.what_if_requested))
        self.table.add_row_action("Make It Surer…", self._of_device(self.surer_requested))
        self._make_controls()
        self.chart = LatencyChart(options)
        self.save_button = save_button("latency", self.chart.save)
        self._chart_turn = NextTurn(self._show_chart, self)
        self._paint_turn = NextTurn(lambda: self.chart.setUpdatesEnabled(True), self)
        self._arrange()
        self._connect()
        self._refresh()
        self.table.sort_by("latency")

    def show_predictions(
        self,
        columns: ComparisonColumns,
        further: Sequence[PredictionRow] = (),
        more: Mapping[str, bool] | None = None,
        tokens: TokensAnswer = TokensAnswer(),  # noqa: B008 - frozen
    ) -> None:
        """Show a comparison; the selection stays where the rows are the same predictions.

        Args:
            columns: rows of the comparison.
            further: on further configurations of its devices.
            more: by device id, whether it is opened, for those that have further ones.
            tokens: the language models on their devices.
        """
        more, sources = more or {}, (columns, further, tokens)
        is_same = all(now is before for now, before in zip(sources, self._sources, strict=True))
        if is_same and more == self._more:
            return  # another page was looked at meanwhile
        self._sources, self._more, self._tokens = sources, more, tokens
        data = columns
        if further or tokens.rows:
            data = ComparisonColumns((*columns.rows, *tokens.rows), further)
        same = data.same_rows(self._data)
        self._data = data
        if not same:
            self.table.clearSelection()
        is_fitted = self._refresh_table()
        self._show_chart_later()
        if len(data) and not self._scale_chosen:
            self.log_box.setChecked(prefers_log(data))
        if not is_fitted:
            self.table.fit_columns()

    def show_missing(self, missing: str, *, is_reading: bool = False) -> None:
        """Show what the user has to do before there are rows; empty for nothing."""
        words = f"{missing} to compare latencies here." if missing else _NOTHING_YET
        words = _READING if is_reading else words
        self._stack.message.setText(words)

    @property
    def rows(self) -> Sequence[PredictionRow]:
        """The rows that are shown."""
        return self._data.rows

    def showEvent(self, event: QShowEvent) -> None:
        """Paint the chart in a later turn than the table."""
        super().showEvent(event)
        self._paint_chart_later()

    def focus_search(self) -> None:
        """Put the cursor into the filter."""
        self.table.focus_search()

    def _make_controls(self) -> None:
        self.summary = AnswerView("Summary")
        self.budget_box = LatencyBudgetBox(self._options)
        self.heading = ElidedLabel()
        self.heading.setProperty("role", "heading")
        self.order_box = combo_box("Order of the targets", [order.value for order in GroupOrder])
        self.log_box = QCheckBox("Lo&g scale")

    def _arrange(self) -> None:
        head = hbox((self.heading, 1), named("&Budget", self.budget_box), self.budget_box)
        controls = hbox(
            named("So&rt by", self.order_box),
            self.order_box,
            8,
            self.log_box,
            8,
            (self.table.search_box, 1),
            self.table.matches,
            self.table.copy_button,
            self.save_button,
        )
        parts = splitter(
            Qt.Orientation.Vertical, self.chart, self.table, sizes=(600, 400), stretch=(3, 2)
        )
        self._stack = ContentOrMessage(parts, _NOTHING_YET)
        vbox(head, self.summary, controls, (self._stack, 1), of=self, margins=(8, 6, 8, 0))

    def _connect(self) -> None:
        self._options.unit_changed.connect(self._show_unit)
        self._options.budget_changed.connect(self._follow_budget)
        self.chart.budget_dragged.connect(self._show_budget)
        self.chart.budget_dropped.connect(self._show_budget)
        self.chart.budget_dropped.connect(self._options.set_budget_ms)
        self.order_box.currentIndexChanged.connect(self._show_chart)
        self.log_box.toggled.connect(self.chart.set_log)
        self.log_box.clicked.connect(self._on_scale)
        self.table.search_box.textChanged.connect(self._chart_turn.start)
        self.chart.row_selected.connect(lambda row: self.table.select_rows([row], row))
        self.chart.row_activated.connect(self._on_activated)
        self.table.row_activated.connect(self._on_activated)
        self.table.clicked.connect(self._on_clicked)
        self.table.rows_selected.connect(self._on_selected)
        add_view_keys(self, QKeySequence.StandardKey.Find, self.focus_search)

    def _refresh(self) -> None:
        self._refresh_table()
        self._show_chart_later()

    def _show_chart_later(self) -> None:
        # In turns of their own: to paint table and chart at once would stall the window, and what
        # the chart shows until then is outdated.
        self._chart_turn.start()
        self._paint_chart_later()

    def _paint_chart_later(self) -> None:
        self.chart.setUpdatesEnabled(False)
        self._paint_turn.start()

    def _refresh_table(self) -> bool:
        """Show the present rows in words and in the table; whether its columns are fitted too."""
        self._stack.show_content(visible=len(self._data) > 0)
        of_models = self._data.compared - len(self._tokens.rows)
        is_all = of_models == len(self._data)
        compared = self._data if is_all else ComparisonColumns(self._data.rows[:of_models])
        self.heading.set_full_text(title_of(self._data))
        words = summary(compared, self._budget_ms, self._options.unit)
        self.summary.show_text("\n".join(filter(None, (words, self._tokens.text))))
        self.summary.setVisible(len(self._data) > 0)
        context = TableContext(Place.COMPARE, self._options.unit, self._budget_ms)
        grid = ComparisonGrid(self._data, context, self._more)
        self.table.show_grid(grid)
        return self.table.set_columns_visible(grid.needed_columns())

    def _show_chart(self, *_: object) -> None:
        groups = target_groups(self._data, self._data.search_mask(self.table.words))
        groups = groups.ordered(list(GroupOrder)[self.order_box.currentIndex()], self._options.unit)
        layout = lay_out(groups, self._options.unit, self._budget_ms)
        self.chart.show_layout(layout, self._budget_ms)

    def _on_activated(self, row: int) -> None:
        if self._data.is_tokens[row]:
            prediction = self._data.rows[row].prediction
            self.tokens_activated.emit(prediction.model, prediction.device_id)
        elif row < self._data.compared:
            self.row_activated.emit(row)
        else:
            self.other_activated.emit(self._data.rows[row])

    def _on_selected(self, rows: IndexArray, current: int | None) -> None:
        self.chart.select_rows(rows, current)
        is_of_model = current is not None and current < self._data.compared
        if rows.size and is_of_model and not self._data.is_tokens[current]:
            self.row_chosen.emit(current)

    def _on_clicked(self, index: QModelIndex) -> None:
        """Open what a device runs beside, or the wizard, where the cell says so."""
        row, key = (
            self._model.grid.source(index.row()),
            self._model.grid.columns[index.column()].key,
        )
        prediction = self._data.rows[row].prediction
        if key == SURER and is_uncertain(self._data.rows[row]):
            self.surer_requested.emit(prediction.device_id)
        elif self._data.is_tokens[row]:
            return
        elif key == "device" and row < self._data.compared and prediction.device_id in self._more:
            self.more_toggled.emit(prediction.device_id)

    def _of_device(self, signal: SignalInstance) -> Callable[[int], None]:
        return lambda row: signal.emit(self._data.rows[row].prediction.device_id)

    def _on_scale(self) -> None:
        self._scale_chosen = True

    def _show_unit(self) -> None:
        before, now = self._model.grid.context.unit, self._options.unit
        # A table sorted by a time stays fastest or slowest first: a rate turns the order round.
        turned = (now is LatencyUnit.FPS) is not (before is LatencyUnit.FPS)
        self._refresh()
        grid = self._model.grid
        if turned and grid.sort_column is not None:
            key = grid.columns[grid.sort_column].key
            if key in TIME_COLUMNS:
                self.table.sort_by(key, descending=not grid.descending)
        self.table.fit_columns()

    def _show_budget(self, budget_ms: float | None) -> None:
        self._budget_ms = budget_ms
        self.budget_box.show_budget(budget_ms)
        self._refresh()

    def _follow_budget(self) -> None:
        self._show_budget(self._options.budget_ms)
