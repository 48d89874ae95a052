"""The four places of the window and their pages in two tables, read by its strips and menus.

A room of a page is imported by its maker, once the first frame is on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from ctm_gui import settings as table

if TYPE_CHECKING:
    from ctm_gui.window.central_views import CentralViews

_VIEWS = "ctm_gui.window.central_views"


class WorksOn(Enum):
    """The kind of model that must be open before a page has content."""

    MODELS = "models"
    LANGUAGE_MODELS = "language models"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page with an action of its own: id, text with its mnemonic, keys, a sentence."""

    id: str
    text: str
    keys: str
    tip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One of the places of the window: a question of its user's.

    Attributes:
        id: stable name, of its action.
        title: in the strip at the left.
        text: of its action, with the mnemonic marked.
        keys: shortcut of its action.
        tip: one sentence.
        parts: ids of the actions in the strip over it, before those of its further pages.
    """

    id: str
    title: str
    text: str
    keys: str
    tip: str
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page of a place.

    Attributes:
        id: stable name, of its action and in the session.
        place: id of its place.
        title: in the strip over its place.
        text: of its action, with the mnemonic marked; empty where that of its place shows it.
        keys: shortcut of its action, or empty.
        modules: loaded after the first frame, one a turn of the event loop, before it is made.
        make: builds it, and connects it with the rest of the window.
        tip: one sentence, or empty.
        help: name of its page of help; empty for its id.
        needs_panels: whether the ticks at the left change it; otherwise the panels give way to it
            in a narrow window.
        pieces: made before it, one a turn of the event loop.
        parts: those that an action shows; a page of before that it has taken in is one.
        purpose: what it is for, in a sentence or two, shown in its place until a model is open;
            empty where the page says so itself.
        works_on: the kind of model that must be open.
    """

    id: str
    place: str
    title: str
    text: str = ""
    keys: str = ""
    modules: tuple[str, ...]
    make: Callable[[CentralViews], QWidget]
    tip: str = ""
    help: str = ""
    needs_panels: bool = True
    pieces: tuple[Callable[[CentralViews], None], ...] = ()
    parts: tuple[Part, ...] = ()
    purpose: str = ""
    works_on: WorksOn = WorksOn.MODELS


def index_of(pages: Sequence[Page], name: str) -> int | None:
    """Return the index of a page by its id or one of its parts, or by its title of before."""
    name = _FORMER_NAMES.get(name, name)
    ids = [(page.id, *(part.id for part in page.parts)) for page in pages]
    return next((index for index, names in enumerate(ids) if name in names), None)


def parts_of(place: Place, pages: Sequence[Page]) -> tuple[str, ...]:
    """Return the ids of the actions in the strip over a place; none where there is one page."""
    texts = tuple(page.id for page in pages if page.place == place.id and page.text)
    return place.parts or texts


def modules_of(pages: Sequence[Page]) -> tuple[str, ...]:
    """Return the modules that the views are made of, in the order of loading."""
    return (*(name for page in pages for name in page.modules), _VIEWS)


def _make_chart(views: CentralViews) -> None:
    from ctm_gui.compare.view import CompareView

    views.compare_view = CompareView(views.options)


def _make_compare(views: CentralViews) -> QWidget:
    from ctm_gui.compare.difference import DifferencePresenter
    from ctm_gui.compare.further import FurtherConfigurations
    from ctm_gui.compare.matrix import VariantsPresenter
    from ctm_gui.compare.scores import Scores
    from ctm_gui.compare.sweep import SweepPresenter
    from ctm_gui.compare.tabs import CompareTabs

    options, worker, workspace = views.options, views.workspace.predictor, views.workspace
    chart = views.compare_view
    sweep = SweepPresenter(worker, views)
    explanation = views.explanation
    explanation.choices_changed.connect(lambda: sweep.take_pair(explanation))
    sweep.pair_requested.connect(explanation.choose)
    further = FurtherConfigurations(worker, workspace.selection, workspace.comparing, views)
    pages = views.compare_tabs = CompareTabs(
        options,
        chart,
        VariantsPresenter(worker, views),
        DifferencePresenter(worker, views),
        sweep,
        Scores(views.settings, views),
        further,
    )
    pages.show_page(views.settings.get(table.COMPARE_MODE))
    pages.page_changed.connect(partial(views.settings.set, table.COMPARE_MODE))
    chart.row_activated.connect(views.show_row)
    chart.row_chosen.connect(views.choose_row)
    chart.tokens_activated.connect(views.show_tokens)
    chart.other_activated.connect(further.use)
    chart.more_toggled.connect(further.toggle)
    chart.surer_requested.connect(views.probe)
    chart.what_if_requested.connect(views.ask_what_if)
    chart.table.add_row_action("I Measured This Model Here…", views.record_measured)

    def follow(*_: object) -> None:
        # A view that nobody sees follows when it is looked at: drawing both takes twice as long.
        pages.show_comparison(workspace.comparison, looked_at=views.page_id == "compare")

    language = workspace.language
    language.results_changed.connect(lambda: pages.show_tokens([*language.by_path.values()]))

    def show_missing() -> None:
        is_reading = bool(workspace.shelf.pending_count) or workspace.searching
        chart.show_missing(workspace.comparison.missing, is_reading=is_reading)

    workspace.activity_changed.connect(show_missing)
    views.comparison_displayed.connect(follow)
    views.page_displayed.connect(follow)
    return pages


