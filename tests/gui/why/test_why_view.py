"""The page Why in the real window: one pair, one selection in all of its parts."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from ctm_gui import settings
from ctm_gui.why.subject import costs_on_targets
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core import files
from predictor.core.units import LatencyUnit

MakeModel = Callable[..., Path]
Settle = Callable[[Workspace], None]


@pytest.fixture
def shown(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> MainWindow:
    workspace.open_paths([str(make_model(layers=6))])
    settle(workspace)
    with qtbot.waitSignal(window.central.explanation.table_changed):
        window.show_page("operators")
    return window


def test_one_selection_goes_through_every_tab(shown: MainWindow) -> None:
    central = shown.central
    central.operators_view.table.select_rows([4, 1], 1)
    shown.show_page("roofline")
    assert sorted(central.roofline_view.plot._selected.tolist()) == [1, 4]
    assert central.roofline_view.plot._current == 1
    central.roofline_view.plot.setFocus()
    QTest.keyClick(central.roofline_view.plot, Qt.Key.Key_Right)
    shown.show_page("timeline")
    assert central.timeline_view.plot._selected.tolist() == [2]
    QTest.keyClick(central.timeline_view.plot, Qt.Key.Key_End)
    shown.show_page("attention")
    shown.show_page("operators")
    assert central.operators_view.table.selected_rows().tolist() == [5]


def test_a_box_of_the_graph_is_selected_in_every_tab(qtbot: QtBot, shown: MainWindow) -> None:
    central = shown.central
    view = central.graph_view
    central.operators_view.table.select_rows([2], 2)
    shown.show_page("graph")
    qtbot.waitUntil(lambda: bool(view.presenter.picture.nodes.size))
    marked = view.canvas._item.current
    assert marked is not None
    assert view.presenter.picture.nodes[marked] == 2
    QTest.keyClick(view.canvas, Qt.Key.Key_Down)
    shown.show_page("roofline")
    assert central.roofline_view.plot._selected.tolist() == [3]
    shown.show_page("timeline")
    assert central.timeline_view.plot._selected.tolist() == [3]
    shown.show_page("attention")
    assert central.attention_view.table.selected_rows().tolist() == [3]
    shown.show_page("operators")
    assert central.operators_view.table.selected_rows().tolist() == [3]


def test_a_box_and_a_row_are_one_selection_at_once(qtbot: QtBot, shown: MainWindow) -> None:
    central = shown.central
    operators, graph, explanation = central.operators_view, central.graph_view, central.explanation
    qtbot.waitUntil(lambda: bool(graph.presenter.picture.nodes.size))
    operators.table.select_rows([2], 2)
    assert graph.presenter.picture.nodes[graph.canvas._item.current] == 2
    QTest.keyClick(graph.canvas, Qt.Key.Key_Down)
    assert operators.table.selected_rows().tolist() == [3]
    assert explanation.selected.tolist() == [3]
    # The same box again, after another choice elsewhere.
    operators.table.select_rows([5], 5)
    graph.canvas.clicked.emit(graph.presenter.picture.box_of(3))
    assert operators.table.selected_rows().tolist() == [3]


def test_the_panel_has_the_facts_of_what_is_selected(qtbot: QtBot, shown: MainWindow) -> None:
    central = shown.central
    panel, explanation = central.why_view.panel, central.explanation
    qtbot.waitUntil(lambda: explanation.costs is not None and explanation.settled)
    qtbot.waitUntil(lambda: panel.title.text() == "chain.onnx")
    assert panel.isAncestorOf(central.operators_view.strip)
    assert central.operators_view.strip.isVisible()
    central.operators_view.table.select_rows([2], 2)
    qtbot.waitUntil(lambda: panel.title.text() == "product_2")
    assert not central.operators_view.strip.isVisible()
    names = [name for name, _ in panel.facts]
    assert names[:3] == ["Time", "Likely", "MACs"]
    assert "Held by" in names
    assert panel.help.text()
    rows = shown.workspace.comparison.rows
    lines = panel.targets.text().split("\n")
    assert len(lines) == len(rows)
    assert sum(line.startswith("▸") for line in lines) == 1
    shown.options.set_unit(LatencyUnit.US)
    qtbot.waitUntil(lambda: dict(panel.facts)["Likely"].endswith("µs"))
    central.operators_view.table.select_rows([2, 4], 4)
    qtbot.waitUntil(lambda: panel.title.text() == "2 operators")


def test_actions_of_former_pages_open_their_part(qtbot: QtBot, shown: MainWindow) -> None:
    central = shown.central
    parts = {
        "operators": central.operators_view,
        "roofline": central.roofline_view,
        "timeline": central.timeline_view,
        "attention": central.attention_view,
    }
    for part, view in parts.items():
        shown.show_page("compare")
        shown.actions_by_id[part].trigger()
        assert shown.page.id == "why"
        assert view.isVisible()
        assert shown.settings.get(settings.WHY_STRIP) == part
    shown.show_page("compare")
    central.why_view.larger_button.click()
    shown.actions_by_id["graph"].trigger()
    qtbot.waitUntil(lambda: bool(central.graph_view.presenter.picture.nodes.size))
    assert central.graph_view.isVisible()
    assert shown.focusWidget() is central.graph_view.canvas


def test_the_strip_may_have_the_room_of_the_graph(shown: MainWindow) -> None:
    why = shown.central.why_view
    height = why.strip.height()
    why.larger_button.click()
    assert not shown.central.graph_view.isVisible()
    assert why.strip.height() >= height
    why.larger_button.click()
    assert shown.central.graph_view.isVisible()


def test_without_a_target_every_view_asks_for_one_and_not_for_a_model(
    qtbot: QtBot, shown: MainWindow, workspace: Workspace
) -> None:
    shown.show_page("roofline")
    qtbot.waitUntil(lambda: shown.central.explanation.settled)
    workspace.selection.select(workspace.selection.selected_ids, selected=False)
    qtbot.waitUntil(lambda: workspace.settled and not workspace.comparison.rows)
    views = {
        "compare": (shown.central.compare_view, "Tick a target to compare latencies here."),
        "operators": (shown.central.operators_view, "Tick a target to see where the time goes."),
        "roofline": (shown.central.roofline_view, "Tick a target to see where the time goes."),
        "clocks": (
            shown.central.clocks_view,
            "Tick a target to see the latency over the clocks.",
        ),
    }
    for page, (view, words) in views.items():
        shown.show_page(page)
        qtbot.waitUntil(lambda view=view, words=words: view._stack.message.text() == words)
        assert view._stack.message.isVisible()
    assert not shown.central.roofline_view.compare_box.isVisible(), "it counts other targets"


def test_a_box_has_its_cost_on_every_ticked_target(qtbot: QtBot, shown: MainWindow) -> None:
    explanation, view = shown.central.explanation, shown.central.graph_view
    shown.show_page("graph")
    qtbot.waitUntil(lambda: explanation.costs is not None and explanation.settled)
    qtbot.waitUntil(lambda: bool(view.presenter.picture.nodes.size))
    facts, costs = view.presenter.facts, explanation.costs
    assert facts is not None
    assert costs is not None
    rows = shown.workspace.comparison.rows
    assert costs.names == tuple(row.device_name for row in rows)
    latency_ms = [row.prediction.latency_ms for row in rows]
    assert costs.latency_ms.sum(axis=1).tolist() == pytest.approx(latency_ms, rel=1e-4)
    operators = facts.tree.operators_of(facts.tree.root)
    in_table = costs_on_targets(costs, operators, LatencyUnit.MS)
    fastest = min(rows, key=lambda row: row.prediction.latency_ms or 0.0)
    assert in_table[0][0] == fastest.device_name
    assert len(in_table) == len(rows)


def test_every_tab_shows_the_pair_that_was_chosen_in_one(qtbot: QtBot, shown: MainWindow) -> None:
    central = shown.central
    shown.show_page("timeline")
    with qtbot.waitSignal(central.explanation.table_changed):
        central.why_view.pair.choice_changed.emit(0, 1)
    pair = central.explanation.explained
    assert pair is not None
    assert central.timeline_view.plot.strip is not None
    assert central.timeline_view.plot.strip.explained is pair
    shown.show_page("roofline")
    box = central.why_view.pair.target_box
    assert box.currentText() == pair.target
    others = {name for name, _ in pair.other_roofs}
    assert others == {box.itemText(place) for place in range(box.count())} - {pair.target}


def test_the_timeline_ends_with_the_predicted_latency(shown: MainWindow) -> None:
    pair = shown.central.explanation.explained
    assert pair is not None
    predicted = shown.workspace.comparison.rows[0].prediction.latency_ms
    assert pair.timeline.total_ms == pytest.approx(predicted)


def test_export_asks_once_there_is_a_timeline(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "net"), ""))
    window.actions_by_id["trace"].trigger()
    assert workspace.messages.messages[-1].text.startswith("There is no timeline to export")
    workspace.open_paths([str(make_model(layers=3))])
    settle(workspace)
    window.show_page("compare")
    with qtbot.waitSignal(window.central.explanation.done) as done:
        window.actions_by_id["trace"].trigger()
    assert window.page.id == "why"
    assert window.central.timeline_view.isVisible()
    assert done.args[0].endswith("net.json")
    events = json.loads((tmp_path / "net.json").read_text())["traceEvents"]
    assert sum(event.get("cat") == "operator" for event in events) == 3


@pytest.mark.parametrize("reason", ["folder", "disk"])
def test_a_trace_that_cannot_be_written_is_one_sentence(
    qtbot: QtBot, shown: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    if reason == "disk":

        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(files.os, "fsync", full)
    (tmp_path / "file").touch()  # in the way of a folder
    path = tmp_path / ("file" if reason == "folder" else ".") / "net.json"
    with qtbot.waitSignal(shown.central.explanation.failed) as failed:
        shown.central.timeline_view.trace_requested.emit(path)
    assert str(failed.args[0]).count("\n") == 0
    assert "the trace could not be written" in str(failed.args[0])
    assert not path.exists()
    assert shown.workspace.messages.error_count == 1


def test_a_hidden_tab_lets_go_of_what_is_closed(
    qtbot: QtBot, shown: MainWindow, settle: Settle
) -> None:
    shown.show_page("roofline")
    shown.show_page("timeline")
    shown.workspace.shelf.remove([0])
    settle(shown.workspace)
    qtbot.waitUntil(lambda: shown.central.timeline_view.plot.strip is None)
    qtbot.waitUntil(lambda: not shown.central.roofline_view.plot.has_points)
    shown.central.timeline_view.plot.select(np.array([0]), 0)  # nothing to bring into view
