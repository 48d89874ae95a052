"""A stack of steps for each place, whose next step has a name."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QUndoStack
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from ctm_gui import settings, undo
from ctm_gui.targets.what_ifs import WhatIf
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.records import Precision
from predictor.core.units import LatencyUnit
from predictor.devices.schema import DeviceFile
from predictor.services.devices.this_machine import describe_this_machine
from tests.support.what_ifs import ask_what_if


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
    assert workspace.messages.messages[-1].text == "Taken back: Untick 3 targets"
    assert not window.actions_by_id["undo"].isEnabled()


def test_a_configuration_is_taken_back(workspace: Workspace) -> None:
    device = next(d for d in workspace.selection.selected if len(d.configurations) > 1)
    usual, other = device.configurations[:2]
    workspace.selection.set_configuration(device, other)

    workspace.undo_stack.undo()

    assert workspace.selection.configuration_of(device) == usual


def test_digits_of_a_batch_are_one_step(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    selection = workspace.selection
    device = selection.selected[0]
    for batch in (1, 12, 128):
        selection.set_what_if(device, WhatIf(batch=batch))
    assert workspace.undo_stack.undoText() == f"{device.name}: batch 128"
    workspace.undo_stack.undo()
    assert selection.what_ifs == {}

    monkeypatch.setattr(undo, "_TYPING_S", -1.0)
    selection.set_what_if(device, WhatIf(batch=8))
    selection.set_what_if(device, WhatIf(batch=16))
    workspace.undo_stack.undo()
    assert selection.what_ifs == {device.id: WhatIf(batch=8)}


def test_letters_that_are_typed_leave_nothing_behind(qapp: QApplication) -> None:
    class Text:
        pass

    texts = [Text() for _ in range(20)]
    alive = [weakref.ref(text) for text in texts]
    stack, shown = QUndoStack(), list[Text]()
    for before, after in pairwise(texts):
        undo.push_change(stack, "Type", shown.append, after, before, typed="field")
    del before, after
    shown.clear()
    texts.clear()
    gc.collect()

    assert stack.count() == 1
    assert [place for place, text in enumerate(alive) if text() is not None] == [0, 19]


def test_a_reset_is_one_step(workspace: Workspace) -> None:
    ask_what_if(workspace, batch=8, precision=Precision.INT8)
    before = workspace.selection.what_ifs
    workspace.selection.reset_what_ifs()
    assert workspace.selection.what_ifs == {}

    workspace.undo_stack.undo()

    assert workspace.selection.what_ifs == before
    assert len(before) == 3


def test_opened_files_are_one_step(
    workspace: Workspace, make_model: Callable[..., Path], settle: Callable[[Workspace], None]
) -> None:
    names = ["a.onnx", "b.onnx"]
    workspace.open_paths([str(make_model(name)) for name in names])
    settle(workspace)
    assert workspace.undo_stack.undoText() == "Open 2 models"
    workspace.undo_stack.undo()
    settle(workspace)
    assert workspace.shelf.entries == []
    workspace.undo_stack.redo()
    settle(workspace)
    assert [entry.name for entry in workspace.shelf.entries] == names


def test_undo_is_of_the_place_that_is_looked_at_and_shows_what_it_changes(
    qtbot: QtBot, window: MainWindow, workspace: Workspace
) -> None:
    workspace.selection.select(["rpi5"], selected=True)
    window.show_page("devices")
    assert not window.actions_by_id["undo"].isEnabled()
    with qtbot.waitSignal(workspace.library.made):
        workspace.library.make()
    assert words(window) == "Undo Add My device"
    window.show_page("history")
    with qtbot.waitSignal(workspace.library.changed):
        window.actions_by_id["undo"].trigger()
    assert window.page.id == "devices"
    assert "rpi5" in workspace.selection.selected_ids

    window.central.compare_view.budget_box.setValue(12.5)
    window.show_page("operators")
    window.actions_by_id["undo"].trigger()
    assert window.page.id == "compare"
    window.show_page("choose")
    assert words(window) == "Undo"
    assert not window.actions_by_id["undo"].isEnabled()


def test_the_unit_is_one_step(window: MainWindow, workspace: Workspace) -> None:
    window.places.unit_box.setCurrentText("FPS")
    assert words(window) == "Undo Unit FPS"
    workspace.undo_stack.undo()
    assert window.places.unit_box.currentText() == "ms"
    assert window.options.unit is LatencyUnit.MS
    assert not workspace.undo_stack.canUndo()
    workspace.undo_stack.redo()
    assert window.settings.get(settings.UNIT) == "FPS"


def test_the_budget_is_one_step_for_every_view(window: MainWindow, workspace: Workspace) -> None:
    central = window.central
    central.compare_view.budget_box.setValue(12.5)
    assert words(window) == "Undo Budget 12.5 ms"
    window.options.set_budget_ms(20.0)
    assert central.compare_view.budget_box.value() == 20.0
    # Typed on within a second: one step.
    workspace.undo_stack.undo()
    assert central.compare_view.budget_box.value() == 0.0
    assert window.settings.get(settings.BUDGET_MS) == 0.0
    assert not workspace.undo_stack.canUndo()


def test_a_filter_is_no_step(window: MainWindow, workspace: Workspace) -> None:
    box = window.targets_panel.search_box
    box.setFocus()
    QTest.keyClicks(box, "orin")
    window.targets_panel.checked_only.click()
    assert not workspace.undo_stack.canUndo()
    QTest.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert box.text() == "", "the box takes back its own letters"


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

    workspace.library_stack.undo()

    assert device_id in workspace.library.by_id()
    assert said
    assert said[0].endswith("stays: it was probed. Delete it in Devices")
