"""The views in the tabs, made when the first frame is on the screen, and their connections.

They import the plots: without them the window starts in about half the time. ``MainWindow`` makes
them one a turn of the event loop, or all at once where somebody asks for one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QTabWidget, QWidget

from ctm_gui import settings as table
from ctm_gui.attention.view import AttentionView
from ctm_gui.choose.presenter import ChoicePresenter
from ctm_gui.choose.view import ChooseView
from ctm_gui.clocks.plane import ClocksPresenter
from ctm_gui.clocks.view import ClocksView
from ctm_gui.compare.difference import DifferencePresenter
from ctm_gui.compare.matrix import VariantsPresenter
from ctm_gui.compare.pareto import Scores
from ctm_gui.compare.sweep import SweepPresenter
from ctm_gui.compare.tabs import CompareTabs
from ctm_gui.compare.view import CompareView
from ctm_gui.devices.form import DeviceForm
from ctm_gui.devices.live import LivePrediction
from ctm_gui.devices.view import DevicesView
from ctm_gui.graph.presenter import GraphPresenter
from ctm_gui.graph.view import GraphTab, GraphView
from ctm_gui.history.view import HistoryView
from ctm_gui.language.view import LanguageView
from ctm_gui.operators.view import OperatorsView
from ctm_gui.prediction.explanation import WORKING, ExplanationPresenter
from ctm_gui.roofline.view import RooflineView
from ctm_gui.settings import Settings
from ctm_gui.tasks.turns import in_turns
from ctm_gui.timeline.view import TimelineView
from ctm_gui.undo import UndoStep
from ctm_gui.widgets.drop_overlay import refuse_drops
from ctm_gui.widgets.theme import LIGHT, Theme
from ctm_gui.window.actions import (
    CHOOSE_TAB,
    CLOCKS_TAB,
    COMPARE_TAB,
    DEVICES_TAB,
    GRAPH_TAB,
    LANGUAGE_TAB,
    OPERATORS_TAB,
    TIMELINE_TAB,
)
from ctm_gui.window.explanation_tabs import ExplanationTabs
from ctm_gui.window.graph_beside import GraphBeside
from ctm_gui.window.start_page import FirstView
from ctm_gui.window.workspace import Workspace
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import number, shown

View = (
    CompareTabs
    | OperatorsView
    | GraphTab
    | RooflineView
    | TimelineView
    | AttentionView
    | DevicesView
    | HistoryView
    | ChooseView
    | ClocksView
    | LanguageView
)


class CentralViews(QObject):
    """Makes the views and puts them into their tabs.

    ``built`` is emitted once all views exist, ``probing_asked`` where one asks for the wizard,
    ``open_requested`` where one asks for files.

    Args:
        workspace: the data of the views.
        settings: budget, page and scores of the comparison.
        tabs: with a place for each view.
        first: the first of these places, which also holds the page to start from.
        parent: owner.
    """

    built = Signal()
    probing_asked = Signal()
    open_requested = Signal()

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        tabs: QTabWidget,
        first: FirstView,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self.workspace = workspace
        self._settings = settings
        self._tabs, self._first = tabs, first
        self._theme, self._unit = LIGHT, LatencyUnit.MS
        self._former_theme: list[View | GraphView] = []  # views that still have it
        self.is_built = False
        self.explanation = ExplanationPresenter(workspace.predictor, self)
        # One generator for both ways: finish goes on at the step that build has reached.
        self._steps = self._build()

    def build(self) -> Iterator[None]:
        """Make the missing views, one between two ``yield``."""
        yield from self._steps

    def finish(self) -> None:
        """Make the missing views at once."""
        for _ in self._steps:
            pass

    @property
    def views(self) -> tuple[View, ...]:
        """The views in the order of their tabs."""
        return (
            self.compare_tabs,
            self.operators_view,
            self.graph_tab,
            self.roofline_view,
            self.timeline_view,
            self.attention_view,
            self.devices_view,
            self.history_view,
            self.choose_view,
            self.clocks_view,
            self.language_view,
        )

    def set_theme(self, theme: Theme) -> None:
        """Draw the views in the theme's colours: those in sight at once, others in later turns."""
        self._theme = theme
        if self.is_built:
            # The graph may be in sight while its tab is not.
            graph_tab, graph = self.graph_tab, self.graph_view
            self._former_theme = [graph if view is graph_tab else view for view in self.views]
            for view in list(self._former_theme):
                if view.isVisible():
                    self._draw(view)
            in_turns(self._drawing(), self)

    def _drawing(self) -> Iterator[None]:
        while self._former_theme:
            yield
            for view in self._former_theme[:1]:
                self._draw(view)

    def _draw(self, view: View | GraphView) -> None:
        """Draw a view in the present theme, once a change."""
        if view in self._former_theme:
            self._former_theme.remove(view)
            view.set_theme(self._theme)

    def set_unit(self, unit: LatencyUnit) -> None:
        """Show latencies in ``unit``."""
        self._unit = unit
        if self.is_built:
            self.compare_tabs.set_unit(unit)
            self.operators_view.set_unit(unit)
            self.graph_view.set_unit(unit)
            self.roofline_view.set_unit(unit)
            self.timeline_view.set_unit(unit)
            self.history_view.set_unit(unit)
            self.clocks_view.set_unit(unit)
            self.live.set_unit(unit)

    def focus_search(self) -> None:
        """Put the cursor into the search box of the view that is shown."""
        self.views[self._tabs.currentIndex()].focus_search()

    def show_operators(self, device_id: str) -> None:
        """Show where the time goes on a device."""
        self.workspace.selection.select([device_id], selected=True)
        self.explanation.choose_device(device_id)
        self._tabs.setCurrentIndex(OPERATORS_TAB)

    def export_trace(self) -> None:
        """Ask where to save the timeline, as soon as there is one."""
        self._tabs.setCurrentIndex(TIMELINE_TAB)
        # Not ``settled``: its sensitivity may still be worked out, and tells nothing more.
        if self.explanation.message != WORKING:
            self._ask_for_trace()
        else:
            once = Qt.ConnectionType.SingleShotConnection
            self.explanation.table_changed.connect(self._ask_for_trace, once)

    def _ask_for_trace(self) -> None:
        if not self.timeline_view.ask_for_trace():
            self.workspace.messages.info("There is no timeline to export: open a model first")

    def show_device(self, device_id: str) -> None:
        """Show the facts of a device."""
        self._tabs.setCurrentIndex(DEVICES_TAB)
        self.devices_view.show_device(device_id)

    def show_budget(self) -> None:
        """Show the budget of the settings."""
        budget_ms = self._settings.get(table.BUDGET_MS) or None
        self.compare_tabs.set_budget_ms(budget_ms)
        self.choose_view.set_budget_ms(budget_ms)
        self.clocks_view.set_budget_ms(budget_ms)

    def _build(self) -> Iterator[None]:
        workspace = self.workspace
        self.compare_view = CompareView()
        yield
        self.compare_tabs = CompareTabs(
            self.compare_view,
            VariantsPresenter(workspace.predictor, self),
            DifferencePresenter(workspace.predictor, self),
            SweepPresenter(workspace.predictor, self),
            Scores(self._settings, self),
        )
        yield
        self.operators_view = OperatorsView()
        yield
        self.graph_view = GraphView(GraphPresenter(workspace.layouter, self))
        self.graph_tab = GraphTab(self.graph_view)
        yield
        self.roofline_view = RooflineView()
        self.timeline_view = TimelineView()
        yield
        self.attention_view = AttentionView()
        yield
        self.device_form = DeviceForm(workspace.library, workspace.undo_stack, self)
        self.live = LivePrediction(self.device_form, workspace.comparing, workspace.predictor, self)
        self.devices_view = DevicesView(
            workspace.library, self.device_form, workspace.machine, self.live
        )
        self.history_view = HistoryView(workspace.history, workspace.projects)
        yield
        self.choice = ChoicePresenter(
            workspace.predictor, workspace.own, workspace.library.by_id, self
        )
        self.choose_view = ChooseView(self.choice)
        self.clocks = ClocksPresenter(self.explanation, workspace.predictor, self)
        self.clocks_view = ClocksView(self.clocks)
        yield
        self.language_view = LanguageView(workspace.language)
        yield
        for index, view in enumerate(self.views):
            refuse_drops(view)
            if index != COMPARE_TAB:
                self._replace(index, view)
                yield
        self._connect()
        self._show()
        # Last: it is seen with what it shows.
        self._first.set_other(self.compare_tabs)
        self.built.emit()

    def _replace(self, index: int, view: QWidget) -> None:
        tabs, place = self._tabs, self._tabs.widget(index)
        current, title = tabs.currentIndex(), tabs.tabText(index)
        # Removing a tab makes its neighbour current for a moment: nobody is to react to that.
        blocked = tabs.blockSignals(True)
        tabs.removeTab(index)
        tabs.insertTab(index, view, title)
        tabs.setCurrentIndex(current)
        tabs.blockSignals(blocked)
        if place is not None:
            place.deleteLater()

    def _connect(self) -> None:
        workspace = self.workspace
        self.explanation_tabs = ExplanationTabs(
            self.explanation,
            self.operators_view,
            self.graph_tab,
            self.roofline_view,
            self.timeline_view,
            self.attention_view,
            self._tabs,
            GraphBeside(self.operators_view, self.graph_tab, self._tabs, self._settings),
        )
        self.operators_view.type_chosen.connect(self._on_type)
        self.clocks_view.pair.choice_changed.connect(self.explanation.choose)
        self.clocks.choices_changed.connect(self._show_clocks_pair)
        self.explanation.done.connect(workspace.messages.info)
        self.explanation.failed.connect(workspace.messages.error)
        self.compare_tabs.budget_changed.connect(self._on_budget)
        self.compare_tabs.page_changed.connect(partial(self._settings.set, table.COMPARE_MODE))
        self.compare_view.row_activated.connect(self._on_row_activated)
        self.compare_view.table.add_row_action("I Measured This Model Here…", self._record_measured)
        workspace.comparison_changed.connect(self._on_comparison)
        machine = workspace.machine
        machine.changed.connect(lambda: self.compare_view.show_activity(machine.state))
        self._tabs.currentChanged.connect(self._show_comparison)
        self.choose_view.budget_changed.connect(self._on_budget)
        self.choose_view.device_activated.connect(self.show_operators)
        self.choose_view.measuring_asked.connect(self._probe)
        self._tabs.currentChanged.connect(self._look_at_tab)
        self.language_view.open_requested.connect(self.open_requested)

    def _show(self) -> None:
        """Bring the new views up to the window's theme, unit, budget and comparison."""
        self.is_built = True
        for view in self.views:
            view.set_theme(self._theme)
        self.set_unit(self._unit)
        self.show_budget()
        self.compare_tabs.show_page(self._settings.get(table.COMPARE_MODE))
        self._on_comparison()
        self.explanation_tabs.look()
        self._look_at_tab()

    def _on_comparison(self) -> None:
        self.explanation.set_comparison(self.workspace.comparison)
        self.choice.set_comparison(self.workspace.comparison)
        self.clocks.set_comparison(self.workspace.comparison)
        self._show_comparison()

    def _show_comparison(self, *_: object) -> None:
        # A view that nobody sees follows when it is looked at: drawing both takes twice as long.
        looked_at = self._tabs.currentIndex() == COMPARE_TAB
        self.compare_tabs.show_comparison(self.workspace.comparison, looked_at=looked_at)
        self.choice.set_active(active=self._tabs.currentIndex() == CHOOSE_TAB)

    def _on_budget(self, budget_ms: float | None) -> None:
        before = self._settings.get(table.BUDGET_MS) or None
        if budget_ms != before:
            words = "No Budget" if budget_ms is None else f"Budget {number(budget_ms)} ms"
            change, back = (partial(self._set_budget, ms) for ms in (budget_ms, before))
            self.workspace.undo_stack.push(UndoStep(words, change, back, "budget"))

    def _set_budget(self, budget_ms: float | None) -> None:
        self._settings.set(table.BUDGET_MS, budget_ms or 0.0)
        self.show_budget()

    def _on_type(self, now: str, before: str) -> None:
        words = f"Show {shown(now)}" if now else "Show All Types"
        change, back = (partial(self.operators_view.show_type, each) for each in (now, before))
        self.workspace.undo_stack.push(UndoStep(words, change, back))

    def _look_at_tab(self, *_: object) -> None:
        tab = self._tabs.currentIndex()
        self._draw(self.graph_view if tab == GRAPH_TAB else self.views[tab])
        self.clocks.set_active(active=tab == CLOCKS_TAB)
        self.workspace.language.set_active(active=tab == LANGUAGE_TAB)

    def _show_clocks_pair(self) -> None:
        self.clocks_view.pair.set_choices(self.explanation.models, self.explanation.targets)
        if self.explanation.choice is not None:
            self.clocks_view.pair.set_choice(*self.explanation.choice)

    def _on_row_activated(self, row: int) -> None:
        self.explanation.choose(*self.workspace.comparison.pair_of(row))
        self._tabs.setCurrentIndex(OPERATORS_TAB)

    def _probe(self, device_id: str) -> None:
        """Ask for the wizard, which probes what is ticked."""
        self.workspace.selection.select([device_id], selected=True)
        self.probing_asked.emit()

    def _record_measured(self, row: int) -> None:
        shown = self.workspace.comparison.rows[row]
        self.workspace.history.find(shown.prediction, shown.device_name)