def _make_operators(views: CentralViews) -> None:
    from ctm_gui.operators.view import OperatorsView

    view = views.operators_view = OperatorsView(views.options)
    view.type_chosen.connect(lambda now, _: view.show_type(now))


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
    views.set_active_on(("why",), views.explanation)
    return view


def _make_devices(views: CentralViews) -> QWidget:
    from ctm_gui.devices.form import DeviceForm
    from ctm_gui.devices.live import LivePrediction
    from ctm_gui.devices.view import DevicesView

    options, workspace = views.options, views.workspace
    form = DeviceForm(workspace.library, workspace.library_stack, views)
    live = LivePrediction(options, form, workspace.comparing, workspace.predictor, views)
    views.devices_view = DevicesView(options, workspace.library, form, workspace.machine, live)
    return views.devices_view


def _make_history(views: CentralViews) -> QWidget:
    from ctm_gui.history.view import HistoryView

    workspace = views.workspace
    view = views.history_view = HistoryView(views.options, workspace.history, workspace.projects)
    view.open_requested.connect(views.window.open_files)
    return view


def _make_measured(views: CentralViews) -> QWidget:
    from ctm_gui.history.measured_rows import MeasuredPresenter
    from ctm_gui.history.measured_view import MeasuredView

    workspace = views.workspace
    presenter = MeasuredPresenter(workspace.recorder.run, workspace.library.by_id, views)
    view = views.measured_view = MeasuredView(presenter)
    view.probing_requested.connect(views.window.probe_device)
    view.machine_requested.connect(views.measure_machine)
    view.device_activated.connect(views.show_device)
    workspace.user_measurements.changed.connect(presenter.read)
    views.set_active_on(("measured",), presenter)
    return view


def _make_choose(views: CentralViews) -> QWidget:
    from ctm_gui.choose.presenter import ChoicePresenter
    from ctm_gui.choose.view import ChooseView

    workspace = views.workspace
    presenter = views.choice = ChoicePresenter(
        workspace.predictor,
        workspace.user_measurements,
        workspace.library.by_id,
        workspace.language,
        views,
    )
    view = views.choose_view = ChooseView(views.options, presenter, views.settings)
    view.device_activated.connect(views.show_operators)
    view.measuring_requested.connect(views.probe)
    view.comparing_requested.connect(views.compare)
    view.tokens_requested.connect(views.compare_tokens)
    views.followers.append(presenter)
    views.set_active_on(("hardware",), presenter)
    views.page_displayed.connect(lambda now: view.enter() if now == "hardware" else None)
    return view


def _make_load(views: CentralViews) -> QWidget:
    from ctm_gui.loads.presenter import LoadPresenter
    from ctm_gui.loads.view import LoadView

    workspace = views.workspace
    selection, shelf, language = workspace.selection, workspace.shelf, workspace.language
    presenter = views.load = LoadPresenter(
        worker=workspace.simulator,
        ingestion=workspace.ingestion,
        run=workspace.recorder.run,
        user_measurements=workspace.user_measurements,
        catalogue=lambda: selection.catalogue,
        settings=views.settings,
        undo_stack=workspace.load_stack,
        parent=views,
    )

    def models() -> list[tuple[str, str]]:
        labels = shelf.labels()
        opened = {entry.path: labels[entry.id] for entry in shelf.entries}
        return [(label, path) for path, label in {**opened, **language.state.labels}.items()]

    view = views.load_view = LoadView(
        views.options, presenter, models, lambda: list(selection.selected)
    )
    presenter.failed.connect(workspace.messages.error)
    shelf.content_changed.connect(view.show_choices)
    language.state_changed.connect(view.show_choices)
    views.set_active_on(("load",), presenter)
    presenter.restore()
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
    views.set_active_on(("clocks",), presenter)
    return view


def _make_language(views: CentralViews) -> QWidget:
    from ctm_gui.language.view import LanguageView

    presenter = views.workspace.language
    view = views.language_view = LanguageView(views.options, presenter)
    view.open_requested.connect(views.window.open_files)
    views.set_active_on(("language", "compare"), presenter)
    return view


def _room(name: str, *modules: str) -> tuple[str, ...]:
    return tuple(f"ctm_gui.{name}.{module}" for module in modules)


