"""One row of the table of pages is all that a page needs in the window."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.later import Later
from ctm_gui.settings import Settings
from ctm_gui.window.central_views import CentralViews
from ctm_gui.window.help_pages import has_page
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.pages import PAGES, PLACES, Page, modules_of
from ctm_gui.window.session import remembered_options
from ctm_gui.window.start_page import PurposePage, UntilOpened
from ctm_gui.window.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]
MOST_IN_A_TURN = 10  # modules of the window that one turn of the event loop loads
FORMER = {
    "chart": "compare", "matrix": "compare", "pareto": "compare", "changes": "compare",
    "sweep": "compare", "clocks": "clocks", "language": "language", "operators": "why",
    "graph": "why", "roofline": "why", "timeline": "why", "attention": "why",
    "choose": "hardware", "hardware": "hardware", "load": "load", "devices": "devices",
    "history": "history",
}  # fmt: skip
MODULE = "colorsys"  # small, of the standard library


def make_note(views: CentralViews) -> QWidget:
    return QLabel(f"{len(views.workspace.shelf.entries)} models are open")


NOTE = Page(
    id="note",
    place="library",
    title="Note",
    text="No&te",
    keys="Ctrl+Alt+N",
    help="trouble",
    modules=(MODULE,),
    make=make_note,
    tip="How many models are open",
    needs_panels=False,
)


@pytest.fixture
def bare_window(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> MainWindow:
    """A window with one more page, none of them made yet."""
    settings = Settings(tmp_path / "window.ini")
    window = MainWindow(workspace, settings, remembered_options(settings), (*PAGES, NOTE))
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    return window


@pytest.fixture
def window(bare_window: MainWindow) -> MainWindow:
    for _ in bare_window.build_views():
        pass
    return bare_window


def test_a_page_is_in_the_menu_and_its_keys_show_it(window: MainWindow) -> None:
    (view,) = (each.menu() for each in window.menuBar().actions() if each.text() == "&View")
    actions = {action.text(): action for action in view.actions()}
    assert actions["No&te"].toolTip() == "How many models are open"
    assert actions["No&te"].shortcut().toString() == "Ctrl+Alt+N"

    actions["No&te"].trigger()

    assert window.page is NOTE
    shown = window.tabs.currentWidget()
    assert isinstance(shown, QLabel)
    assert shown.text() == "0 models are open"
    window.search()  # a page without a search box has nothing to search


def test_a_page_is_among_the_commands(qtbot: QtBot, window: MainWindow) -> None:
    palette = window.assistance.show_palette()
    qtbot.keyClicks(palette.edit, "how many models")
    qtbot.keyClick(palette.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.page is NOTE)


@pytest.mark.parametrize("page", ["clocks", "language", "why", "hardware"])
def test_a_page_says_what_it_is_for_until_what_it_works_on_is_open(
    qtbot: QtBot, window: MainWindow, page: str
) -> None:
    window.show_page(page)
    frame = window.tabs.currentWidget()
    assert isinstance(frame, UntilOpened)
    first = frame.currentWidget()
    assert isinstance(first, PurposePage)
    assert "Open " in " ".join(label.text() for label in first.findChildren(QLabel))
    shelf, language = window.workspace.shelf, window.workspace.language
    is_of_language = page == "language"

    first.sample_button.click()
    qtbot.waitUntil(lambda: frame.currentWidget() is not first)

    assert bool(language.state.entries) is is_of_language
    assert bool(shelf.entries) is not is_of_language
    if is_of_language:
        language.close_models([entry.path for entry in language.state.entries])
    else:
        shelf.remove([0])
    assert frame.currentWidget() is first


def test_its_other_button_asks_for_files(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def ask(_: QWidget, title: str, *__: str) -> tuple[list[str], str]:
        asked.append(title)
        return [], ""

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", ask)
    for page in window.tabs.findChildren(PurposePage):
        page.open_button.click()
    assert asked == ["Open models"] * 4


def test_a_page_has_its_help(window: MainWindow) -> None:
    window.show_page("note")
    window.tabs.setFocus()
    shown = window.assistance.show_help()
    assert shown.browser.page == "trouble"
    shown.close()


def test_a_page_that_ticks_do_not_change_has_a_narrow_window_for_itself(window: MainWindow) -> None:
    window.resize(1024, 700)
    assert window.targets_panel.isVisible()
    window.show_page("note")
    assert not window.targets_panel.isVisible()


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("note", "note"),
        ("llm", "language"),  # sessions of before have the titles
        ("history", "history"),
        ("gone", "compare"),
        ("", "compare"),
    ],
)
def test_a_session_has_the_page_by_its_id(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path, stored: str, shown: str
) -> None:
    settings = Settings(tmp_path / "before.ini")
    settings.set(table.VIEW, stored)
    window = MainWindow(workspace, settings, remembered_options(settings), (*PAGES, NOTE))
    qtbot.addWidget(window)
    assert window.page.id == shown
    window.close()
    assert settings.get(table.VIEW) == shown


def test_a_page_is_loaded_and_made_after_the_first_frame(
    qtbot: QtBot, bare_window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = bare_window
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    place = len(PAGES)
    assert not isinstance(window.tabs.widget(place), QLabel)
    later = Later(modules_of(window.pages), window.build_views, window)
    with qtbot.waitSignal(later.done, timeout=60_000):
        later.start()
    assert MODULE in sys.modules
    assert isinstance(window.tabs.widget(place), QLabel)
    later.close()


def test_no_page_has_the_name_or_the_keys_of_another() -> None:
    ids = [page.id for page in PAGES]
    assert len(set(ids)) == len(ids)
    keys = [part.keys for part in (*PAGES, *PLACES) if part.keys]
    assert len(set(keys)) == len(keys)


def test_a_place_has_keys_and_a_button_and_goes_back_to_its_last_page(window: MainWindow) -> None:
    window.show_page("history")
    for place, page in (("Ctrl+1", "compare"), ("Ctrl+3", "hardware"), ("Ctrl+4", "history")):
        QTest.keyClick(
            window, Qt.Key(int(place[-1]) + Qt.Key.Key_0.value), Qt.KeyboardModifier.ControlModifier
        )
        assert window.page.id == page
    window.place_strip.buttons["why"].click()
    assert window.page.place == "why"
    assert window.place_strip.buttons["why"].isChecked()


def test_every_former_page_is_in_the_view_menu(window: MainWindow) -> None:
    (view,) = (each.menu() for each in window.menuBar().actions() if each.text() == "&View")
    for action in view.actions():
        if action.objectName() in FORMER:
            action.trigger()
            assert window.page.id == FORMER[action.objectName()]
    assert FORMER.keys() <= {action.objectName() for action in view.actions()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.id)
def test_the_help_of_a_page_is_there(page: Page) -> None:
    assert has_page(page.help or page.id)


def test_a_window_has_no_page_that_is_not_in_its_table(window: MainWindow) -> None:
    with pytest.raises(KeyError, match="gone"):
        window.show_page("gone")


LOADED = f"""
import sys
from importlib import import_module
from pathlib import Path
from ctm_gui.application import Application
from ctm_gui.later import PLOTS
from ctm_gui.window.pages import PAGES, modules_of

def loaded():
    return {{name for name in sys.modules if name.startswith("ctm_gui.")}}

application = Application(Path("store.db"), Path("window.ini"))
application.window.show()
for name in (*PLOTS, *modules_of(PAGES)):
    before = loaded()
    import_module(name)
    new = loaded() - before
    if len(new) > {MOST_IN_A_TURN}:
        print("at once", name, sorted(new))
    if name not in new | set(PLOTS):
        print("loaded before", name)
before = loaded()
for _ in application.window.build_views():
    pass
print("not listed", sorted(loaded() - before))
application.close()
"""


def test_the_modules_of_the_pages_are_all_listed_and_come_in_small_turns(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout == "not listed []\n"
