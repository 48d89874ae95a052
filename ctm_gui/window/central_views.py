"""The views in the tabs, made when the first frame is on the screen.

They import the plots: without them the window starts in about half the time. ``MainWindow`` makes
them one a turn of the event loop, or all at once where one is needed before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from ctm_gui.prediction.explanation import WORKING, ExplanationPresenter
from ctm_gui.widgets.drop_overlay import refuse_drops

if TYPE_CHECKING:
    from ctm_gui.attention.view import AttentionView
    from ctm_gui.choose.presenter import ChoicePresenter
    from ctm_gui.choose.view import ChooseView
    from ctm_gui.clocks.plane import ClocksPresenter
    from ctm_gui.clocks.view import ClocksView
    from ctm_gui.compare.tabs import CompareTabs
    from ctm_gui.compare.view import CompareView
    from ctm_gui.devices.view import DevicesView
    from ctm_gui.graph.view import GraphView
    from ctm_gui.history.measured_view import MeasuredView
    from ctm_gui.history.view import HistoryView
    from ctm_gui.language.view import LanguageView
    from ctm_gui.loads.presenter import LoadPresenter
    from ctm_gui.loads.view import LoadView
    from ctm_gui.operators.view import OperatorsView
    from ctm_gui.prediction.followers import ComparisonFollower
    from ctm_gui.roofline.view import RooflineView
    from ctm_gui.timeline.view import TimelineView
    from ctm_gui.why.view import WhyView
    from ctm_gui.window.main_window import MainWindow
    from predictor.core.records import Target


@runtime_checkable
class _Searchable(Protocol):
    def focus_search(self) -> None: ...


@runtime_checkable
class _InPieces(Protocol):
    def build(self) -> Iterator[None]: ...


class _Active(Protocol):
    def set_active(self, *, active: bool) -> None: ...


class CentralViews(QObject):
    """Makes the pages of the window and puts them into their tabs.

    Attributes:
        explanation: the pair that several pages explain.
        followers: presenters that get each comparison, in their order.

    Signals:
        built: all pages exist.
        comparison_displayed: the followers have another comparison.
        page_displayed: another page is looked at: its id.
        part_requested: the user wants a part of that page: its id.

    Args:
        window: has the tabs with a place for each page; owner of this object.
    """

    built = Signal()
    comparison_displayed = Signal()
    page_displayed = Signal(str)
    part_requested = Signal(str)

    compare_view: CompareView
    compare_tabs: CompareTabs
    operators_view: OperatorsView
    graph_view: GraphView
    roofline_view: RooflineView
    timeline_view: TimelineView
    attention_view: AttentionView
    why_view: WhyView
    devices_view: DevicesView
    history_view: HistoryView
    measured_view: MeasuredView
    choose_view: ChooseView
    choice: ChoicePresenter
    load_view: LoadView
    load: LoadPresenter
    clocks_view: ClocksView
    clocks: ClocksPresenter
    language_view: LanguageView

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.window, self.workspace = window, window.workspace
        self.settings, self.options = window.settings, window.options
        self._tabs = window.tabs
        self._views: list[QWidget] = []
        self.is_built = False
        self.explanation = ExplanationPresenter(self.workspace.predictor, self)
        self.followers: list[ComparisonFollower] = [self.explanation]
        # One generator for both ways: finish goes on at the step that build has reached.
        self._steps = self._build()

    def build(self) -> Iterator[None]:
        """Make the missing pages, one between two ``yield``."""
        yield from self._steps

    def finish(self) -> None:
        """Make the missing pages at once."""
        for _ in self._steps:
            pass

    @property
    def page_id(self) -> str:
        """The page that is looked at."""
        return self.window.page.id

    def set_active_on(self, page_ids: Sequence[str], presenter: _Active) -> None:
        """Have a presenter work while one of some pages is looked at."""
        self.page_displayed.connect(lambda now: presenter.set_active(active=now in page_ids))

    def focus_search(self) -> None:
        """Put the cursor into the search box of the page that is looked at."""
        view = self._views[self._tabs.currentIndex()]
        if isinstance(view, _Searchable):
            view.focus_search()

    def show_operators(self, device_id: str) -> None:
        """Show where the time goes on a device."""
        self.workspace.selection.select([device_id], selected=True)
        self.explanation.choose_device(device_id)
        self._show_operators()

    def choose_row(self, row: int) -> None:
        """Let the pages of one pair be about a row of the comparison."""
        self.explanation.choose(*self.workspace.comparison.pair_of(row))

    def show_row(self, row: int) -> None:
        """Show where the time of a row of the comparison goes."""
        self.choose_row(row)
        self._show_operators()

    def _show_operators(self) -> None:
        self.window.show_page("operators")
        self.why_view.enter()

    def show_tokens(self, label: str, device_id: str) -> None:
        """Show where the time of a language model goes on a device."""
        self.workspace.language.show_label(label)
        self.window.show_page("language")
        self.language_view.show_device(device_id)

    def show_device(self, device_id: str) -> None:
        """Show the facts of a device."""
        self.window.show_page("devices")
        self.devices_view.show_device(device_id)

    def new_device(self) -> None:
        """Make a device of the user's, and show its form."""
        self.window.show_page("devices")
        self.devices_view.make()

    def measure_machine(self) -> None:
        """Measure this machine, and show it with what is measured."""
        self.window.show_page("devices")
        self.devices_view.measure()

    def record_measured(self, row: int) -> None:
        """Ask for the latency that was measured of a row of the comparison."""
        predicted_row = self.compare_view.rows[row]
        if predicted_row.tokens is not None:  # it has its field there
            self.show_tokens(predicted_row.prediction.model, predicted_row.prediction.device_id)
            return
        self.workspace.history.find(predicted_row.prediction, predicted_row.device_name)

    def compare(self, targets: Sequence[Target], budget_ms: float | None) -> None:
        """Tick targets as they are chosen, and show the comparison against a latency."""
        self.workspace.selection.show_targets(targets)
        if budget_ms is not None:
            self.options.set_budget_ms(budget_ms)
        self.window.show_compared(0)

    def compare_tokens(self, label: str, device_ids: Sequence[str]) -> None:
        """Tick devices, and show a language model on them."""
        self.workspace.language.show_label(label)
        self.workspace.selection.select(device_ids, selected=True)
        self.window.show_page("language")

    def ask_what_if(self, device_id: str) -> None:
        """Ask for a batch, a precision and threads in place of a target's own."""
        from ctm_gui.targets.what_if_dialog import WhatIfDialog

        device = self.workspace.selection.catalogue.by_id.get(device_id)
        if device is not None:
            WhatIfDialog(self.workspace.selection, device, self.window).show()

    def probe(self, device_id: str) -> None:
        """Ask for the wizard, which probes what is ticked."""
        self.workspace.selection.select([device_id], selected=True)
        self.window.probe_device()

    def export_trace(self) -> None:
        """Ask where to save the timeline, as soon as there is one."""
        self.window.show_page("timeline")
        # Not ``settled``: its sensitivity may still be worked out, and adds nothing.
        if self.explanation.message != WORKING:
            self._ask_for_trace()
        else:
            once = Qt.ConnectionType.SingleShotConnection
            self.explanation.table_changed.connect(self._ask_for_trace, once)

    def _ask_for_trace(self) -> None:
        if not self.timeline_view.ask_for_trace():
            self.workspace.messages.info("There is no timeline to export: open a model first")

    def _build(self) -> Iterator[None]:
        for page in self.window.pages:
            for piece in page.pieces:
                piece(self)
                yield
            view = page.make(self)
            self._place(view)
            yield
            if isinstance(view, _InPieces):
                yield from view.build()
                refuse_drops(view)
        self._connect()
        self.is_built = True
        self._on_comparison()
        self.why_view.look()
        self._on_tab()
        # Last: it is seen with what it shows.
        self.window.first_view.set_other(self._views[0])
        self.built.emit()

    def _place(self, view: QWidget) -> None:
        """Put a page into its tab at once: wherever it is put, Qt styles its widgets anew."""
        index = len(self._views)
        self._views.append(view)
        refuse_drops(view)
        if not index:
            self.window.first_view.addWidget(view)  # behind the start page for now
        elif (frame := self.window.frame_of(index)) is None:
            self._replace(index, view)
        else:
            self._replace(index, frame)
            frame.set_other(view)

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
        messages = self.workspace.messages
        self.explanation.done.connect(messages.info)
        self.explanation.failed.connect(messages.error)
        self.workspace.comparison_changed.connect(self._on_comparison)
        self._tabs.currentChanged.connect(self._on_tab)

    def _on_comparison(self) -> None:
        for follower in self.followers:
            follower.set_comparison(self.workspace.comparison)
        self.comparison_displayed.emit()

    def _on_tab(self, *_: object) -> None:
        self.page_displayed.emit(self.page_id)
