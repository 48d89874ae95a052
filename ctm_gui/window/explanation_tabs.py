"""Keeps the tabs that explain a prediction on one pair and one selection of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QTabWidget, QWidget

from ctm_gui.attention.view import AttentionView
from ctm_gui.graph.view import GraphTab, GraphView
from ctm_gui.operators.view import OperatorsView
from ctm_gui.prediction.explanation import ExplanationPresenter, sensitivity_details
from ctm_gui.roofline.view import RooflineView
from ctm_gui.timeline.view import TimelineView
from ctm_gui.widgets.ordering import IndexArray
from ctm_gui.widgets.pair_choice import PairChoice
from ctm_gui.window.graph_beside import GraphBeside
from predictor.services.prediction.explain import OperatorTable

View = OperatorsView | GraphView | RooflineView | TimelineView | AttentionView


class ExplanationTabs(QObject):
    """Shows a presenter's explanation in the visible ones of its views.

    The others follow when they are shown: filling all would take that many times as long.

    Args:
        explanation: the choice, the table and the selection.
        operators: its table of operators.
        graph_tab: the operators and what flows between them.
        roofline: the operators under the roofs of the target.
        timeline: the operators over time.
        attention: its maps.
        tabs: with these views; owner of this object.
        graph_pane: puts the graph beside the operators.
    """

    def __init__(
        self,
        explanation: ExplanationPresenter,
        operators: OperatorsView,
        graph_tab: GraphTab,
        roofline: RooflineView,
        timeline: TimelineView,
        attention: AttentionView,
        tabs: QTabWidget,
        graph_pane: GraphBeside,
    ) -> None:
        super().__init__(tabs)
        graph = graph_tab.graph
        self._graph, self._graph_tab, self._graph_pane = graph, graph_tab, graph_pane
        self._explanation = explanation
        self._operators = operators
        self._views: tuple[View, ...] = (operators, graph, roofline, timeline, attention)
        self._tabs = tabs
        self._filled: dict[QWidget, object] = {}
        self._linking = False
        self._last_selected: dict[QWidget, IndexArray] = {}
        for view in self._views:
            self._last_selected[view] = np.zeros(0, dtype=np.intp)
            view.pair.choice_changed.connect(explanation.choose)
        operators.table.rows_selected.connect(partial(self._on_selected, operators))
        operators.node_data_requested.connect(explanation.write_node_data)
        timeline.trace_requested.connect(explanation.write_trace)
        for picture in (graph, roofline, timeline, attention):
            picture.operators_selected.connect(partial(self._on_selected, picture))
        attention.operator_activated.connect(self._on_activated)
        explanation.choices_changed.connect(self._show_choices)
        explanation.table_changed.connect(self._show_table)
        explanation.sensitivity_changed.connect(self._show_sensitivity)
        explanation.costs_changed.connect(lambda: graph.show_costs(explanation.costs))
        graph_pane.changed.connect(self.look)
        tabs.currentChanged.connect(self.look)

    def look(self, *_: object) -> None:
        """Follow the tab that is shown."""
        self._graph_pane.place()
        self._explanation.set_active(active=bool(self._current_views))
        self._show_choices()
        self._show_selection(self._current_views)

    @property
    def _current_views(self) -> tuple[View, ...]:
        """The views of the tab that is shown; the first has the boxes of the pair."""
        page = self._tabs.currentWidget()
        if page is self._graph_tab:
            return (self._graph,)
        if page is self._operators and self._graph_pane.is_docked:
            return self._operators, self._graph
        return (page,) if isinstance(page, View) else ()

    @property
    def _pair(self) -> PairChoice | None:
        return self._current_views[0].pair if self._current_views else None

    def _show_choices(self) -> None:
        pair = self._pair
        if pair is None:
            return
        explanation = self._explanation
        pair.set_choices(explanation.models, explanation.targets, explanation.choice)
        self._show_table()
        self._show_sensitivity()

    def _show_table(self) -> None:
        views, table = self._current_views, self._explanation.table
        # A table of before stays until the next one has come.
        now = (table, self._explanation.message if table is None else "")
        for view in self._views:
            # A table that is gone is let go of by the hidden views too.
            if (view in views or table is None) and self._filled.get(view) != now:
                self._filled[view] = now
                self._quietly(partial(self._fill, view, *now))

    def _fill(self, view: View, table: OperatorTable | None, message: str) -> None:
        if isinstance(view, GraphView | RooflineView | TimelineView):
            view.show_explained(self._explanation.explained, message)
        else:
            view.show_table(table, message, self._explanation.device)

    def _show_sensitivity(self) -> None:
        pair, sensitivity = self._pair, self._explanation.sensitivity
        if pair is not None:
            texts = ("", "")
            if sensitivity is not None:
                texts = sensitivity.sentence, sensitivity_details(sensitivity)
            pair.show_sentence(*texts)
        if self._graph in self._current_views:
            self._graph.presenter.show_sensitivity(sensitivity)
            self._graph.show_costs(self._explanation.costs)

    def _show_selection(self, views: Iterable[View]) -> None:
        """Carry the selection over from another view."""
        chosen = self._explanation
        for view in views:
            self._last_selected[view] = chosen.selected
            self._quietly(partial(view.select_operators, chosen.selected, chosen.current))

    def _on_selected(self, view: QWidget, operators: IndexArray, current: int | None) -> None:
        # A table without a current row takes one with the focus; that selects nothing.
        if not self._linking and not np.array_equal(operators, self._last_selected[view]):
            self._explanation.select(operators, current)
            self._show_selection(other for other in self._current_views if other is not view)
        self._last_selected[view] = operators

    def _on_activated(self, operator: int) -> None:
        self._explanation.select(np.array([operator], dtype=np.intp), operator)
        self._tabs.setCurrentWidget(self._operators)
        self._operators.table.setFocus()

    def _quietly(self, show: Callable[[], None]) -> None:
        # A view emits what is selected in it by code too: that is no choice of the user's.
        self._linking = True
        show()
        self._linking = False
