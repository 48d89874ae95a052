"""What one session leaves to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.application import Application
from ctm_gui.presenters.session_models import SessionModel, read_models, remembered_models
from ctm_gui.presenters.shelf import ModelEntry, ModelState
from ctm_gui.presenters.workspace import Workspace
from ctm_gui.settings import Settings
from ctm_gui.views.tab_places import DEVICES_TAB
from predictor.core.resources import resources_dir

DISTILBERT = resources_dir() / "samples" / "distilbert-base.onnx"


@contextmanager
def started(qtbot: QtBot, folder: Path, *models: str) -> Iterator[Application]:
    application = Application(folder / "store.db", folder / "window.ini")
    qtbot.addWidget(application.window)
    # The store is opened with the work that begins after the first frame.
    with qtbot.waitSignal(application.workspace.recorder.opened, timeout=30_000):
        application.start(models)
    yield application
    application.close()


def models_on_disk(settings: Path) -> bool:
    # By its text: the QSettings of one process share what is not written yet.
    return settings.exists() and "\nmodels=" in settings.read_text(encoding="utf-8")


@pytest.mark.usefixtures("own_folders")
def test_models_dimensions_targets_and_view_come_back_and_a_file_that_has_gone_says_so(
    qtbot: QtBot,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    tmp_path: Path,
) -> None:
    gone = make_model("gone.onnx")
    with started(qtbot, tmp_path, str(DISTILBERT), str(gone)) as first:
        shelf = first.workspace.shelf
        qtbot.waitUntil(lambda: len(shelf.entries) == 2)
        settle(first.workspace)
        row = next(i for i, entry in enumerate(shelf.entries) if entry.path == str(DISTILBERT))
        shelf.bind(row, "sequence", 77)
        settle(first.workspace)
        first.workspace.selection.select(["rpi5"], selected=True)
        first.window.show_tab(DEVICES_TAB)
        # Closed as by a power cut: nothing is remembered at the end.
        first.settings.sync()
        first.window.close()
    gone.unlink()

    with started(qtbot, tmp_path) as second:
        entries = second.workspace.shelf.entries
        qtbot.waitUntil(lambda: len(entries) == 2)
        settle(second.workspace)
        by_path = {entry.path: entry for entry in entries}
        model = by_path[str(DISTILBERT)].model
        assert model is not None
        assert {d.name: d.value for d in model.dynamic}["sequence"] == 77
        assert by_path[str(gone)].state is ModelState.FAILED
        assert "there is no such file" in str(by_path[str(gone)].error)
        assert "rpi5" in second.workspace.selection.selected_ids
        assert second.window.tabs.currentIndex() == DEVICES_TAB
        second.window.close()


def test_the_session_is_kept_while_the_program_runs(
    qtbot: QtBot,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    tmp_path: Path,
) -> None:
    model = make_model()
    with started(qtbot, tmp_path, str(model)) as application:
        qtbot.waitUntil(lambda: len(application.workspace.shelf.entries) == 1)
        qtbot.waitUntil(lambda: models_on_disk(tmp_path / "window.ini"))
        kept = Settings(tmp_path / "window.ini").get(table.MODELS)
        assert read_models(kept) == [SessionModel(str(model), {})]


def test_files_of_a_start_come_in_place_of_the_last_session_and_the_user_may_turn_it_off(
    qtbot: QtBot,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    tmp_path: Path,
) -> None:
    settings = Settings(tmp_path / "window.ini")
    settings.set(table.MODELS, remembered_models([ModelEntry(1, str(make_model("old.onnx")))]))
    settings.sync()
    with started(qtbot, tmp_path, str(make_model("new.onnx"))) as application:
        qtbot.waitUntil(lambda: bool(application.workspace.shelf.entries))
        settle(application.workspace)
        assert [entry.name for entry in application.workspace.shelf.entries] == ["new.onnx"]
    settings = Settings(tmp_path / "window.ini")
    settings.set(table.RESTORE, False)
    settings.sync()
    with started(qtbot, tmp_path) as application:
        settle(application.workspace)
        assert not application.workspace.shelf.entries


@pytest.mark.parametrize(
    "line", ["", "{", "[]", "{}", '{"path": 3, "bindings": {}}', '{"path": "", "bindings": {}}']
)
def test_a_line_that_makes_no_sense_is_left_out(line: str) -> None:
    assert read_models([line]) == []


def test_bindings_that_make_no_sense_are_left_out() -> None:
    line = '{"path": "/a.onnx", "bindings": {"n": 8, "bad": "x", "none": 0, "yes": true}}'
    assert read_models([line]) == [SessionModel("/a.onnx", {"n": 8})]


def test_while_there_is_no_model_the_window_says_how_to_begin(
    qtbot: QtBot, settle: Callable[[Workspace], None], tmp_path: Path
) -> None:
    with started(qtbot, tmp_path) as application:
        view = application.window.first_view
        assert view.currentWidget() is view.start
        assert len(view.start.sample_buttons) == 3
        view.start.all_button.click()
        qtbot.waitUntil(lambda: len(application.workspace.shelf.entries) == 3)
        settle(application.workspace)
        assert view.currentWidget() is application.window.central.compare_tabs
        assert all(entry.model for entry in application.workspace.shelf.entries)
        application.workspace.shelf.remove(range(3))
        assert view.currentWidget() is view.start
        application.workspace.undo_stack.undo()
        assert view.currentWidget() is application.window.central.compare_tabs
