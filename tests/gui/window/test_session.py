"""What one session leaves to the next."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.application import Application
from ctm_gui.models.shelf import ModelEntry, ModelState
from ctm_gui.settings import Settings
from ctm_gui.window.session import read_models, remembered_models
from ctm_gui.window.workspace import Workspace
from predictor.core.resources import resources_dir
from predictor.services.generation.records import GenerationRequest
from predictor.services.serving.records import Limits
from tests.support.networks import decoders
from tests.support.networks.decoders import Size
from tests.support.public_models import CONFIGS

DISTILBERT = resources_dir() / "samples" / "distilbert-base.onnx"

Start = Callable[..., Application]


@pytest.fixture
def start(qtbot: QtBot, make_application: Callable[..., Application]) -> Start:
    """Start the program with models; the next one is a session of the same files."""

    def start(*models: Path) -> Application:
        application = make_application()
        # The store is opened with the work that begins after the first frame.
        with qtbot.waitSignal(application.workspace.recorder.opened):
            application.start([str(model) for model in models])
        return application

    return start


def test_models_dimensions_targets_and_view_come_back_and_a_file_that_has_gone_says_so(
    qtbot: QtBot,
    start: Start,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> None:
    gone = make_model("gone.onnx")
    first = start(DISTILBERT, gone)
    shelf = first.workspace.shelf
    qtbot.waitUntil(lambda: len(shelf.entries) == 2)
    settle(first.workspace)
    row = next(i for i, entry in enumerate(shelf.entries) if entry.path == str(DISTILBERT))
    shelf.bind(row, "sequence", 77)
    settle(first.workspace)
    first.workspace.selection.select(["rpi5"], selected=True)
    first.window.show_page("devices")
    first.window.close()
    first.close()
    gone.unlink()

    second = start()
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
    assert second.window.page.id == "devices"


def test_a_decoder_in_onnx_is_the_language_model_of_the_next_session_too(
    qtbot: QtBot, start: Start, tmp_path: Path
) -> None:
    path = tmp_path / "decoder.onnx"
    decoders.save(decoders.genai(Size()).model(), path)
    first = start(path)
    qtbot.waitUntil(lambda: first.workspace.language.entry is not None)
    first.workspace.language.ask_load(8.0, Limits(500.0, None), "A Load")
    first.window.close()
    first.close()
    second = start()
    qtbot.waitUntil(lambda: second.workspace.language.entry is not None)
    assert second.workspace.language.state == first.workspace.language.state
    assert second.workspace.language.state.rate_per_s == 8.0
    assert second.workspace.undo_stack.count() == 0


def test_several_language_models_come_back_with_their_formats_and_the_one_that_was_shown(
    qtbot: QtBot, start: Start, tmp_path: Path
) -> None:
    paths = [tmp_path / "decoder.onnx", *(tmp_path / name / "config.json" for name in ("a", "b"))]
    decoders.save(decoders.genai(Size()).model(), paths[0])
    for path in paths[1:]:
        path.parent.mkdir()
        path.write_text(json.dumps(CONFIGS["Qwen2-0.5B"][0]), encoding="utf-8")
    first = start(*paths)
    language = first.workspace.language
    qtbot.waitUntil(lambda: len(language.state.entries) == 3)
    language.show(str(paths[1]))
    language.ask(replace(language.request, prompt=64, weights="q8_0"), "Weights")
    first.window.close()
    first.close()
    second = start().workspace.language
    qtbot.waitUntil(lambda: len(second.state.entries) == 3)
    assert second.current_path == str(paths[1])
    assert second.request.weights == "q8_0"
    assert second.state.run == language.state.run
    formats = {entry.path: entry.weights for entry in language.state.entries}
    assert {entry.path: entry.weights for entry in second.state.entries} == formats
    assert [e.path for e in second.state.entries] == [e.path for e in language.state.entries]


def test_the_one_language_model_of_a_former_version_is_opened(
    qtbot: QtBot, start: Start, tmp_path: Path
) -> None:
    path = tmp_path / "a" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(CONFIGS["Qwen2-0.5B"][0]), encoding="utf-8")
    settings = Settings(tmp_path / "window.ini")
    run = asdict(GenerationRequest(prompt=64, weights="q8_0"))
    load = {"rate_per_s": 2.0, "first_ms": None, "token_ms": 30.0}
    settings.set(table.LANGUAGE, json.dumps({"path": str(path), "run": run, "load": load}))
    settings.sync()
    language = start().workspace.language
    qtbot.waitUntil(lambda: language.entry is not None)
    assert (language.current_path, language.request.prompt) == (str(path), 64)
    assert language.request.weights == "q8_0"
    assert (language.state.rate_per_s, language.state.limits.token_ms) == (2.0, 30.0)


@pytest.mark.parametrize("models", [[], "x", [1], [{"path": 1}], [{"path": "a", "run": {}}]])
def test_language_models_of_a_damaged_session_are_none(
    start: Start, tmp_path: Path, models: object
) -> None:
    settings = Settings(tmp_path / "window.ini")
    settings.set(table.LANGUAGE, json.dumps({"models": models}))
    settings.sync()
    assert start().workspace.language.entry is None


@pytest.mark.parametrize("load", [None, {"rate_per_s": "8"}, {"rate_per_s": -1}, [1]])
def test_a_load_of_a_damaged_session_is_none(
    qtbot: QtBot, start: Start, tmp_path: Path, load: object
) -> None:
    path = tmp_path / "decoder.onnx"
    decoders.save(decoders.genai(Size()).model(), path)
    settings = Settings(tmp_path / "window.ini")
    run = asdict(GenerationRequest(prompt=8, new=8))
    settings.set(table.LANGUAGE, json.dumps({"path": str(path), "run": run, "load": load}))
    settings.set(table.MODELS, remembered_models([ModelEntry(id=1, path=str(path))]))
    settings.sync()
    workspace = start().workspace
    qtbot.waitUntil(lambda: workspace.language.entry is not None)
    state = workspace.language.state
    assert (state.rate_per_s, state.limits.first_ms) == (None, None)


def test_a_language_model_that_has_gone_says_so(qtbot: QtBot, start: Start, tmp_path: Path) -> None:
    settings = Settings(tmp_path / "window.ini")
    run = asdict(GenerationRequest())
    gone = str(tmp_path / "gone" / "config.json")
    settings.set(table.LANGUAGE, json.dumps({"path": gone, "run": run}))
    settings.sync()
    workspace = start().workspace
    qtbot.waitUntil(lambda: bool(workspace.messages.messages))
    assert "gone" in workspace.messages.messages[-1].text
    assert workspace.language.entry is None


def test_the_session_is_kept_while_the_program_runs(
    qtbot: QtBot, start: Start, make_model: Callable[..., Path], tmp_path: Path
) -> None:
    model, settings = make_model(), tmp_path / "window.ini"

    def models_are_on_disk() -> bool:
        # By its text: the QSettings of one process share what is not written yet.
        return settings.exists() and "\nmodels=" in settings.read_text(encoding="utf-8")

    start(model)
    qtbot.waitUntil(models_are_on_disk)
    kept = Settings(settings).get(table.MODELS)
    assert read_models(kept) == [(str(model), {})]


def test_files_of_a_start_come_in_place_of_the_last_session_and_the_user_may_turn_it_off(
    qtbot: QtBot,
    start: Start,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    tmp_path: Path,
) -> None:
    settings = Settings(tmp_path / "window.ini")
    settings.set(
        table.MODELS, remembered_models([ModelEntry(id=1, path=str(make_model("old.onnx")))])
    )
    settings.sync()
    first = start(make_model("new.onnx"))
    qtbot.waitUntil(lambda: bool(first.workspace.shelf.entries))
    settle(first.workspace)
    assert [entry.name for entry in first.workspace.shelf.entries] == ["new.onnx"]
    first.close()
    settings = Settings(tmp_path / "window.ini")
    settings.set(table.RESTORE, False)
    settings.sync()
    second = start()
    settle(second.workspace)
    assert not second.workspace.shelf.entries


@pytest.mark.parametrize(
    "line", ["", "{", "[]", "{}", '{"path": 3, "bindings": {}}', '{"path": "", "bindings": {}}']
)
def test_a_line_that_makes_no_sense_is_left_out(line: str) -> None:
    assert read_models([line]) == []


def test_bindings_that_make_no_sense_are_left_out() -> None:
    line = '{"path": "/a.onnx", "bindings": {"n": 8, "bad": "x", "none": 0, "yes": true}}'
    assert read_models([line]) == [("/a.onnx", {"n": 8})]


def test_while_there_is_no_model_the_window_says_how_to_begin(
    qtbot: QtBot, start: Start, settle: Callable[[Workspace], None]
) -> None:
    application = start()
    view = application.window.first_view
    assert view.currentWidget() is view.start
    assert len(view.start.sample_buttons) == 3
    view.start.all_button.click()
    qtbot.waitUntil(lambda: len(application.workspace.shelf.entries) == 3)
    settle(application.workspace)
    # The comparison may have been predicted before its view is made.
    qtbot.waitUntil(lambda: view.currentWidget() is not view.start)
    assert view.currentWidget() is application.window.central.compare_tabs
    assert all(entry.model for entry in application.workspace.shelf.entries)
    application.workspace.shelf.remove(range(3))
    assert view.currentWidget() is view.start
    application.workspace.undo_stack.undo()
    assert view.currentWidget() is application.window.central.compare_tabs


def test_the_first_minute_leads_to_machine_targets_and_probing_until_it_is_hidden(
    qtbot: QtBot, start: Start
) -> None:
    application = start()
    window, page = application.window, application.window.first_view.start
    close, _, tick, probe = page.guide_buttons
    assert not page.guide.isHidden()
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    for is_hidden in (False, True):  # as on a screen that is narrow
        if is_hidden:
            window.side_panels.toggle()
        assert window.targets_panel.isVisible() is not is_hidden
        qtbot.mouseClick(tick, Qt.MouseButton.LeftButton)
        assert window.targets_panel.search_box.hasFocus()
    window.probing_requested.disconnect()  # the wizard itself is not what is asked about
    with qtbot.waitSignal(window.probing_requested):
        qtbot.mouseClick(probe, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
    assert page.guide.isHidden()
    window.close()
    application.close()
    assert start().window.first_view.start.guide.isHidden()
