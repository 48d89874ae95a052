"""The main window: places and panels at the left, a view with its strip, status below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence, QResizeEvent, QUndoGroup, QUndoStack
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QMainWindow, QWidget

from ctm_gui import settings as table
from ctm_gui.models.panel import ModelsPanel
from ctm_gui.settings import AnySetting, Settings, remembered_csv_style, remembered_theme
from ctm_gui.targets.machine_strip import MachineStrip
from ctm_gui.targets.panel import TargetsPanel
from ctm_gui.targets.ranking import ConfigurationRanking
from ctm_gui.undo import page_of
from ctm_gui.widgets.basic import fill, splitter
from ctm_gui.widgets.drop_overlay import DropOverlay, refuse_drops
from ctm_gui.widgets.focus import content_of
from ctm_gui.widgets.grid import Grid
from ctm_gui.widgets.theme import ThemeChoice
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.actions import action_specs, build_actions
from ctm_gui.window.assistance import Assistance
from ctm_gui.window.focus_parts import copy_from, go_to_part, select_all_in
from ctm_gui.window.menus import RecentMenu, fill_menus, follow_undo
from ctm_gui.window.message_list import MessageList, Noticed
from ctm_gui.window.pages import PAGES, Page
from ctm_gui.window.places_view import PlacesView
from ctm_gui.window.session import (
    FIRST_SIZE,
    Session,
    remember_language,
    remember_models,
    remember_targets,
    remembered_unit,
    restore_targets,
)
from ctm_gui.window.side_panels import Panels, SidePanels
from ctm_gui.window.start_page import FirstView, PurposePage, UntilOpened
from ctm_gui.window.status_line import StatusLine
from ctm_gui.window.steps import OptionSteps
from ctm_gui.window.workspace import LOAD_SUFFIX, Workspace
from predictor.core.errors import HostError
from predictor.services.models.files import model_suffixes

if TYPE_CHECKING:
    from ctm_gui.window.central_views import CentralViews

_LEFT_WIDTH = 340
# A folder of models changes the list once a model.
_REMEMBER_DELAY_MS = 200
_STANDS_IN = "All numbers are estimates of the roofline engine."


class MainWindow(QMainWindow):
    """Shows a workspace and passes the user's commands on to it.

    The views in the tabs are made by ``build_views`` once the first frame is on the screen, or at
    once where one is asked for before.

    ``theme_chosen`` gives the ThemeChoice of the View menu; ``probing_requested`` asks for the
    wizard, ``report_requested`` for the report.

    Args:
        workspace: models, targets, what-ifs and the comparison.
        settings: restored now, written at the end.
        options: unit, budget and theme of all views.
        pages: in the tabs, in their order.
        is_late: the targets are empty until their ``fill``, as at a start.
    """

    theme_chosen = Signal(object)
    probing_requested = Signal()
    report_requested = Signal()

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        options: ViewOptions,
        pages: Sequence[Page] = PAGES,
        *,
        is_late: bool = False,
    ) -> None:
        super().__init__()
        self.workspace: Workspace = workspace
        self.options = options
        self.settings, self.pages = settings, pages
        self._central: CentralViews | None = None
        self.models_panel: ModelsPanel = ModelsPanel(options, workspace.shelf)
        ranking = ConfigurationRanking(
            workspace.predictor, workspace.shelf, workspace.user_measurements
        )
        self.machine_strip = MachineStrip(workspace.machine, workspace.selection)
        self.targets_panel = TargetsPanel(
            workspace.selection, workspace.shelf, ranking, self.machine_strip, is_late=is_late
        )
        self.message_list = MessageList(options, workspace.messages)
        self.status_line = StatusLine(options, workspace)
        specs = action_specs(pages)
        self.actions_by_id = build_actions(specs, self)
        self.recent_menu = RecentMenu(settings, self)
        self._models_timer = QTimer(self, singleShot=True, interval=_REMEMBER_DELAY_MS)
        self._models_timer.timeout.connect(self._remember_models)
        answer, library = workspace.undo_stack, workspace.library_stack
        loads = workspace.load_stack
        self._stacks = {"answer": answer, "why": answer, "choose": loads, "library": library}
        self._steps, self._no_steps = QUndoGroup(self), QUndoStack(self)
        self.setWindowTitle("CloserToMe")
        self._arrange()
        self.assistance: Assistance = Assistance(
            self, self.tabs, pages, specs, self.actions_by_id, settings, workspace
        )
        Grid.csv_style = remembered_csv_style(settings)
        theme = remembered_theme(settings)
        fill_menus(self.menuBar(), specs, self.actions_by_id, self.recent_menu, theme)
        self.overlay = DropOverlay(options, self)
        self.overlay.dropped.connect(self.open_paths)
        self._connect()
        # The whole window takes drops: a search box would take a path as text.
        refuse_drops(self)
        self.setAcceptDrops(True)
        self._restore()

    # The views

    def build_views(self) -> Iterator[None]:
        """Make the views, one from one ``yield`` to the next."""
        yield from self._made().build()

    @property
    def central(self) -> CentralViews:
        """The views in the tabs and their connections."""
        central = self._made()
        central.finish()
        return central

    def frame_of(self, index: int) -> UntilOpened | None:
        """Return the widget that shows the purpose of a page until a model is open.

        None for a page without one, such as a list that says itself that it is empty.
        """
        page = self.pages[index]
        if not page.purpose:
            return None
        first = PurposePage(page)
        first.open_requested.connect(self.open_files)
        first.sample_chosen.connect(self.workspace.open_paths)
        return UntilOpened(first, page.works_on, self.workspace.shelf, self.workspace.language)

    # What the actions call

    def open_files(self) -> None:
        """Ask for model files."""
        patterns = " ".join(f"*{suffix}" for suffix in model_suffixes())
        paths, _ = QFileDialog.getOpenFileNames(
            self,
            "Open models",
            self.settings.get(table.FOLDER),
            f"Models ({patterns} config.json *.gguf);;Loads (*{LOAD_SUFFIX});;All (*)",
        )
        self.open_paths(paths)

    def open_folder(self) -> None:
        """Ask for a folder of models."""
        folder = QFileDialog.getExistingDirectory(
            self, "Open a folder of models", self.settings.get(table.FOLDER)
        )
        if folder:
            self.open_paths([folder])

    def open_paths(self, paths: Sequence[str]) -> None:
        """Add files and the contents of folders."""
        if paths:
            self.settings.set(table.FOLDER, str(Path(paths[0]).parent))
            self.workspace.open_paths(paths)

    def undo(self, *, redo: bool = False) -> None:
        """Take back the last step of the place that is looked at, on the page that shows it."""
        stack = self._steps.activeStack()
        if page := page_of(stack, redo=redo):
            self.show_page(page)
        text = f"Done again: {stack.redoText()}" if redo else f"Taken back: {stack.undoText()}"
        self.workspace.messages.info(text)  # before what the step itself says
        (stack.redo if redo else stack.undo)()

    def copy(self) -> None:
        """Copy from the focused widget, as its copy keys do."""
        copy_from(self.focusWidget())

    def select_all(self) -> None:
        """Select everything in the widget that has the focus; every model where it has none."""
        if not select_all_in(self.focusWidget()):
            self.models_panel.select_all()

    def search(self) -> None:
        """Put the cursor into the search box of the view that has the focus."""
        # focusWidget is None before the first focus; the window itself is in no panel.
        if self._panels.isAncestorOf(self.focusWidget() or self):
            self.targets_panel.focus_search()
        else:
            self.central.focus_search()

    def read_again(self) -> None:
        """Read the selected models again."""
        for row in self.models_panel.selected_rows():
            self.workspace.shelf.read_again(row)

    @property
    def page(self) -> Page:
        """The page that is looked at."""
        return self.places.page

    def show_page(self, page_id: str) -> None:
        """Show a page, or the page of a part of this id and that part in it.

        Raises:
            KeyError: the window has no page and no part of this id.
        """
        self.places.show_page(page_id)
        if page_id in {part.id for part in self.page.parts}:
            self.settings.set(table.WHY_STRIP, page_id)
            # A page that is still to be made reads it then.
            if self._central is not None:
                self._central.part_requested.emit(page_id)

    def show_place(self, place_id: str) -> None:
        """Show a place, at the page of it that was looked at last."""
        self.places.show_place(place_id)

    def show_compared(self, page: int) -> None:
        """Show the chart, the matrix or a further page of the comparison."""
        self.show_page("compare")
        self.central.compare_tabs.show_page(page)

    def choose_theme(self, choice: ThemeChoice) -> None:
        """Draw the window in the theme of the user's choice."""
        self.settings.set(table.THEME, choice.value)
        self.theme_chosen.emit(choice)

    def probe_device(self) -> None:
        """Open the probing wizard."""
        self.probing_requested.emit()

    def tick_targets(self, device_ids: Sequence[str]) -> None:
        """Tick devices, and show where they stand among the targets."""
        self._show_panels()
        self.targets_panel.tick(device_ids)

    def _search_targets(self) -> None:
        self._show_panels()
        self.targets_panel.focus_search()

    def _show_panels(self) -> None:
        if self._panels.isHidden():
            self.side_panels.toggle()

    def write_report(self) -> None:
        """Open the report."""
        self.report_requested.emit()

    def _see_machine(self) -> None:
        self.show_page("devices")
        machine = self.workspace.library.machine
        if machine is not None:
            self.workspace.selection.select([machine.device.id], selected=True)
            self.central.show_device(machine.device.id)

    def go_to_part(self, step: int) -> None:
        """Put the focus into the next part of the window, or the one before."""
        parts = (self.place_strip, self.models_panel, self.targets_panel, self.places)
        # The first button of the targets ticks all of them; a page has strips before its content.
        entries = {
            self.targets_panel: self.targets_panel.search_box,
            self.places: content_of(self.tabs.currentWidget()),
        }
        go_to_part((*parts, self.message_list), step, entries)

    def toggle_messages(self) -> None:
        """Show or hide the list of messages."""
        self.message_list.setVisible(not self.message_list.isVisible())
        self.actions_by_id["messages"].setChecked(self.message_list.isVisible())

    def closeEvent(self, event: QCloseEvent) -> None:
        self._remember()
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Search where no view has taken the key itself."""
        if event.matches(QKeySequence.StandardKey.Find):
            self.search()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.side_panels.fit()

    def _arrange(self) -> None:
        self.first_view = FirstView(self.workspace.shelf, self.workspace.language)
        self.places = PlacesView(
            self.options, self.workspace.selection, self.pages, self.actions_by_id, self.first_view
        )
        self.tabs, self.place_strip = self.places.tabs, self.places.place_strip
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self._panels = Panels(self.models_panel, self.targets_panel)
        self._panels.setSizes([320, 420])
        self.side_panels: SidePanels = SidePanels(
            self._panels, self.tabs, self.places, self.pages, self.actions_by_id["side_bar"]
        )
        self.noticed = Noticed(self.places)
        self._centre = splitter(down, self.noticed, self.message_list, sizes=(640, 160))
        widths = (_LEFT_WIDTH, FIRST_SIZE[0] - _LEFT_WIDTH)
        self._body = splitter(across, self._panels, self._centre, sizes=widths, stretch=(0, 1))
        self.message_list.hide()
        splitters = {table.SPLITTERS: self._body, table.PANEL_SPLITTER: self._panels}
        self._session = Session(self, self.tabs, self.pages, splitters, self.settings)
        frame = QWidget()
        fill(QHBoxLayout(frame), self.place_strip, (self._body, 1), margins=0, spacing=0)
        self.setCentralWidget(frame)
        self.statusBar().addWidget(self.status_line, 1)
        self.statusBar().setSizeGripEnabled(False)

    def _connect(self) -> None:
        workspace = self.workspace
        workspace.shelf.content_changed.connect(self.places.follow)
        workspace.opened.connect(self.settings.add_recent)
        workspace.load_opened.connect(self._open_load)
        workspace.box_opened.connect(self._open_box)
        language = workspace.language
        language.state_changed.connect(lambda: self.models_panel.show_language(language.rows))
        self.models_panel.language_closed.connect(language.close_models)
        workspace.language_files.opened.connect(self.models_panel.select_language)
        self.models_panel.language_chosen.connect(self._show_language)
        workspace.activity_changed.connect(self._show_activity)
        workspace.comparison_changed.connect(self._show_engine)
        workspace.language.state_changed.connect(self._show_activity)
        self.models_panel.open_requested.connect(self.open_files)
        self.models_panel.current_changed.connect(self._on_current_model)
        self.targets_panel.device_activated.connect(self._on_device_activated)
        self.targets_panel.details_requested.connect(self._on_details)
        self.status_line.messages_requested.connect(self.toggle_messages)
        self.recent_menu.path_chosen.connect(lambda path: self.open_paths([path]))
        start = self.first_view.start
        start.open_requested.connect(self.open_files)
        start.folder_requested.connect(self.open_folder)
        start.samples_chosen.connect(workspace.open_paths)
        start.help_requested.connect(self.assistance.show_help)
        start.machine_requested.connect(self._see_machine)
        start.targets_requested.connect(self._search_targets)
        start.probe_requested.connect(self.probe_device)
        start.guide.setHidden(not self.settings.get(table.GUIDE))
        start.guide_closed.connect(lambda: self.settings.set(table.GUIDE, value=False))
        workspace.shelf.content_changed.connect(self._remember_models_soon)
        workspace.language.state_changed.connect(self._remember_models_soon)
        self.assistance.setting_changed.connect(self._take_setting)
        self.assistance.targets_chosen.connect(self.tick_targets)
        self._show_activity()
        actions = self.actions_by_id
        OptionSteps(self.options, self.settings, workspace.undo_stack, self)
        for stack in {*self._stacks.values(), self._no_steps}:
            self._steps.addStack(stack)
        self.tabs.currentChanged.connect(self._choose_stack)
        self._choose_stack()
        follow_undo(self._steps, actions["undo"], actions["redo"])

    def _choose_stack(self, *_: object) -> None:
        self._steps.setActiveStack(self._stacks.get(self.page.place, self._no_steps))

    def _restore(self) -> None:
        self._session.restore()
        if changed := restore_targets(self.workspace.selection, self.settings):
            self.workspace.messages.info(changed)

    def _remember(self) -> None:
        self._session.remember()
        if self._models_timer.isActive():
            self._remember_models()
        remember_targets(self.workspace.selection, self.settings)
        try:
            self.settings.sync()
        except HostError as error:
            self.workspace.messages.error(error)

    def _show_engine(self) -> None:
        problem = self.workspace.comparison.engine_problem
        self.noticed.show_notice(f"{problem} {_STANDS_IN}" if problem else "")

    def _show_activity(self) -> None:
        busy = self.workspace.searching or bool(self.workspace.shelf.pending_count)
        self.actions_by_id["cancel"].setEnabled(busy)
        has_language = self.workspace.language.state.entries
        has_tokens = has_language and self.workspace.selection.selected_ids
        has_results = self.workspace.comparison.rows or has_tokens or self._has_load
        self.actions_by_id["report"].setEnabled(bool(has_results))
        has_files = bool(self.workspace.shelf.entries)
        self.actions_by_id["read_again"].setEnabled(has_files)
        for action in ("remove", "select_all"):
            self.actions_by_id[action].setEnabled(has_files or bool(has_language))

    @property
    def _has_load(self) -> bool:
        """Whether there is an answer on a load."""
        central = self._central
        return central is not None and central.is_built and central.load.answer is not None

    def _take_setting(self, setting: AnySetting) -> None:
        """Apply a setting that the dialog changed."""
        if setting is table.THEME:
            choice = remembered_theme(self.settings)
            self.actions_by_id[f"theme_{choice.value}"].setChecked(True)
            self.theme_chosen.emit(choice)
        elif setting is table.UNIT:
            self.options.set_unit(remembered_unit(self.settings))
        elif setting is table.BUDGET_MS:
            self.options.set_budget_ms(self.settings.get(table.BUDGET_MS) or None)
        elif setting is table.CSV_STYLE:
            Grid.csv_style = remembered_csv_style(self.settings)
        elif setting is table.MEASURE:
            self.workspace.machine.is_automatic = self.settings.get(table.MEASURE)

    def _remember_models_soon(self) -> None:
        # At each change, not only at the end: what ends the program ends no session.
        if not self._models_timer.isActive():
            self._models_timer.start()

    def _remember_models(self) -> None:
        self._models_timer.stop()
        remember_models(self.workspace.shelf, self.settings)
        remember_language(self.workspace.language, self.settings)

    def _on_device_activated(self, device_id: str) -> None:
        self.central.show_operators(device_id)

    def _open_load(self, path: str) -> None:
        self.show_page("load")
        self.central.load.open(Path(path))

    def _open_box(self, path: str) -> None:
        self.show_page("load")
        models = [entry.path for entry in self.workspace.shelf.entries]
        self.central.load.add_box(Path(path), models)

    def _on_details(self, device_id: str) -> None:
        self.central.show_device(device_id)

    def _made(self) -> CentralViews:
        if self._central is None:
            # Not at the top: its views import the plots, which take long.
            from ctm_gui.window.central_views import CentralViews

            self._central = CentralViews(self)
            self._central.built.connect(self._on_built)
        return self._central

    def _on_built(self) -> None:
        self._on_current_model(self.models_panel.current_row())
        if self._central is not None:
            tabs = self._central.compare_tabs
            tabs.offered_changed.connect(self.places.follow)
            self.workspace.language.state_changed.connect(self.places.follow)
            tabs.offered_changed.connect(self.side_panels.fit_soon)
            self._central.load.results_changed.connect(self._show_activity)
            self.places.set_answer(lambda: (self._offered(tabs.offered), tabs.name))

    def _offered(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the parts of the answer that say something."""
        has_files = bool(self.workspace.shelf.entries)
        of_language = ("language",) if self.workspace.language.state.entries else ()
        if not has_files and not of_language:
            return ()
        return (*parts, *(("clocks",) if has_files else ()), *of_language)

    def _show_language(self, path: str) -> None:
        self.workspace.language.show(path)
        self.show_page("language")

    def _on_current_model(self, row: int) -> None:
        entries = self.workspace.shelf.entries
        if row >= 0 and self.page.id == "language":
            self.show_page("compare")
        if self._central is not None and 0 <= row < len(entries):
            self._central.explanation.choose_model(entries[row].id)
