"""What the first frame does not need comes after it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from conftest import PATIENCE_MS
from ctm_gui.application import Application
from ctm_gui.later import CONTENT, ENGINE, PLOTS, WINDOWS, FirstFrame, Later
from ctm_gui.window.pages import PAGES, modules_of
from tests.support.paints import Paints

ROOT = Path(__file__).resolve().parents[2]
VIEWS = modules_of(PAGES)
EVERYTHING = (*PLOTS, *CONTENT, *VIEWS, *ENGINE, *WINDOWS)
LOADED_BEFORE = """
import sys
from pathlib import Path
from ctm_gui.application import Application
from ctm_gui.later import CONTENT, ENGINE, PLOTS, WINDOWS
from ctm_gui.window.pages import PAGES, modules_of
application = Application(Path("store.db"), Path("window.ini"))
application.window.show()
late = {*PLOTS, *CONTENT, *modules_of(PAGES), *ENGINE, *WINDOWS}
print(sorted(late & set(sys.modules)))
application.close()
"""


def test_what_is_called_after_the_first_frame_is_called_once(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where others have the processors the first frame may come later than a window waits for it.
    monkeypatch.setattr("ctm_gui.later._LONGEST_WAIT_MS", PATIENCE_MS)
    widget = QLabel("first")
    qtbot.addWidget(widget)
    paints, told = Paints(widget), []
    FirstFrame(widget, lambda: told.append(paints.done))
    widget.show()
    qtbot.waitUntil(lambda: bool(told))
    widget.setText("second")
    painted = Paints(widget)
    qtbot.waitUntil(lambda: painted.done)
    assert told == [True]


def test_a_window_that_is_never_painted_begins_too(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    told: list[None] = []
    FirstFrame(widget, lambda: told.append(None))
    qtbot.waitUntil(lambda: bool(told))


def test_what_is_cancelled_is_never_called(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    told: list[str] = []
    FirstFrame(widget, lambda: told.append("cancelled")).cancel()
    FirstFrame(widget, lambda: told.append("later"))
    qtbot.waitUntil(lambda: bool(told))
    assert told == ["later"]


def test_the_first_frame_loads_none_of_it(tmp_path: Path) -> None:
    assert all(find_spec(name) for name in EVERYTHING)
    done = subprocess.run(
        [sys.executable, "-c", LOADED_BEFORE],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "[]\n"


def test_the_views_are_made_one_a_turn_and_then_everything_is_loaded(qtbot: QtBot) -> None:
    owner, made = QWidget(), []
    qtbot.addWidget(owner)

    def build_views() -> Iterator[None]:
        for view in ("chart", "table"):
            made.append(view)
            yield

    later = Later(VIEWS, build_views, owner)
    with qtbot.waitSignal(later.done, timeout=30_000):
        later.start()
        assert made == []
    assert made == ["chart", "table"]
    assert set(EVERYTHING) <= set(sys.modules)
    later.close()


def test_after_closing_nothing_more_is_made(qtbot: QtBot) -> None:
    owner, made = QWidget(), []
    qtbot.addWidget(owner)

    def build_views() -> Iterator[None]:
        made.append("chart")
        later.close()
        yield
        made.append("table")
        yield

    later = Later(VIEWS, build_views, owner)
    later.start()
    qtbot.waitUntil(lambda: made == ["chart"])
    last: list[None] = []
    FirstFrame(owner, lambda: last.append(None))  # half a second of turns
    qtbot.waitUntil(lambda: bool(last))
    assert made == ["chart"]


@pytest.mark.usefixtures("own_folders")
def test_an_application_that_closes_before_its_first_frame_starts_no_work(
    qtbot: QtBot, make_application: Callable[..., Application], tmp_path: Path
) -> None:
    application = make_application()
    opened: list[None] = []
    application.workspace.recorder.opened.connect(lambda: opened.append(None))
    application.start()
    application.close()
    last: list[None] = []
    FirstFrame(application.window, lambda: last.append(None))
    qtbot.waitUntil(lambda: bool(last))
    assert not opened
    assert not (tmp_path / "store.db").exists()
