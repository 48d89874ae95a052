"""Every action of the window in one table: id, menu, text, shortcut, callback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QKeySequence

from ctm_gui.widgets.theme import ThemeChoice
from ctm_gui.window.pages import PAGES, PLACES, Page, Part, Place

if TYPE_CHECKING:
    from ctm_gui.window.main_window import MainWindow


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action.

    Attributes:
        id: stable name.
        menu: title of its menu.
        text: its words, with the mnemonic marked.
        callback: called with the window.
        shortcut: keys, empty for none.
        widget_keys: whether the widget with the focus has these keys: the menu only shows them.
        group: actions of one menu with another group are parted by a line.
        checkable: whether it shows a state; those of one group exclude each other.
        tip: one sentence for the status bar.
        also: further keys that do the same; the menu shows the first ones only.
    """

    id: str
    menu: str
    text: str
    callback: Callable[[MainWindow], object]
    shortcut: str | QKeySequence.StandardKey = ""
    group: str = ""
    widget_keys: bool = False
    checkable: bool = False
    tip: str = ""
    also: str = ""

    @property
    def keys(self) -> list[QKeySequence]:
        """Every key sequence, the one that the menu shows first."""
        return [QKeySequence(keys) for keys in (self.shortcut, self.also) if keys]


_KEY = QKeySequence.StandardKey
FILE, EDIT, VIEW, TOOLS, HELP = "&File", "&Edit", "&View", "&Tools", "&Help"
MENUS = (FILE, EDIT, VIEW, TOOLS, HELP)

_BEFORE_PAGES: tuple[ActionSpec, ...] = (
    ActionSpec("open", FILE, "&Open…", lambda w: w.open_files(), _KEY.Open, "open",
               tip="Open model files, or the config.json or GGUF file of a language model"),
    ActionSpec("open_folder", FILE, "Open &Folder…", lambda w: w.open_folder(), "Ctrl+Shift+O",
               "open", tip="Open every model file in a folder and below it"),
    ActionSpec("new_device", FILE, "&New Device", lambda w: w.central.new_device(), _KEY.New,
               "open", tip="Describe hardware of your own by a few numbers"),
    ActionSpec("read_again", FILE, "Reloa&d", lambda w: w.read_again(), "F5", "read",
               tip="Read the files of the selected models again"),
    ActionSpec("cancel", FILE, "&Stop Reading", lambda w: w.workspace.cancel_all(), "Ctrl+.",
               "read", tip="Stop searching folders and reading models"),
    ActionSpec("report", FILE, "Re&port…", lambda w: w.write_report(), _KEY.Print, "report",
               tip="Preview, save and print a report of what is compared"),
    ActionSpec("trace", FILE, "E&xport Timeline…", lambda w: w.central.export_trace(),
               group="report", tip="Save the operators over time as trace events, for Perfetto"),
    ActionSpec("quit", FILE, "&Quit", lambda w: w.close(), "Ctrl+Q", "quit"),
    ActionSpec("undo", EDIT, "&Undo", lambda w: w.undo(), _KEY.Undo, "undo",
               tip="Take back the last step: a file opened, a tick, a what-if, a removal, an edit"),
    # Desktops differ in the key for Redo: here both do it, and menu and help say the same.
    ActionSpec("redo", EDIT, "Re&do", lambda w: w.undo(redo=True), "Ctrl+Shift+Z",
               "undo", tip="Do the step again that was taken back", also="Ctrl+Y"),
    ActionSpec("copy", EDIT, "&Copy", lambda w: w.copy(), _KEY.Copy, "select",
               widget_keys=True, tip="Copy what is selected"),
    ActionSpec("select_all", EDIT, "Select &All", lambda w: w.select_all(), _KEY.SelectAll,
               "select", widget_keys=True),
    ActionSpec("remove", EDIT, "&Remove Models", lambda w: w.models_panel.remove_selected(),
               _KEY.Delete, "select", widget_keys=True,
               tip="Take the selected models off the list; undo brings them back"),
    ActionSpec("find", EDIT, "&Find…", lambda w: w.search(), _KEY.Find, "find",
               widget_keys=True,
               tip="Search in the current view"),
    ActionSpec("settings", EDIT, "&Settings…", lambda w: w.assistance.show_settings(), "Ctrl+,",
               "settings", tip="Theme, unit, budget, what is opened at a start"),
)  # fmt: skip
_OF_ANSWER: tuple[ActionSpec, ...] = (
    ActionSpec("chart", VIEW, "C&hart", lambda w: w.show_compared(0), "Alt+1", "answer",
               tip="Latency of every model on every target"),
    ActionSpec("matrix", VIEW, "Mat&rix", lambda w: w.show_compared(1), "Alt+2", "answer",
               tip="Models against one of them"),
    ActionSpec("pareto", VIEW, "Trade-off (&Pareto)", lambda w: w.show_compared(2), "Alt+3",
               "answer", tip="Latency against a score"),
    ActionSpec("changes", VIEW, "What &Changed", lambda w: w.show_compared(3), "Alt+4", "answer",
               tip="Operators of two models"),
    ActionSpec("sweep", VIEW, "Sw&eep", lambda w: w.show_compared(4), "Alt+5", "answer",
               tip="Latency over batch and threads"),
)  # fmt: skip
_AFTER_PAGES: tuple[ActionSpec, ...] = (
    ActionSpec("side_bar", VIEW, "Side &Bar", lambda w: w.side_panels.toggle(), "Ctrl+B",
               "messages", checkable=True, tip="Show or hide models and targets"),
    ActionSpec("messages", VIEW, "&Messages", lambda w: w.toggle_messages(), "Ctrl+M", "messages",
               checkable=True, tip="Show what happened in this session"),
    ActionSpec("next_part", VIEW, "Ne&xt Pane", lambda w: w.go_to_part(1), "F6",
               "parts", tip="Put the focus into the next part: places, models, targets, view"),
    ActionSpec("previous_part", VIEW, "Pre&vious Pane", lambda w: w.go_to_part(-1),
               "Shift+F6", "parts"),
    ActionSpec("theme_system", VIEW, "&System Theme",
               lambda w: w.choose_theme(ThemeChoice.SYSTEM), group="theme", checkable=True),
    ActionSpec("theme_light", VIEW, "&Light Theme",
               lambda w: w.choose_theme(ThemeChoice.LIGHT), group="theme", checkable=True),
    ActionSpec("theme_dark", VIEW, "Dar&k Theme",
               lambda w: w.choose_theme(ThemeChoice.DARK), group="theme", checkable=True),
    ActionSpec("probe", TOOLS, "&Probe a Device…", lambda w: w.probe_device(), "Ctrl+Shift+M",
               tip="Measure reference networks on this PC, a board or elsewhere"),
    ActionSpec("palette", TOOLS, "&Find a Command…", lambda w: w.assistance.show_palette(),
               "Ctrl+Shift+P", "commands", tip="Every command by a few letters of its name"),
    ActionSpec("help", HELP, "&Help on This View", lambda w: w.assistance.show_help(),
               _KEY.HelpContents, "help", tip="The page of the view in which you are"),
    ActionSpec("help_index", HELP, "How to &Begin", lambda w: w.assistance.show_help("index"),
               group="help", tip="First steps, and all pages of help"),
    ActionSpec("whats_this", HELP, "&What's This?", lambda w: w.assistance.whats_this(),
               _KEY.WhatsThis, "help", tip="Explain the control with the focus, or point at one"),
    ActionSpec("system_information", HELP, "&Copy System Information",
               lambda w: w.assistance.copy_system_information(), group="about",
               tip="Versions, screens and settings for a report of a problem"),
    ActionSpec("about", HELP, "&About CloserToMe", lambda w: w.assistance.show_about(),
               group="about"),
)  # fmt: skip


