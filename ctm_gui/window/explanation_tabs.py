"""Keeps the tabs that explain a prediction on one pair and one selection of operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QTabWidget, QWidget

from ctm_gui.attention.view import AttentionView
from ctm_gui.graph.view import GraphView
from ctm_gui.operators.view import OperatorsView
from ctm_gui.prediction.explanation import ExplanationPresenter, sensitivity_details
from ctm_gui.roofline.view import RooflineView
from ctm_gui.timeline.view import TimelineView
from ctm_gui.widgets.ordering import IndexArray
from predictor.services.prediction.predict import OperatorTable

View = OperatorsView | GraphView | RooflineView | TimelineView | AttentionView


class ExplanationTabs(QObject):
    """Shows a presenter's explanation in the visible one of its views.

    The others follow when they are shown: filling all would take that many times as long.

    Args:
        explanation: the choice, the table and the selection.
        operators: its table of operators.
        graph: the operators and what flows between them.
        roofline: the operators under the roofs of the target.
        timeline: the operators over time.
        attention: its maps.
        tabs: with these views; owner of this object.
    """

    def __init__(
        self,
        explanation: ExplanationPresenter,
        operators: OperatorsView,
        graph: GraphView,
        roofline: RooflineView,
        timeline: TimelineView,
        attention: AttentionView,
        tabs: QTabWidget,
    ) -> None:
        super().__init__(tabs)
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
        operators.node_data_asked.connect(explanation.write_node_data)
        timeline.trace_asked.connect(explanation.write_trace)
        for picture in (graph, roofline, timeline, attention):
            picture.operators_selected.connect(partial(self._on_selected, picture))
        attention.operator_activated.connect(self._on_activated)
        explanation.choices_changed.connect(self._show_choices)
        explanation.table_changed.connect(self._show_table)
        explanation.sensitivity_changed.connect(self._show_sensitivity)
        tabs.currentChanged.connect(self.look)

    def look(self, *_: object) -> None:
        """Follow the tab that is shown."""
        self._explanation.set_active(active=self._shown is not None)
        self._show_choices()
        self._show_selection()

    @property
    def _shown(self) -> View | None:
        view = self._tabs.currentWidget()
        return view if isinstance(view, View) else None

    def _show_choices(self) -> None:
        view = self._shown
        if view is None:
            return
        view.pair.set_choices(self._explanation.models, self._explanation.targets)
        if self._explanation.choice is not None:
            view.pair.set_choice(*self._explanation.choice)
        self._show_table()
        self._show_sensitivity()

    def _show_table(self) -> None:
        shown, table = self._shown, self._explanation.table
        # A table of before stays until the next one has come.
        now = (table, self._explanation.message if table is None else "")
        for view in self._views:
            # A table that is gone is let go of by the hidden views too.
            if (view is shown or table is None) and self._filled.get(view) != now:
                self._filled[view] = now
                self._quietly(partial(self._fill, view, *now))

    def _fill(self, view: View, table: OperatorTable | None, message: str) -> None:
        if isinstance(view, GraphView | RooflineView | TimelineView):
            view.show_explained(self._explanation.explained, message)
        else:
            view.show_table(table, message, self._explanation.device)

    def _show_sensitivity(self) -> None:
        view, sensitivity = self._shown, self._explanation.sensitivity
        if view is not None:
            texts = ("", "")
            if sensitivity is not None:
                texts = sensitivity.sentence, sensitivity_details(sensitivity)
            view.pair.show_sentence(*texts)
        if isinstance(view, GraphView):
            view.show_sensitivity(sensitivity)

    def _show_selection(self) -> None:
        """Carry the selection over from the other view."""
        view, chosen = self._shown, self._explanation
        if view is not None:
            self._quietly(lambda: view.select_operators(chosen.selected, chosen.current))

    def _on_selected(self, view: QWidget, operators: IndexArray, current: int | None) -> None:
        # A table without a current row takes one with the focus; that selects nothing.
        if not self._linking and not np.array_equal(operators, self._last_selected[view]):
            self._explanation.select(operators, current)
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
