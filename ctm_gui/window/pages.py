"""The pages of the window in one table, which its tabs, menu, palette, help and session read.

A room of a page is imported by its maker, once the first frame is on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from ctm_gui import settings as table
from ctm_gui.undo import push_change
from predictor.presentation.wording import shown

if TYPE_CHECKING:
    from ctm_gui.window.central_views import CentralViews

_VIEWS = "ctm_gui.window.central_views"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page with an action of its own: id, text with its mnemonic, keys, a sentence."""

    id: str
    text: str
    keys: str
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page among the tabs.

    Attributes:
        id: stable name, of its action and in the session.
        title: of its tab.
        text: of its action, with the mnemonic marked.
        keys: shortcut of its action.
        modules: loaded after the first frame, one a turn of the event loop, before it is made.
        make: builds it, and connects it with the rest of the window.
        tip: one sentence, or empty.
        help: name of its page of help; empty for its id.
        needs_panels: whether the ticks at the left change it; otherwise the panels give way to it
            in a narrow window.
        pieces: made before it, one a turn of the event loop.
        parts: those that an action shows; a page of before that it has taken in is one.
    """

    id: str
    title: str
    text: str
    keys: str
    modules: tuple[str, ...]
    make: Callable[[CentralViews], QWidget]
    tip: str = ""
    help: str = ""
    needs_panels: bool = True
    pieces: tuple[Callable[[CentralViews], None], ...] = ()
    parts: tuple[Part, ...] = ()


def place_of(pages: Sequence[Page], name: str) -> int | None:
    """Return the index of a page by its id or one of its parts, or by its title of before."""
    names = [(page.id, page.title.lower(), *(part.id for part in page.parts)) for page in pages]
    return next((place for place, page_names in enumerate(names) if name in page_names), None)


def modules_of(pages: Sequence[Page]) -> tuple[str, ...]:
    """Return the modules that the views are made of, in the order of loading."""
    return (*(name for page in pages for name in page.modules), _VIEWS)


def _make_compare(views: CentralViews) -> QWidget:
    from ctm_gui.compare.difference import DifferencePresenter
    from ctm_gui.compare.matrix import VariantsPresenter
    from ctm_gui.compare.scores import Scores
    from ctm_gui.compare.sweep import SweepPresenter
    from ctm_gui.compare.tabs import CompareTabs
    from ctm_gui.compare.view import CompareView

    options, worker, workspace = views.options, views.workspace.predictor, views.workspace
    chart = views.compare_view = CompareView(options)
    pages = views.compare_tabs = CompareTabs(
        options,
        chart,
        VariantsPresenter(worker, views),
        DifferencePresenter(worker, views),
        SweepPresenter(worker, views),
        Scores(views.settings, views),
    )
    pages.show_page(views.settings.get(table.COMPARE_MODE))
    pages.page_changed.connect(partial(views.settings.set, table.COMPARE_MODE))
    chart.row_activated.connect(views.show_row)
    chart.table.add_row_action("I Measured This Model Here…", views.record_measured)

    def follow(*_: object) -> None:
        # A view that nobody sees follows when it is looked at: drawing both takes twice as long.
        pages.show_comparison(workspace.comparison, looked_at=views.page_id == "compare")

    views.comparison_displayed.connect(follow)
    views.page_displayed.connect(follow)
    return pages


def _make_operators(views: CentralViews) -> None:
    from ctm_gui.operators.view import OperatorsView

    view = views.operators_view = OperatorsView(views.options)

    def on_type(now: str, before: str) -> None:
        words = f"Show {shown(now)}" if now else "Show All Types"
        push_change(views.workspace.undo_stack, words, view.show_type, now, before)

    view.type_chosen.connect(on_type)


def _make_graph(views: CentralViews) -> None:
    from ctm_gui.graph.presenter import GraphPresenter
    from ctm_gui.graph.view import GraphView

    presenter = GraphPresenter(views.workspace.layouter, views)
    views.graph_view = GraphView(views.options, presenter)


def _make_pictures(views: CentralViews) -> None:
    from ctm_gui.roofline.view import RooflineView
    from ctm_gui.timeline.view import TimelineView

    views.roofline_view = RooflineView(views.options)
    views.timeline_view = TimelineView(views.options)


def _make_attention(views: CentralViews) -> None:
    from ctm_gui.attention.view import AttentionView

    views.attention_view = AttentionView(views.options)


def _make_why(views: CentralViews) -> QWidget:
    from ctm_gui.why.view import WhyView

    strip = (
        views.operators_view, views.timeline_view, views.roofline_view, views.attention_view
    )  # fmt: skip
    view = views.why_view = WhyView(
        views.options, views.explanation, views.graph_view, strip, views.settings
    )
    views.part_requested.connect(view.show_part)
    views.set_active_on("why", views.explanation)
    return view


def _make_devices(views: CentralViews) -> QWidget:
    from ctm_gui.devices.form import DeviceForm
    from ctm_gui.devices.live import LivePrediction
    from ctm_gui.devices.view import DevicesView

    options, workspace = views.options, views.workspace
    form = DeviceForm(workspace.library, workspace.undo_stack, views)
    live = LivePrediction(options, form, workspace.comparing, workspace.predictor, views)
    views.devices_view = DevicesView(options, workspace.library, form, workspace.machine, live)
    return views.devices_view


def _make_history(views: CentralViews) -> QWidget:
    from ctm_gui.history.view import HistoryView

    workspace = views.workspace
    views.history_view = HistoryView(views.options, workspace.history, workspace.projects)
    return views.history_view


def _make_choose(views: CentralViews) -> QWidget:
    from ctm_gui.choose.presenter import ChoicePresenter
    from ctm_gui.choose.view import ChooseView

    workspace = views.workspace
    presenter = views.choice = ChoicePresenter(
        workspace.predictor, workspace.user_measurements, workspace.library.by_id, views
    )
    view = views.choose_view = ChooseView(views.options, presenter)
    view.device_activated.connect(views.show_operators)
    view.measuring_requested.connect(views.probe)
    views.followers.append(presenter)
    views.set_active_on("choose", presenter)
    return view


def _make_clocks(views: CentralViews) -> QWidget:
    from ctm_gui.clocks.plane import ClocksPresenter
    from ctm_gui.clocks.view import ClocksView

    explanation = views.explanation
    presenter = views.clocks = ClocksPresenter(explanation, views.workspace.predictor, views)
    view = views.clocks_view = ClocksView(views.options, presenter)
    view.pair.choice_changed.connect(explanation.choose)
    presenter.choices_changed.connect(
        lambda: view.pair.set_choices(explanation.models, explanation.targets, explanation.choice)
    )
    views.followers.append(presenter)
    views.set_active_on("clocks", presenter)
    return view


def _make_language(views: CentralViews) -> QWidget:
    from ctm_gui.language.view import LanguageView

    presenter = views.workspace.language
    view = views.language_view = LanguageView(views.options, presenter)
    view.open_requested.connect(views.window.open_files)
    views.set_active_on("language", presenter)
    return view


def _room(name: str, *modules: str) -> tuple[str, ...]:
    return tuple(f"ctm_gui.{name}.{module}" for module in modules)


PAGES: tuple[Page, ...] = (
    Page(id="compare", title="Compare", text="&Compare", keys="Ctrl+1", make=_make_compare,
         modules=_room("compare", "chart_items", "chart_view", "matrix", "item_models", "view",
                       "difference", "matrix_view", "pareto_view", "difference_view", "tabs")),
    Page(id="why", title="Why", text="Wh&y", keys="", make=_make_why,
         pieces=(_make_operators, _make_graph, _make_pictures, _make_attention),
         modules=(*_room("prediction", "explanation"), *_room("operators", "view"),
                  *_room("graph", "presenter", "canvas_view", "view"), *_room("roofline", "view"),
                  *_room("timeline", "view"), *_room("attention", "map_view", "view"),
                  *_room("why", "view")),
         tip="Where the time of a model goes on a target, and what would make it faster",
         needs_panels=False,
         parts=(
             Part("operators", "&Operators", "Ctrl+2", "The operators as a table"),
             Part("graph", "&Graph", "Ctrl+3",
                  "The operators and what flows between them, with the time of each"),
             Part("roofline", "Roo&fline", "Ctrl+4",
                  "How close each operator gets to the limits of the hardware"),
             Part("timeline", "&Timeline", "Ctrl+5",
                  "The operators one after another, with their modules"),
             Part("attention", "&Attention", "Ctrl+6",
                  "What each operator is most sensitive to"),
         )),
    Page(id="devices", title="Devices", text="&Devices", keys="Ctrl+7", make=_make_devices,
         modules=_room("devices", "form_view", "view"), needs_panels=False,
         tip="All devices, and the form of your own"),
    Page(id="history", title="History", text="H&istory", keys="Ctrl+8", make=_make_history,
         modules=_room("history", "past_tables", "truth_plot", "view"), needs_panels=False,
         tip="What was predicted before, and how right it was"),
    Page(id="choose", title="Choose", text="Choose by B&udget", keys="Ctrl+9", make=_make_choose,
         modules=_room("choose", "presenter", "view"), needs_panels=False,
         tip="Which hardware keeps a budget, by its chance"),
    Page(id="clocks", title="Clocks", text="Clock Fre&quencies", keys="Ctrl+0", make=_make_clocks,
         modules=_room("clocks", "view"), tip="Latency over power modes and clocks of a device"),
    Page(id="language", title="LLM", text="La&nguage Model", keys="Ctrl+Shift+L",
         make=_make_language, modules=_room("language", "view"),
         tip="Tokens a second and memory of a language model"),
)  # fmt: skip
