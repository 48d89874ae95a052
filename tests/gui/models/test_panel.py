from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QLabel, QListView, QPushButton
from pytestqt.qtbot import QtBot

from ctm_gui.models.list_model import ModelRole, ModelsListModel
from ctm_gui.models.panel import ModelsPanel
from ctm_gui.models.shelf import ModelState
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.workspace import Workspace

Settle = Callable[[Workspace], None]
MakeModel = Callable[..., Path]


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace) -> ModelsPanel:
    panel = ModelsPanel(ViewOptions(), workspace.shelf)
    QAbstractItemModelTester(
        panel.findChild(ModelsListModel), QAbstractItemModelTester.FailureReportingMode.Fatal
    )
    qtbot.addWidget(panel)
    panel.resize(340, 500)
    panel.show()
    return panel


def list_of(panel: ModelsPanel) -> QListView:
    found = panel.findChild(QListView)
    assert isinstance(found, QListView)
    return found


def shown(panel: ModelsPanel, role: int = Qt.ItemDataRole.DisplayRole) -> list[Any]:
    model = list_of(panel).model()
    return [model.index(row, 0).data(role) for row in range(model.rowCount())]


def button(panel: ModelsPanel, text: str) -> QPushButton:
    return next(b for b in panel.findChildren(QPushButton) if b.text() == text)


def texts(panel: ModelsPanel) -> str:
    return "\n".join(label.text() for label in panel.findChildren(QLabel) if label.isVisible())


def test_an_empty_list_says_what_to_do(panel: ModelsPanel) -> None:
    assert "Ctrl+O" in texts(panel)
    assert not list_of(panel).isVisible()


def test_a_model_shows_its_counts(
    panel: ModelsPanel, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model(layers=2))])
    settle(workspace)
    # Two products of [1, 16] with one shared [16, 16] weight.
    assert shown(panel) == ["chain.onnx"]
    assert shown(panel, ModelRole.FACTS) == ["256 params · 512 MACs · 2 ops"]
    assert shown(panel, ModelRole.STATE) == [ModelState.READY]
    assert "t0: float32 1×16" in texts(panel)
    assert "opset 17" in texts(panel)


def test_a_dynamic_dimension_is_edited_in_place(
    qtbot: QtBot,
    panel: ModelsPanel,
    workspace: Workspace,
    make_model: MakeModel,
    settle: Settle,
) -> None:
    workspace.open_paths([str(make_model(batch="batch"))])
    settle(workspace)
    box = panel.details.dimensions.box("batch")
    assert box.text() == "1 (assumed)"
    box.setFocus()
    box.selectAll()
    with qtbot.waitSignal(workspace.shelf.read):
        qtbot.keyClicks(box, "8")
    settle(workspace)
    entry = workspace.shelf.entries[0]
    assert entry.model is not None
    assert entry.model.inputs[0].shape == (8, 16)
    assert int(entry.model.graph.macs.sum()) == 2 * 8 * 16 * 16
    assert panel.details.dimensions.box("batch") is box  # the cursor stays where it was
    assert box.text() == "8"


def test_a_wrong_file_gets_a_row_with_its_sentence_and_can_be_mended(
    qtbot: QtBot,
    panel: ModelsPanel,
    workspace: Workspace,
    make_model: MakeModel,
    settle: Settle,
    tmp_path: Path,
) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_text("this is no model")
    workspace.open_paths([str(broken)])
    settle(workspace)
    assert shown(panel, ModelRole.STATE) == [ModelState.FAILED]
    error = workspace.shelf.entries[0].error
    assert error is not None
    assert str(error) in texts(panel)
    assert workspace.messages.error_count == 1
    broken.write_bytes(make_model("sound.onnx").read_bytes())
    button(panel, "Try Again").click()
    settle(workspace)
    assert shown(panel, ModelRole.STATE) == [ModelState.READY]
    assert not button(panel, "Try Again").isVisible()


def test_an_error_can_be_dismissed(
    panel: ModelsPanel, workspace: Workspace, settle: Settle, tmp_path: Path
) -> None:
    workspace.open_paths([str(tmp_path / "gone.onnx")])
    settle(workspace)
    button(panel, "Dismiss").click()
    assert shown(panel) == []
    assert "Ctrl+O" in texts(panel)


def test_names_from_files_are_escaped_and_never_markup(
    panel: ModelsPanel, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model("<b>gpj.\u202exnno.onnx"))])
    settle(workspace)
    assert shown(panel) == ["<b>gpj.\\u202exnno.onnx"]
    for label in panel.findChildren(QLabel):
        assert "\u202e" not in label.text()