def action_specs(pages: Sequence[Page]) -> tuple[ActionSpec, ...]:
    """Return the rows of all actions, among them one of each place, page and part of a page."""
    page_rows: list[ActionSpec] = []
    for place in PLACES:
        for page in pages:
            if page.place == place.id:
                rows: list[Page | Part] = [*([page] if page.text else []), *page.parts]
                page_rows += [_spec_of(row, place.id) for row in rows]
    places = map(_spec_of_place, PLACES)
    return (*_BEFORE_PAGES, *places, *_OF_ANSWER, *page_rows, *_AFTER_PAGES)


def _spec_of_place(place: Place) -> ActionSpec:
    def show(window: MainWindow) -> None:
        window.show_place(place.id)

    return ActionSpec(place.id, VIEW, place.text, show, place.keys, "places", tip=place.tip)


def _spec_of(page: Page | Part, place: str) -> ActionSpec:
    def show(window: MainWindow) -> None:
        window.show_page(page.id)

    return ActionSpec(page.id, VIEW, page.text, show, page.keys, place, tip=page.tip)


ACTIONS = action_specs(PAGES)


def build_actions(specs: Iterable[ActionSpec], window: MainWindow) -> dict[str, QAction]:
    """Return the actions of some rows by id."""
    return {spec.id: _build(spec, window) for spec in specs}


def _build(spec: ActionSpec, window: MainWindow) -> QAction:
    action = QAction(spec.text, window)
    action.setObjectName(spec.id)
    action.setCheckable(spec.checkable)
    if spec.keys:
        # An action's shortcut would take the keys from the field with the focus. Qt draws the
        # part of a text after a tab where a shortcut stands.
        if spec.widget_keys:
            keys_text = spec.keys[0].toString(QKeySequence.SequenceFormat.NativeText)
            action.setText(f"{spec.text}\t{keys_text}")
        else:
            action.setShortcuts(spec.keys)
    if spec.tip:
        action.setStatusTip(spec.tip)
        action.setToolTip(spec.tip)
    action.triggered.connect(lambda _checked: spec.callback(window))
    return action
