"""The page Why: the graph of one model on one target, what is selected, and a strip of views."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QApplication, QSplitter, QTabWidget, QWidget

from ctm_gui import settings as table
from ctm_gui.attention.view import AttentionView
from ctm_gui.graph.view import GraphView
from ctm_gui.operators.view import OperatorsView
from ctm_gui.prediction.explanation import (
    Explained,
    ExplanationPresenter,
    sensitivity_details,
    sensitivity_sentence,
)
from ctm_gui.roofline.view import RooflineView
from ctm_gui.settings import Setting, Settings
from ctm_gui.tasks.turns import NextTurn, in_turns
from ctm_gui.timeline.view import TimelineView
from ctm_gui.why.subject import subject_of
from ctm_gui.why.subject_panel import SubjectPanel
from ctm_gui.widgets.basic import fill_splitter, splitter, tool_button, vbox
from ctm_gui.widgets.ordering import IndexArray
from ctm_gui.widgets.pair_choice import PairChoice
from ctm_gui.widgets.view_options import ViewOptions

GRAPH = "graph"
# Ids of the views of the strip, in their order; one of before is the name of its page.
STRIP = ("operators", "timeline", "roofline", "attention")
_TITLES = ("Table", "Timeline", "Roofline", "Attention")
_NO_OPERATORS: IndexArray = np.zeros(0, dtype=np.intp)
View = OperatorsView | GraphView | RooflineView | TimelineView | AttentionView


class WhyView(QWidget):
    """Shows a presenter's explanation in a graph, a panel and the view of the strip.

    The other views of the strip follow when they are shown: filling all would take that many times
    as long.

    Attributes:
        pair: the boxes of the model and the target, with the sentence on what would help.
        panel: facts of what is selected.
        strip: table, timeline, roofline and attention.

    Args:
        options: unit and theme.
        explanation: the choice, the table and the selection.
        graph: in the middle.
        views: of the strip: by their ids in ``STRIP``.
        settings: keep the strip and its height.
    """

    def __init__(
        self,
        options: ViewOptions,
        explanation: ExplanationPresenter,
        graph: GraphView,
        views: tuple[OperatorsView, TimelineView, RooflineView, AttentionView],
        settings: Settings,
    ) -> None:
        super().__init__()
        self._options, self._explanation, self._settings = options, explanation, settings
        self._graph, self._views = graph, views
        self._operators, self._timeline, _, self._attention = views
        self._filled: dict[View, tuple[Explained | None, str]] = {}
        self._linking = False
        self._last_selected: dict[View, IndexArray] = {}
        self._graph_turn = NextTurn(self._fill_graph, self)
        self._panel_turn = NextTurn(self._show_subject, self)
        self._arrange()
        self._connect()
        self.show_part(settings.get(table.WHY_STRIP))

    def show_part(self, part: str) -> None:
        """Show a view of the strip by its id, or put the focus on the graph."""
        if part == GRAPH:
            self.larger_button.setChecked(False)
            self._graph.canvas.setFocus(Qt.FocusReason.ShortcutFocusReason)
        elif part in STRIP:
            self.strip.setCurrentIndex(STRIP.index(part))

    def enter(self) -> None:
        """Put the focus on the slowest operator, once it is there and unless it went elsewhere."""
        table, focused = self._operators.table, QApplication.focusWidget()

        def enter() -> None:
            if self.isVisible() and QApplication.focusWidget() is focused:
                table.setFocus(Qt.FocusReason.OtherFocusReason)

        if table.isVisible():
            enter()
        else:
            once = Qt.ConnectionType.SingleShotConnection
            self._explanation.table_changed.connect(enter, once)

    def focus_search(self) -> None:
        """Put the cursor into the search box of the graph, or of the strip with the focus."""
        if self._graph.isAncestorOf(self.focusWidget() or self):
            self._graph.focus_search()
        else:
            self._view.focus_search()

    def look(self) -> None:
        """Follow the presenter, once the page is looked at."""
        self._show_choices()
        self._show_table()
        self._show_selection()

    @property
    def _view(self) -> OperatorsView | TimelineView | RooflineView | AttentionView:
        """The view of the strip that is shown."""
        return self._views[self.strip.currentIndex()]

    def _arrange(self) -> None:
        # From the outside in: wherever a part is put, Qt gives its widgets their style anew.
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self.pair, self.upper = PairChoice(), QSplitter(across)
        self.strip = QTabWidget(documentMode=True)
        self.strip.setAccessibleName("Operators in detail")
        self.body = splitter(down, self.upper, self.strip, sizes=(350, 330), stretch=(1, 1))
        vbox(self.pair, (self.body, 1), of=self)
        for view, title in zip(self._views, _TITLES, strict=True):
            self.strip.addTab(view, title)
        self.panel = SubjectPanel(self._operators.strip)
        fill_splitter(self.upper, self._graph, self.panel, sizes=(700, 290), stretch=(1, 0))
        self.larger_button = tool_button("&Larger", "Give the strip the room of the graph.")
        self.larger_button.setCheckable(True)
        self.strip.setCornerWidget(self.larger_button)
        for part, setting in self._splitters:
            part.restoreState(QByteArray(self._settings.get(setting)))

    @property
    def _splitters(self) -> tuple[tuple[QSplitter, Setting[bytes]], ...]:
        return (self.upper, table.WHY_WIDTHS), (self.body, table.WHY_HEIGHTS)

    def _connect(self) -> None:
        explanation = self._explanation
        self.pair.choice_changed.connect(explanation.choose)
        self._operators.table.rows_selected.connect(partial(self._on_selected, self._operators))
        self._operators.node_data_requested.connect(explanation.write_node_data)
        self._timeline.trace_requested.connect(explanation.write_trace)
        for picture in (self._graph, *self._views[1:]):
            picture.operators_selected.connect(partial(self._on_selected, picture))
        self._attention.operator_activated.connect(self._on_activated)
        explanation.choices_changed.connect(self._show_choices)
        explanation.table_changed.connect(self._show_table)
        explanation.sensitivity_changed.connect(self._show_sensitivity)
        explanation.costs_changed.connect(self._panel_turn.start)
        explanation.selection_changed.connect(self._show_selection)
        self._options.unit_changed.connect(self._panel_turn.start)
        self.strip.currentChanged.connect(self._on_strip)
        self.larger_button.toggled.connect(self.upper.setHidden)
        for part, setting in self._splitters:
            part.splitterMoved.connect(partial(self._remember, part, setting))

    def _remember(self, part: QSplitter, setting: Setting[bytes], *_: object) -> None:
        self._settings.set(setting, bytes(part.saveState().data()))

    def _on_strip(self, place: int) -> None:
        self._settings.set(table.WHY_STRIP, STRIP[place])
        self._show_table()
        self._show_selection()

    def _show_choices(self) -> None:
        explanation = self._explanation
        self.pair.set_choices(explanation.models, explanation.targets, explanation.choice)
        self._show_table()
        self._show_sensitivity()

    def _show_table(self) -> None:
        explained, message = self._explanation.explained, self._explanation.message
        self._fill(self._view, explained, message if explained is None else "")
        # In a turn of its own: the table and the graph of 100 000 operators stall together.
        self._graph_turn.start()
        self._panel_turn.start()
        if explained is None:
            in_turns(self._letting_go(), self)

    def _letting_go(self) -> Iterator[None]:
        """Empty the hidden views too: what is gone is not to be kept by them."""
        for view in self._views:
            yield
            if self._explanation.explained is None:
                self._fill(view, None, self._explanation.message)

    def _fill_graph(self) -> None:
        explained, message = self._explanation.explained, self._explanation.message
        self._fill(self._graph, explained, message if explained is None else "")
        self._select_in(self._graph)

    def _fill(self, view: View, explained: Explained | None, message: str) -> None:
        if self._filled.get(view) == (explained, message):
            return
        self._filled[view] = explained, message
        self._last_selected[view] = _NO_OPERATORS
        self._quietly(partial(_show_in, view, explained, message))

    def _show_sensitivity(self) -> None:
        explanation = self._explanation
        texts = ("", "")
        if explanation.sensitivity is not None and explanation.explained is not None:
            sentence = sensitivity_sentence(explanation.sensitivity, explanation.explained)
            texts = sentence, sensitivity_details(explanation.sensitivity)
        self.pair.show_sentence(*texts)
        self._panel_turn.start()

    def _show_subject(self) -> None:
        explanation, subject = self._explanation, None
        explained, (in_table, _) = (
            explanation.explained,
            self._filled.get(self._operators, (None, "")),
        )
        if explained is not None and in_table is not explained:
            # The table fills the bars too, once it is looked at.
            self._operators.strip.show_times(explained.operators.type_times)
        if explanation.explained is not None and explanation.explained.table.names:
            subject = subject_of(
                explanation.explained,
                explanation.selected,
                self._options.unit,
                explanation.costs,
                explanation.sensitivity,
            )
        self.panel.show_subject(subject, is_model=not explanation.selected.size)

    def _show_selection(self) -> None:
        for view in (self._graph, self._view):
            self._select_in(view)
        self._panel_turn.start()

    def _select_in(self, view: View) -> None:
        """Carry the selection over to a view that has not made it."""
        chosen = self._explanation
        if np.array_equal(self._last_selected.get(view, _NO_OPERATORS), chosen.selected):
            return
        if self._filled.get(view, (None, ""))[0] is chosen.explained:
            self._last_selected[view] = chosen.selected
            self._quietly(partial(view.select_operators, chosen.selected, chosen.current))

    def _on_selected(self, view: View, operators: IndexArray, current: int | None) -> None:
        # A table without a current row takes one with the focus; that selects nothing.
        is_other = not np.array_equal(operators, self._last_selected.get(view, _NO_OPERATORS))
        self._last_selected[view] = operators
        if is_other and not self._linking:
            self._explanation.select(operators, current)

    def _on_activated(self, operator: int) -> None:
        self._explanation.select(np.array([operator], dtype=np.intp), operator)
        self.show_part(STRIP[0])
        self._operators.table.setFocus()

    def _quietly(self, show: Callable[[], None]) -> None:
        # A view emits what is selected in it by code too: that is no choice of the user's.
        self._linking = True
        show()
        self._linking = False


def _show_in(view: View, explained: Explained | None, message: str) -> None:
    if isinstance(view, GraphView | RooflineView | TimelineView):
        view.show_explained(explained, message)
        return
    if isinstance(view, OperatorsView):
        view.model_name = "" if explained is None else explained.model
    if explained is None:
        view.show_table(None, message)
    elif isinstance(view, OperatorsView):
        view.show_table(explained.table, message, explained.device, explained.operators)
    else:
        view.show_table(explained.table, message, explained.device, explained.attention)