PLACES: tuple[Place, ...] = (
    Place(id="answer", title="Answer", text="Answer (&1)", keys="Ctrl+1",
          tip="How fast the models run on the ticked targets",
          parts=("chart", "matrix", "pareto", "changes", "sweep", "clocks", "language")),
    Place(id="why", title="Why", text="Why (&2)", keys="Ctrl+2",
          tip="Where the time of one model on one target goes"),
    Place(id="choose", title="Choose", text="Choose (&3)", keys="Ctrl+3",
          tip="Which hardware keeps a budget by its chance, and what a box carries"),
    Place(id="library", title="Library", text="Library (&4)", keys="Ctrl+4",
          tip="Devices, what was measured on them, and what was predicted before"),
)  # fmt: skip

PAGES: tuple[Page, ...] = (
    Page(id="compare", place="answer", title="Answer", make=_make_compare,
         pieces=(_make_chart,),
         modules=(*_room("widgets", "axes", "plots", "table_view", "filtered_table", "pair_choice"),
                  *_room("compare", "chart_items", "chart_view", "item_models", "answer_view",
                         "view", "matrix_view", "pareto_plot", "pareto_view", "difference_view",
                         "sweep_view", "tabs"))),
    Page(id="clocks", place="answer", title="Clocks", text="Clock Fre&quencies", keys="Ctrl+0",
         make=_make_clocks,
         modules=(*_room("attention", "map_items"), *_room("clocks", "plane_plot", "view")),
         tip="Latency over power modes and clocks of a device",
         purpose="The latency of one model over the power modes and clocks of one target, and what "
                 "a budget leaves of them. Open a model and tick a target."),
    Page(id="language", place="answer", title="Tokens", text="La&nguage Model",
         keys="Ctrl+Shift+L", make=_make_language,
         modules=_room("language", "curve_plot", "parts_plot", "view"),
         tip="Tokens a second and memory of a language model",
         purpose="Tokens a second, time to the first token and memory of a language model on the "
                 "ticked devices, alone or under many users. Open its config.json from Hugging "
                 "Face, its GGUF file, or its decoder in ONNX.",
         works_on=WorksOn.LANGUAGE_MODELS),
    Page(id="why", place="why", title="Why", make=_make_why,
         pieces=(_make_operators, _make_graph, _make_pictures, _make_attention),
         modules=(*_room("operators", "type_strip", "view"),
                  *_room("graph", "boxes_plot", "minimap_view", "canvas_view", "view"),
                  *_room("roofline", "roofline_plot", "view"),
                  *_room("timeline", "timeline_plot", "view"),
                  *_room("attention", "map_view", "view"), *_room("why", "subject_panel", "view")),
         needs_panels=False,
         parts=(
             Part("operators", "&Operators", "Ctrl+Shift+T", "The operators as a table"),
             Part("graph", "&Graph", "Ctrl+Shift+G",
                  "The operators and what flows between them, with the time of each"),
             Part("roofline", "Roo&fline", "Ctrl+Shift+R",
                  "How close each operator gets to the limits of the hardware"),
             Part("timeline", "&Timeline", "Ctrl+5",
                  "The operators one after another, with their modules"),
             Part("attention", "Attent&ion", "Ctrl+6",
                  "What each operator is most sensitive to"),
         ),
         purpose="Where the time of one model on one target goes, and what would make it faster. "
                 "Open a model and tick a target."),
    Page(id="hardware", place="choose", title="Hardware", text="Hard&ware by Budget",
         make=_make_choose, needs_panels=False, help="choose",
         modules=_room("choose", "view"),
         tip="Which devices keep a budget, by its chance",
         purpose="The devices of the whole catalogue that keep a latency, a power or a memory, "
                 "each with its chance; the ticks at the left do not matter. Open a model, then "
                 "state a limit.",
         works_on=WorksOn.EITHER),
    Page(id="load", place="choose", title="Load", text="Lo&ad", keys="Ctrl+9", make=_make_load,
         needs_panels=False,
         modules=_room("loads", "form_view", "boxes_view", "flow_plot", "latency_plot", "view"),
         tip="What a box carries: streams, pipelines and deadlines"),
    Page(id="devices", place="library", title="Devices", text="&Devices", keys="Ctrl+7",
         make=_make_devices, needs_panels=False,
         modules=_room("devices", "lists_view", "form_view", "comparison_view", "header_view",
                       "profile_plot", "view"),
         tip="All devices, and the form of your own"),
    Page(id="measured", place="library", title="Measurements", text="Meas&urements",
         keys="Ctrl+Shift+E", make=_make_measured, needs_panels=False, help="history",
         modules=_room("history", "measured_view"),
         tip="Latencies that you measured, and probings"),
    Page(id="history", place="library", title="History", text="Histor&y", keys="Ctrl+8",
         make=_make_history, needs_panels=False,
         modules=_room("history", "past_tables", "truth_plot", "conflicts_dialog", "past_view",
                       "view"),
         tip="What was predicted before, and how right it was"),
)  # fmt: skip
_FORMER_NAMES = {
    "llm": "language",
    "choose": "hardware",
}  # titles by which sessions of before have a page
