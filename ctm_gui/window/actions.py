"""Every action of the window in one table: id, menu, text, shortcut, callback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence

from ctm_gui.widgets.theme import ThemeChoice


class Assistance(Protocol):
    """Help, settings and the like."""

    def show_palette(self) -> object:
        """Ask for a command by a few letters of its name."""

    def show_settings(self) -> object:
        """Show the dialog of the settings."""

    def show_help(self, page: str = "") -> object:
        """Show a page of help; that of the view with the focus where none is named."""

    def whats_this(self) -> None:
        """Explain one control."""

    def copy_system_information(self) -> None:
        """Copy the facts that a report of a problem needs."""

    def show_about(self) -> object:
        """Show versions."""


class Commands(Protocol):
    """The calls of the actions; the main window has them."""

    def open_files(self) -> None:
        """Ask for model files."""

    def open_folder(self) -> None:
        """Ask for a folder of models."""

    def close(self) -> object:
        """Close the window."""

    def undo(self) -> None:
        """Take the last step back."""

    def redo(self) -> None:
        """Do the step again that was taken back."""

    def copy(self) -> None:
        """Copy the selection of the view that has the focus."""

    def select_all(self) -> None:
        """Select everything in the view that has the focus."""

    def remove(self) -> None:
        """Remove the selected models."""

    def search(self) -> None:
        """Put the cursor into the search box of the current view."""

    def read_again(self) -> None:
        """Read the selected models again."""

    def cancel(self) -> None:
        """Stop searching and reading."""

    def show_tab(self, index: int) -> None:
        """Show a tab."""

    def show_compared(self, page: int) -> None:
        """Show a page of Compare."""

    def choose_theme(self, choice: ThemeChoice) -> None:
        """Draw the window in the theme of the user's choice."""

    def probe_device(self) -> None:
        """Open the wizard that measures reference networks."""

    def go_to_part(self, step: int) -> None:
        """Put the focus into the next part of the window, or the one before."""

    def write_report(self) -> None:
        """Open the dialog of the report."""

    def toggle_side_bar(self) -> None:
        """Show or hide models and targets."""

    def export_trace(self) -> None:
        """Save the timeline of the explained pair."""

    def toggle_messages(self) -> None:
        """Show or hide the list of messages."""

    @property
    def assistance(self) -> Assistance:
        """Help, settings and the like."""


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action.

    Attributes:
        id: stable name.
        menu: title of its menu.
        text: its words, with the mnemonic marked.
        callback: called with the window's commands.
        shortcut: keys, empty for none.
        own_keys: whether the widget with the focus has these keys itself: the menu only shows them.
        group: actions of one menu with another group are parted by a line.
        checkable: whether it shows a state; those of one group exclude each other.
        tip: one sentence for the status bar.
        also: further keys that do the same; the menu shows the first ones only.
    """

    id: str
    menu: str
    text: str
    callback: Callable[[Commands], object]
    shortcut: str | QKeySequence.StandardKey = ""
    group: str = ""
    own_keys: bool = False
    checkable: bool = False
    tip: str = ""
    also: str = ""

    @property
    def keys(self) -> list[QKeySequence]:
        """Every key sequence, the one that the menu shows first."""
        return [QKeySequence(keys) for keys in (self.shortcut, self.also) if keys]


_KEY = QKeySequence.StandardKey
# Places of the views among the tabs, and their titles.
(
    COMPARE_TAB,
    OPERATORS_TAB,
    GRAPH_TAB,
    ROOFLINE_TAB,
    TIMELINE_TAB,
    ATTENTION_TAB,
    DEVICES_TAB,
    HISTORY_TAB,
    CHOOSE_TAB,
    CLOCKS_TAB,
    LANGUAGE_TAB,
) = range(11)
TITLES = (
    "Compare",
    "Operators",
    "Graph",
    "Roofline",
    "Timeline",
    "Attention",
    "Devices",
    "History",
    "Choose",
    "Clocks",
    "LLM",
)

FILE, EDIT, VIEW, TOOLS, HELP = "&File", "&Edit", "&View", "&Tools", "&Help"
MENUS = (FILE, EDIT, VIEW, TOOLS, HELP)

ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("open", FILE, "&Open…", lambda w: w.open_files(), _KEY.Open, "open",
               tip="Open .onnx files, or the config.json of a language model"),
    ActionSpec("open_folder", FILE, "Open &Folder…", lambda w: w.open_folder(), "Ctrl+Shift+O",
               "open", tip="Open every .onnx file in a folder and below it"),
    ActionSpec("read_again", FILE, "Reloa&d", lambda w: w.read_again(), "F5", "read",
               tip="Read the files of the selected models again"),
    ActionSpec("cancel", FILE, "&Stop Reading", lambda w: w.cancel(), "Ctrl+.", "read",
               tip="Stop searching folders and reading models"),
    ActionSpec("report", FILE, "Re&port…", lambda w: w.write_report(), _KEY.Print, "report",
               tip="Preview, save and print a report of what is compared"),
    ActionSpec("trace", FILE, "E&xport Timeline…", lambda w: w.export_trace(),
               group="report", tip="Save the operators over time as trace events, for Perfetto"),
    ActionSpec("quit", FILE, "&Quit", lambda w: w.close(), "Ctrl+Q", "quit"),
    ActionSpec("undo", EDIT, "&Undo", lambda w: w.undo(), _KEY.Undo, "undo",
               tip="Take back the last step: a tick, a what-if, a filter, a removal, an edit"),
    # Desktops differ in the key for Redo: here both do it, and menu and help say the same.
    ActionSpec("redo", EDIT, "Re&do", lambda w: w.redo(), "Ctrl+Shift+Z", "undo",
               tip="Do the step again that was taken back", also="Ctrl+Y"),
    ActionSpec("copy", EDIT, "&Copy", lambda w: w.copy(), _KEY.Copy, "select",
               own_keys=True, tip="Copy what is selected"),
    ActionSpec("select_all", EDIT, "Select &All", lambda w: w.select_all(), _KEY.SelectAll,
               "select", own_keys=True),
    ActionSpec("remove", EDIT, "&Remove Models", lambda w: w.remove(), _KEY.Delete, "select",
               own_keys=True,
               tip="Take the selected models off the list; undo brings them back"),
    ActionSpec("find", EDIT, "&Find…", lambda w: w.search(), _KEY.Find, "find",
               own_keys=True,
               tip="Search in the current view"),
    ActionSpec("settings", EDIT, "&Settings…", lambda w: w.assistance.show_settings(), "Ctrl+,",
               "settings", tip="Theme, unit, budget, what is opened at a start"),
    ActionSpec("compare", VIEW, "&Compare", lambda w: w.show_tab(COMPARE_TAB), "Ctrl+1", "tabs"),
    ActionSpec("operators", VIEW, "&Operators", lambda w: w.show_tab(OPERATORS_TAB), "Ctrl+2",
               "tabs"),
    ActionSpec("graph", VIEW, "&Graph", lambda w: w.show_tab(GRAPH_TAB), "Ctrl+3", "tabs",
               tip="The operators and what flows between them, with the time of each"),
    ActionSpec("roofline", VIEW, "Roo&fline", lambda w: w.show_tab(ROOFLINE_TAB), "Ctrl+4",
               "tabs", tip="How close each operator gets to the limits of the hardware"),
    ActionSpec("timeline", VIEW, "&Timeline", lambda w: w.show_tab(TIMELINE_TAB), "Ctrl+5",
               "tabs", tip="The operators one after another, with their modules"),
    ActionSpec("attention", VIEW, "&Attention", lambda w: w.show_tab(ATTENTION_TAB), "Ctrl+6",
               "tabs", tip="What each operator is most sensitive to"),
    ActionSpec("devices", VIEW, "&Devices", lambda w: w.show_tab(DEVICES_TAB), "Ctrl+7", "tabs",
               tip="All devices, and the form of your own"),
    ActionSpec("history", VIEW, "H&istory", lambda w: w.show_tab(HISTORY_TAB), "Ctrl+8", "tabs",
               tip="What was predicted before, and how right it was"),
    ActionSpec("choose", VIEW, "Choose by B&udget", lambda w: w.show_tab(CHOOSE_TAB), "Ctrl+9",
               "tabs", tip="Which hardware keeps a budget, by its chance"),
    ActionSpec("clocks", VIEW, "Clock Fre&quencies", lambda w: w.show_tab(CLOCKS_TAB), "Ctrl+0",
               "tabs", tip="Latency over power modes and clocks of a device"),
    ActionSpec("language", VIEW, "La&nguage Model", lambda w: w.show_tab(LANGUAGE_TAB),
               "Ctrl+Shift+L", "tabs", tip="Tokens a second and memory of a language model"),
    ActionSpec("chart", VIEW, "C&hart", lambda w: w.show_compared(0), "Alt+1", "pages",
               tip="Latency of every model on every target"),
    ActionSpec("matrix", VIEW, "Mat&rix", lambda w: w.show_compared(1), "Alt+2", "pages",
               tip="Models against one of them"),
    ActionSpec("pareto", VIEW, "&Pareto", lambda w: w.show_compared(2), "Alt+3", "pages",
               tip="Latency against a score"),
    ActionSpec("changes", VIEW, "&What Changed", lambda w: w.show_compared(3), "Alt+4", "pages",
               tip="Operators of two models"),
    ActionSpec("sweep", VIEW, "Sw&eep", lambda w: w.show_compared(4), "Alt+5", "pages",
               tip="Latency over batch and threads"),
    ActionSpec("side_bar", VIEW, "Side &Bar", lambda w: w.toggle_side_bar(), "Ctrl+B", "messages",
               checkable=True, tip="Show or hide models and targets"),
    ActionSpec("messages", VIEW, "&Messages", lambda w: w.toggle_messages(), "Ctrl+M", "messages",
               checkable=True, tip="Show what happened in this session"),
    ActionSpec("next_part", VIEW, "Ne&xt Pane", lambda w: w.go_to_part(1), "F6",
               "parts", tip="Put the focus into the next part: bar, models, targets, view"),
    ActionSpec("previous_part", VIEW, "Pre&vious Pane", lambda w: w.go_to_part(-1),
               "Shift+F6", "parts"),
    ActionSpec("theme_system", VIEW, "&System Theme",
               lambda w: w.choose_theme(ThemeChoice.SYSTEM), group="theme", checkable=True),
    ActionSpec("theme_light", VIEW, "&Light Theme",
               lambda w: w.choose_theme(ThemeChoice.LIGHT), group="theme", checkable=True),
    ActionSpec("theme_dark", VIEW, "Dar&k Theme",
               lambda w: w.choose_theme(ThemeChoice.DARK), group="theme", checkable=True),
    ActionSpec("probe", TOOLS, "&Probe a Device…", lambda w: w.probe_device(), "Ctrl+Shift+M",
               tip="Measure reference networks on this machine, a board or elsewhere"),
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


def build_actions(commands: Commands, owner: QObject) -> dict[str, QAction]:
    """Return the actions of the table by id."""
    return {spec.id: _build(spec, commands, owner) for spec in ACTIONS}


def _build(spec: ActionSpec, commands: Commands, owner: QObject) -> QAction:
    action = QAction(spec.text, owner)
    action.setObjectName(spec.id)
    action.setCheckable(spec.checkable)
    if spec.keys:
        # An action's shortcut would take the keys from the field with the focus. Qt draws the
        # part of a text after a tab where a shortcut stands.
        if spec.own_keys:
            shown = spec.keys[0].toString(QKeySequence.SequenceFormat.NativeText)
            action.setText(f"{spec.text}\t{shown}")
        else:
            action.setShortcuts(spec.keys)
    if spec.tip:
        action.setStatusTip(spec.tip)
        action.setToolTip(spec.tip)
    action.triggered.connect(lambda _checked: spec.callback(commands))
    return action
