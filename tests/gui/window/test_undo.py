"""One stack for all that the user does, whose next step has a name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from ctm_gui import settings, undo
from ctm_gui.prediction.comparison import WhatIf
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.records import Precision
from predictor.core.units import LatencyUnit
from predictor.devices.schema import DeviceFile
from predictor.services.devices.this_machine import describe_this_machine


def words(window: MainWindow) -> str:
    return window.actions_by_id["undo"].text().replace("&", "")


def test_none_of_the_targets_is_taken_back(window: MainWindow, workspace: Workspace) -> None:
    ticked = workspace.selection.selected_ids
    buttons = window.targets_panel.findChildren(QToolButton)
    next(b for b in buttons if b.text() == "None").click()
    assert workspace.selection.selected_ids == ()
    assert words(window) == "Undo Untick 3 targets"

    window.actions_by_id["undo"].trigger()

    assert workspace.selection.selected_ids == ticked
    assert not window.actions_by_id["undo"].isEnabled()


def test_a_configuration_is_taken_back(workspace: Workspace) -> None:
    device = next(d for d in workspace.selection.selected if len(d.configurations) > 1)
    usual, other = device.configurations[:2]
    workspace.selection.set_configuration(device, other)

    workspace.undo_stack.undo()

    assert workspace.selection.configuration_of(device) == usual


def test_digits_of_a_batch_are_one_step(
    window: MainWindow, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for batch in (1, 12, 128):
        window.what_if_bar.batch.setValue(batch)
    assert words(window) == "Undo Batch 128"
    workspace.undo_stack.undo()
    assert workspace.what_if == WhatIf()
    assert window.what_if_bar.batch.value() == 0

    monkeypatch.setattr(undo, "_TYPING_S", -1.0)
    window.what_if_bar.batch.setValue(8)
    window.what_if_bar.batch.setValue(16)
    workspace.undo_stack.undo()
    assert workspace.what_if.batch == 8


def test_a_reset_is_one_step(window: MainWindow, workspace: Workspace) -> None:
    window.what_if_bar.batch.setValue(8)
    window.what_if_bar.precision.setCurrentText("INT8")
    asked = workspace.what_if
    window.what_if_bar.reset.click()
    assert workspace.what_if == WhatIf()

    workspace.undo_stack.undo()

    assert workspace.what_if == asked == WhatIf(batch=8, precision=Precision.INT8)


def test_the_unit_is_one_step(window: MainWindow, workspace: Workspace) -> None:
    window.what_if_bar.unit.setCurrentText("FPS")
    assert words(window) == "Undo Unit FPS"
    workspace.undo_stack.undo()
    assert window.what_if_bar.unit.currentText() == "ms"
    assert window.options.unit is LatencyUnit.MS
    assert not workspace.undo_stack.canUndo()
    workspace.undo_stack.redo()
    assert window.settings.get(settings.UNIT) == "FPS"


def test_the_budget_is_one_step_for_every_view(window: MainWindow, workspace: Workspace) -> None:
    central = window.central
    central.compare_view.budget_box.setValue(12.5)
    assert words(window) == "Undo Budget 12.5 ms"
    central.choose_view.latency_box.setValue(20.0)
    assert central.compare_view.budget_box.value() == 20.0
    # Typed on within a second: one step.
    workspace.undo_stack.undo()
    assert central.compare_view.budget_box.value() == 0.0
    assert window.settings.get(settings.BUDGET_MS) == 0.0
    assert not workspace.undo_stack.canUndo()


def test_a_type_of_operators_is_one_step_and_an_opened_group_none(
    qtbot: QtBot,
    window: MainWindow,
    workspace: Workspace,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> None:
    workspace.open_paths([str(make_model(layers=80, pinned=True))])
    settle(workspace)
    window.show_page("operators")
    view, graph = window.central.operators_view, window.central.graph_view
    qtbot.waitUntil(lambda: view.table.model().rowCount() == 81)
    qtbot.keyClick(view.strip, Qt.Key.Key_Down)
    shown = view.strip.times[0].label
    assert words(window) == f"Undo Show {shown}"
    assert view.table.model().rowCount() == 80
    view.type_button.click()
    assert words(window) == "Undo Show All Types"
    workspace.undo_stack.undo()
    assert view.table.model().rowCount() == 80
    workspace.undo_stack.undo()
    assert view.table.model().rowCount() == 81

    window.show_page("graph")
    qtbot.waitUntil(lambda: bool(graph.presenter.picture.nodes.size))
    before = words(window)
    group = next(n for n in graph.presenter.picture.nodes.tolist() if n > 81)
    graph.canvas.toggled.emit(graph.presenter.box_of(group))
    assert words(window) == before


def test_the_words_of_a_filter_are_one_step_of_the_windows(
    window: MainWindow, workspace: Workspace
) -> None:
    window.targets_panel.search_box.setFocus()
    QTest.keyClicks(window.targets_panel.search_box, "orin")
    assert words(window) == "Undo Search targets: orin"

    # The box leaves the key to the window.
    QTest.keyClick(
        window.targets_panel.search_box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier
    )

    assert window.targets_panel.search_box.text() == ""
    workspace.undo_stack.redo()
    assert window.targets_panel.search_box.text() == "orin"


def test_a_cleared_filter_comes_back(window: MainWindow, workspace: Workspace) -> None:
    box = window.targets_panel.search_box
    box.setFocus()
    QTest.keyClicks(box, "orin")
    box.findChild(QToolButton).click()
    assert (box.text(), words(window)) == ("", "Undo Clear Search targets")

    workspace.undo_stack.undo()

    assert box.text() == "orin"


def test_a_device_that_was_probed_stays(
    qtbot: QtBot, workspace: Workspace, settle: Callable[[Workspace], None]
) -> None:
    settle(workspace)
    with qtbot.waitSignal(workspace.library.made):
        workspace.library.add(DeviceFile(describe_this_machine()))
    device_id = describe_this_machine().id
    workspace.library.keep(device_id)
    said: list[str] = []
    workspace.library.done.connect(said.append)

    workspace.undo_stack.undo()

    assert device_id in workspace.library.by_id()
    assert said
    assert said[0].endswith("stays: it was probed. Delete it in Devices")


def test_boxes_that_filter_are_taken_back(
    qtbot: QtBot, window: MainWindow, workspace: Workspace
) -> None:
    checked = window.targets_panel.checked_only
    checked.click()
    assert words(window) == "Undo Tick Checked"
    workspace.undo_stack.undo()
    assert not checked.isChecked()

    window.show_page("history")
    view = window.central.history_view
    qtbot.waitUntil(lambda: view.is_built)
    bar, wanted = view.filter_bar, view.filter_bar.wanted()
    bar.all_runs_box.setFocus()
    qtbot.keyClick(bar.all_runs_box, Qt.Key.Key_Space)
    assert words(window) == "Undo Tick Every run"
    bar.period_box.setFocus()
    qtbot.keyClick(bar.period_box, Qt.Key.Key_Down)
    assert words(window) == "Undo Time: Today"
    assert bar.wanted().days == 1

    changed = []
    bar.changed.connect(lambda: changed.append(bar.wanted().days))
    workspace.undo_stack.undo()
    assert changed[-1] is None
    workspace.undo_stack.undo()
    assert bar.wanted() == wanted
    workspace.undo_stack.redo()
    workspace.undo_stack.redo()
    assert bar.wanted().days == 1
    assert not workspace.undo_stack.canRedo()
