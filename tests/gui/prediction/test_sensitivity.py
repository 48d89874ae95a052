"""The sentence on what would change a prediction, over Operators and Attention."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from ctm_gui.prediction import explanation
from ctm_gui.prediction.explanation import sensitivity_details, sensitivity_sentence
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.errors import InputError
from predictor.core.records import Target
from predictor.graph.model import Model
from predictor.services.prediction.sensitivity import Sensitivity, sensitivity_of

MakeModel = Callable[..., Path]
Settle = Callable[[Workspace], None]


def look(qtbot: QtBot, window: MainWindow, page: str) -> None:
    window.show_page(page)
    qtbot.waitUntil(lambda: window.central.explanation.settled)


def test_the_sentence_is_that_of_the_chosen_pair(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model("a.onnx")), str(make_model("b.onnx", layers=5))])
    settle(workspace)
    look(qtbot, window, "operators")
    sentence = window.central.why_view.pair.sentence
    comparison = workspace.comparison

    first = sensitivity_of(comparison.models[0].model, comparison.targets[0])
    assert first.sentence
    explained = window.central.explanation.explained
    assert explained is not None
    assert sentence.text() == sensitivity_sentence(first, explained)
    assert sentence.text().startswith(f"To make a.onnx on {explained.target} faster: ")
    assert sentence.toolTip() == sensitivity_details(first)
    window.central.explanation.choose(1, 1)
    assert window.central.explanation.table is not None  # of before, as is the sentence
    qtbot.waitUntil(lambda: window.central.explanation.settled)
    other = sensitivity_of(comparison.models[1].model, comparison.targets[1])
    later = window.central.explanation.explained
    assert later is not None
    expected = sensitivity_sentence(other, later)
    assert sentence.text() == expected

    look(qtbot, window, "attention")
    assert window.central.why_view.pair.sentence.text() == expected
    workspace.shelf.remove([0, 1])
    settle(workspace)
    assert window.central.why_view.pair.sentence.text() == ""


def test_it_is_worked_out_off_the_windows_thread_after_the_table(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    threads: list[threading.Thread] = []
    go_on = threading.Event()

    def slow(model: Model, target: Target, **more: object) -> Sensitivity:
        threads.append(threading.current_thread())
        go_on.wait(10)
        return sensitivity_of(model, target, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(explanation, "sensitivity_of", slow)
    workspace.open_paths([str(make_model())])
    settle(workspace)
    window.show_page("operators")
    qtbot.waitUntil(lambda: bool(threads))

    view = window.central.operators_view
    assert view.table.model().rowCount() > 0
    assert window.central.why_view.pair.sentence.text() == ""
    assert not window.central.explanation.settled
    go_on.set()
    qtbot.waitUntil(lambda: window.central.explanation.settled)
    assert window.central.why_view.pair.sentence.text() != ""
    assert threads == [each for each in threads if each is not threading.main_thread()]


def test_where_it_fails_the_table_stays(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def fails(*_: object, **__: object) -> Sensitivity:
        raise InputError("rpi5", "nothing to vary", "take another")

    monkeypatch.setattr(explanation, "sensitivity_of", fails)
    workspace.open_paths([str(make_model())])
    settle(workspace)
    look(qtbot, window, "operators")

    assert window.central.explanation.table is not None
    assert window.central.why_view.pair.sentence.text() == ""
