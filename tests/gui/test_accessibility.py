"""Every control has a name, an order that is read, and keys; so do those of dialogs and wizard."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ctm_gui.compare.tabs import PAGES
from ctm_gui.widgets.theme import DARK, LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from ctm_gui.window.actions import ACTIONS
from ctm_gui.window.crash import CrashDialog
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.resources import resources_dir
from tests.support.accessible import (
    controls,
    faint,
    nameless,
    out_of_order,
    out_of_reach,
    same_keys,
)

pytestmark = pytest.mark.usefixtures("themed")
OF_WHY = {"why", "operators", "graph", "roofline", "timeline", "attention"}


@pytest.fixture
def full_window(qtbot: QtBot, window: MainWindow, workspace: Workspace) -> MainWindow:
    """The window with models, so that every view has its controls."""
    window.resize(1400, 900)
    assert window.central.is_built
    window.open_paths([str(p) for p in sorted((resources_dir() / "samples").glob("*.onnx"))[:2]])
    qtbot.waitUntil(lambda: len(workspace.shelf.entries) == 2)
    qtbot.waitUntil(lambda: workspace.settled, timeout=30_000)
    window.toggle_messages()
    return window


def test_the_checks_see_what_is_wrong(qtbot: QtBot) -> None:
    dialog = QDialog()
    qtbot.addWidget(dialog)
    column = QVBoxLayout(dialog)
    lower, upper, edit = QPushButton("&Lower"), QPushButton("&Lift"), QLineEdit()
    column.addWidget(upper)
    column.addWidget(lower)
    column.addWidget(edit)
    QWidget.setTabOrder(lower, upper)
    dialog.show()
    assert nameless(dialog) == ["QLineEdit in QDialog"]
    assert out_of_order(dialog) == ["Lower -> Lift in QDialog"]
    assert list(same_keys(dialog)) == ["Alt+L"]
    assert not faint(dialog)
    upper.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    assert out_of_reach(dialog) == ["QPushButton 'Lift' in QDialog"]
    upper.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    upper.setStyleSheet("color: #999999; background: #ffffff")
    assert faint(dialog) == ["'&Lift': #999999 on #ffffff in QDialog"]


def _is_filled(window: MainWindow, page: str) -> bool:
    """Return whether a page has come to its content, whose controls a message does not have."""
    central = window.central
    if page == "history":
        view = central.history_view
        return view.is_built and view.save_button.isVisible()
    return page not in OF_WHY or (
        central.explanation.settled and central.explanation.explained is not None
    )


def test_every_view_names_its_controls_is_read_in_order_and_has_keys_of_its_own(
    qtbot: QtBot, full_window: MainWindow
) -> None:
    window = full_window
    wrong: dict[str, object] = {}
    for page in pages_of(window):
        window.show_page(page)
        if page == "devices":
            qtbot.waitUntil(lambda: window.central.devices_view.is_built)
            window.central.devices_view.pages.setCurrentIndex(1)
            window.central.devices_view.pages.setCurrentIndex(2)
        qtbot.waitUntil(partial(_is_filled, window, page))
        wrong[f"{page}: order"] = out_of_order(window)
        wrong[f"{page}: keys"] = same_keys(window)
    for number, title in enumerate(PAGES):
        window.show_compared(number)
        qtbot.waitUntil(lambda: window.central.compare_tabs.settled)
        wrong[f"{title}: order"] = out_of_order(window)
        wrong[f"{title}: keys"] = same_keys(window)
    wrong["names"] = nameless(window)
    assert len(controls(window)) > 50
    assert not {what: found for what, found in wrong.items() if found}


def test_tab_reaches_all_of_every_view(qtbot: QtBot, full_window: MainWindow) -> None:
    window = full_window
    window.resize(1400, 900)
    devices = window.central.devices_view
    wrong: dict[str, list[str]] = {}
    for page in pages_of(window):
        window.show_page(page)
        qtbot.waitUntil(lambda: window.central.explanation.settled)
        if page == "devices":
            qtbot.waitUntil(lambda: devices.is_built)
        wrong[page] = out_of_reach(window)
    for number, title in enumerate(PAGES):
        window.show_compared(number)
        qtbot.waitUntil(lambda: window.central.compare_tabs.settled)
        wrong[title] = out_of_reach(window)
    assert not {view: found for view, found in wrong.items() if found}


def test_every_view_is_readable_in_both_themes_and_maps_are_said_in_words(
    qtbot: QtBot, qapp: QApplication, full_window: MainWindow
) -> None:
    window = full_window
    found: set[str] = set()
    for theme in (DARK, LIGHT):
        apply_theme(qapp, theme)
        window.options.set_theme(theme)
        for page in pages_of(window):
            window.show_page(page)
            qtbot.waitUntil(lambda: window.central.explanation.settled)
            if page == "devices":
                qtbot.waitUntil(lambda: window.central.devices_view.is_built)
            found |= set(faint(window))
        for number in range(len(PAGES)):
            window.show_compared(number)
            qtbot.waitUntil(lambda: window.central.compare_tabs.settled)
            found |= set(faint(window))
        window.show_page("attention")
    assert not found
    view = window.central.attention_view
    interface = QAccessible.queryAccessibleInterface(view.map)
    assert interface.text(QAccessible.Text.Name) == "Maps of attention"
    said = interface.text(QAccessible.Text.Description)
    assert view.table.model().rowCount() > 0
    assert said.startswith(f"{view.table.model().rowCount()} rows, ")


def test_the_start_page_is_named_and_in_order(qtbot: QtBot, window: MainWindow) -> None:
    assert not nameless(window.first_view)
    assert not out_of_order(window.first_view)
    assert len(controls(window.first_view.start)) == 11


def test_dialogs_name_their_controls_and_are_read_in_order(
    qtbot: QtBot, window: MainWindow
) -> None:
    help_window = window.assistance.show_help("index")
    crash = CrashDialog(window)
    crash.open()
    dialogs = (
        window.assistance.show_settings(),
        window.assistance.show_palette(),
        help_window,
        window.assistance.show_about(),
        crash,
    )
    found = {
        type(dialog).__name__: (nameless(dialog), out_of_order(dialog), same_keys(dialog))
        for dialog in dialogs
    }
    assert all(controls(dialog) for dialog in dialogs)
    for dialog in dialogs:
        dialog.close()
    assert not {name: wrong for name, wrong in found.items() if any(wrong)}


def test_every_action_is_in_a_menu_with_a_letter_of_its_own(window: MainWindow) -> None:
    in_menus: set[str] = set()
    for title in window.menuBar().actions():
        menu = title.menu()
        assert isinstance(menu, QMenu)
        entries: list[QAction] = [entry for entry in menu.actions() if not entry.isSeparator()]
        in_menus |= {entry.objectName() for entry in entries}
        letters = Counter(mnemonic(entry.text()) for entry in entries)
        assert "" not in letters, f"{title.text()}: an entry without a letter"
        assert not [letter for letter, count in letters.items() if count > 1], title.text()
    assert {spec.id for spec in ACTIONS} <= in_menus


def mnemonic(text: str) -> str:
    found = re.search(r"&([^&])", text.replace("&&", ""))
    return found[1].casefold() if found else ""


def pages_of(window: MainWindow) -> list[str]:
    """Return the ids of all pages and of their parts."""
    return [row.id for page in window.pages for row in (page, *page.parts)]
