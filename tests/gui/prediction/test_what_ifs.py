"""Every change predicts again, the last one wins, and what is shown is stored once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from ctm_gui.models.shelf import ModelState
from ctm_gui.targets.what_if_dialog import WhatIfDialog
from ctm_gui.targets.what_if_strip import WhatIfStrip
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.records import Precision
from predictor.services.history.history import open_history
from tests.support.what_ifs import ask_what_if

MakeModel = Callable[..., Path]
Settle = Callable[[Workspace], None]


def latencies(workspace: Workspace) -> list[float | None]:
    return [row.prediction.latency_ms for row in workspace.comparison.rows]


def test_a_precision_whose_name_says_little_is_explained_where_it_is_chosen(
    qtbot: QtBot, workspace: Workspace
) -> None:
    dialog = WhatIfDialog(workspace.selection, workspace.selection.devices[0])
    qtbot.addWidget(dialog)
    box = dialog.precision
    tips = {
        box.itemText(place): box.itemData(place, Qt.ItemDataRole.ToolTipRole)
        for place in range(box.count())
    }
    assert tips["AMP BF16"].startswith("AMP BF16 (automatic mixed precision) ")
    assert not tips["FP16"]


def test_a_what_if_is_of_one_target_and_a_banner_says_so_until_it_is_reset(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model(batch="batch"))])
    settle(workspace)
    usual = [row.prediction.configuration for row in workspace.comparison.rows]
    device = workspace.selection.selected[1]
    dialog = WhatIfDialog(workspace.selection, device, window)
    dialog.show()
    dialog.precision.setCurrentText("INT8")
    dialog.batch.setValue(16)
    dialog.close()
    settle(workspace)
    now = [row.prediction.configuration for row in workspace.comparison.rows]
    assert (now[1].precision, now[1].batch) == (Precision.INT8, 16)
    assert [now[0], now[2]] == [usual[0], usual[2]]
    banner = window.places.findChild(WhatIfStrip)
    assert isinstance(banner, WhatIfStrip)
    assert banner.isVisible()
    assert banner.words.text().startswith(f"What if: {device.name} with INT8, batch 16.")
    banner.reset.click()
    settle(workspace)
    assert [row.prediction.configuration for row in workspace.comparison.rows] == usual
    assert not banner.isVisible()


def test_a_larger_batch_takes_longer(
    window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model(layers=3, batch="batch"))])
    settle(workspace)
    before = latencies(workspace)
    ask_what_if(workspace, batch=4096)
    settle(workspace)
    for one, many in zip(before, latencies(workspace), strict=True):
        assert one is not None
        assert many is not None
        assert many > one


def test_a_batch_that_a_node_pins_is_an_error_of_its_row_alone(
    window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths(
        [str(make_model("free.onnx", batch="n")), str(make_model("pinned.onnx", pinned=True))]
    )
    settle(workspace)
    assert None not in latencies(workspace)
    ask_what_if(workspace, batch=8)
    settle(workspace)
    free, pinned = workspace.shelf.entries
    assert free.state is ModelState.READY
    assert pinned.state is ModelState.READY
    assert "pinned_squeeze" in str(pinned.batches[8])
    rows = {row.model_label: row.prediction for row in workspace.comparison.rows}
    assert rows["free.onnx"].latency_ms is not None
    assert rows["pinned.onnx"].latency_ms is None
    assert rows["pinned.onnx"].problem.endswith("with a dynamic batch dimension")
    ask_what_if(workspace)
    settle(workspace)
    assert None not in latencies(workspace)


def test_the_last_of_many_changes_wins(
    window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    workspace.open_paths([str(make_model())])
    settle(workspace)
    runs: list[int] = []
    workspace.comparison_changed.connect(lambda: runs.append(len(workspace.comparison.rows)))
    ids = [device.id for device in workspace.selection.devices]
    for count in range(4, 40):
        workspace.selection.select(ids[:count], selected=True)
    settle(workspace)
    assert runs == [39]  # a burst is one run
    workspace.selection.select(ids, selected=False)
    settle(workspace)
    assert runs == [39, 0]


def test_predictions_are_stored_once(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle,
    tmp_path: Path,
) -> None:  # fmt: skip
    with qtbot.waitSignal(workspace.recorder.recorded):
        workspace.open_paths([str(make_model())])
    settle(workspace)
    ask_what_if(workspace, threads=1)
    settle(workspace)
    ask_what_if(workspace)
    settle(workspace)
    seen = {
        (row.prediction.device_id, row.prediction.configuration)
        for row in workspace.comparison.rows
    }
    workspace.close()
    with open_history(tmp_path / "store" / "store.db") as history:
        stored = history.past.read(100).predictions
    keys = Counter((s.prediction.device_id, s.prediction.configuration) for s in stored)
    assert seen <= set(keys)
    assert set(keys.values()) == {1}


def test_a_store_that_cannot_be_opened_is_said_once_and_the_window_works(
    qtbot: QtBot, workspace: Workspace, make_model: MakeModel, settle: Settle, tmp_path: Path
) -> None:
    broken = tmp_path / "no-store.db"
    broken.mkdir()
    other = Workspace(
        workspace.selection.catalogue,
        workspace.selection.selected_ids,
        workspace.ingestion,
        lambda: open_history(broken),
    )
    with qtbot.waitSignal(other.recorder.failed):
        other.start()
    other.open_paths([str(make_model())])
    settle(other)
    ask_what_if(other, threads=1)
    settle(other)
    assert None not in latencies(other)
    assert other.messages.error_count == 1
    assert "no-store.db" in other.messages.messages[0].text
    other.close()