def test_delete_removes_the_selected_and_undo_brings_them_back_as_they_were(
    qtbot: QtBot,
    panel: ModelsPanel,
    workspace: Workspace,
    make_model: MakeModel,
    settle: Settle,
) -> None:
    paths = [str(make_model(f"m{number}.onnx", layers=number + 1)) for number in range(5)]
    workspace.open_paths(paths)
    settle(workspace)
    view = list_of(panel)
    selection = view.selectionModel()
    selection.clearSelection()
    for row in (0, 1, 3):
        flags = QItemSelectionModel.SelectionFlag.Select
        selection.select(view.model().index(row, 0), flags)
    view.setFocus()
    models = [entry.model for entry in workspace.shelf.entries]
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    assert shown(panel) == ["m2.onnx", "m4.onnx"]
    assert workspace.undo_stack.undoText() == "Remove 3 models"
    workspace.undo_stack.undo()
    assert shown(panel) == [f"m{number}.onnx" for number in range(5)]
    assert [entry.model for entry in workspace.shelf.entries] == models
    assert workspace.shelf.pending_count == 0  # nothing is read again
    workspace.undo_stack.redo()
    assert shown(panel) == ["m2.onnx", "m4.onnx"]


def test_the_cross_of_a_row_removes_it(
    qtbot: QtBot,
    panel: ModelsPanel,
    workspace: Workspace,
    make_model: MakeModel,
    settle: Settle,
) -> None:
    workspace.open_paths([str(make_model("a.onnx")), str(make_model("b.onnx"))])
    settle(workspace)
    view = list_of(panel)
    rect = view.visualRect(view.model().index(1, 0))
    position = QPoint(rect.right() - 14, rect.center().y())
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert shown(panel) == ["a.onnx"]


def test_cancel_takes_a_file_that_is_being_read_off_the_list(
    panel: ModelsPanel, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.shelf.add([str(make_model("a.onnx")), str(make_model("b.onnx"))])
    assert shown(panel, ModelRole.STATE) == [ModelState.WAITING] * 2
    assert button(panel, "Cancel").isVisible()
    button(panel, "Cancel").click()
    assert len(shown(panel)) == 1
    settle(workspace)
    assert len(shown(panel)) == 1
    assert shown(panel, ModelRole.STATE) == [ModelState.READY]


def test_reading_again_can_be_cancelled_and_keeps_the_old_result(
    panel: ModelsPanel, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model(batch="batch"))])
    settle(workspace)
    old = workspace.shelf.entries[0].model
    workspace.shelf.bind(0, "batch", 64)
    workspace.shelf.cancel(0)
    settle(workspace)
    entry = workspace.shelf.entries[0]
    assert entry.model is old
    assert entry.state is ModelState.READY
    assert panel.details.dimensions.box("batch").value() == 1


def test_a_newer_dimension_supersedes_the_reading_under_way(
    workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model(batch="batch"))])
    settle(workspace)
    read: list[int] = []
    workspace.shelf.read.connect(lambda entry: read.append(entry.model.inputs[0].shape[0]))
    for value in (2, 3, 4):
        workspace.shelf.bind(0, "batch", value)
    settle(workspace)
    assert read == [4]


def test_a_file_that_is_dropped_again_is_read_again_in_its_row(
    panel: ModelsPanel, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    path = make_model("same.onnx", layers=1)
    workspace.open_paths([str(path)])
    settle(workspace)
    make_model("same.onnx", layers=3)
    workspace.open_paths([str(path)])
    settle(workspace)
    assert shown(panel, ModelRole.FACTS) == ["256 params · 768 MACs · 3 ops"]


def test_models_of_one_name_are_told_apart_by_their_folders(
    workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model("a/model.onnx")), str(make_model("b/model.onnx"))])
    settle(workspace)
    assert list(workspace.shelf.labels().values()) == ["a/model.onnx", "b/model.onnx"]


def test_selected_models_are_copied_with_their_facts(
    qtbot: QtBot,
    panel: ModelsPanel,
    workspace: Workspace,
    make_model: MakeModel,
    settle: Settle,
) -> None:
    workspace.open_paths([str(make_model())])
    settle(workspace)
    view = list_of(panel)
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert copied == "chain.onnx\t256 params · 512 MACs · 2 ops"


def test_the_current_row_stays_in_view_where_the_details_take_room(
    panel: ModelsPanel, workspace: Workspace, tmp_path: Path
) -> None:
    workspace.shelf.add([str(tmp_path / f"{number}.onnx") for number in range(12)])
    view = list_of(panel)
    QApplication.processEvents()
    panel.set_current_row(view.indexAt(QPoint(9, view.viewport().height() - 9)).row())
    view.resize(view.width(), view.height() - 60)
    assert view.visualRect(view.currentIndex()).bottom() < view.viewport().height()
    view.verticalScrollBar().setValue(0)
    panel.set_current_row(11)
    view.verticalScrollBar().setValue(0)  # the user looks elsewhere
    view.resize(view.width(), view.height() - 20)
    assert view.verticalScrollBar().value() == 0
