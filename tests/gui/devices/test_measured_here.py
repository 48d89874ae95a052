"""I Measured This Model Here: a typed latency corrects the model's predictions on like targets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot

from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.prediction import Prediction
from predictor.core.records import Basis
from tests.support.what_ifs import ask_what_if

MakeModel = Callable[..., Path]
Settle = Callable[[Workspace], None]
WAIT_MS = 20_000


def shown(workspace: Workspace, device: str) -> Prediction:
    (row,) = (r for r in workspace.comparison.rows if r.prediction.device_id == device)
    return row.prediction


def record(qtbot: QtBot, window: MainWindow, row: int, value_ms: float) -> None:
    table = window.central.compare_view.table
    table.select_rows([row], row)
    menu = table.copy_menu()
    (action,) = [a for a in menu.actions() if a.text() == "I Measured This Model Here…"]
    with qtbot.waitSignal(window.workspace.history.truth_requested, timeout=WAIT_MS):
        action.trigger()
    menu.close()
    dialog = window.central.history_view.truth_dialog
    dialog.value_box.setText(str(value_ms))
    dialog.accept()


def test_a_recorded_latency_corrects_another_configuration_and_stays(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> None:
    ask_what_if(workspace, threads=4)
    window.open_paths([str(make_model("net.onnx"))])
    settle(workspace)
    workspace.selection.select(["rpi4"], selected=True)
    settle(workspace)
    plain = shown(workspace, "rpi4")
    others = {r.prediction.device_id: r.prediction for r in workspace.comparison.rows}
    ask_what_if(workspace, threads=1)
    settle(workspace)
    before = shown(workspace, "rpi4")
    assert before.latency_ms is not None
    place = [r.prediction.device_id for r in workspace.comparison.rows].index("rpi4")
    record(qtbot, window, place, before.latency_ms * 2)
    qtbot.waitUntil(lambda: shown(workspace, "rpi4").basis is Basis.MEASURED, timeout=WAIT_MS)

    ask_what_if(workspace, threads=4)
    settle(workspace)
    qtbot.waitUntil(lambda: bool(shown(workspace, "rpi4").scaled_from), timeout=WAIT_MS)
    moved = shown(workspace, "rpi4")

    assert plain.latency_ms is not None
    assert moved.latency_ms is not None
    assert moved.latency_ms > plain.latency_ms
    assert moved.evidence.startswith("scaled from ")
    csv = window.central.compare_view.table.grid_model.grid.as_csv
    assert "scaled from what you measured of it elsewhere" in csv([place])
    for device, other in others.items():
        if not shown(workspace, device).scaled_from:
            assert shown(workspace, device).latency_ms == other.latency_ms
    # Its operators sum to it.
    window.central.explanation.choose_device("rpi4")
    window.show_page("operators")
    qtbot.waitUntil(lambda: window.central.explanation.settled, timeout=WAIT_MS)
    table = window.central.explanation.table
    assert table is not None
    assert abs(float(table.latency_ms.sum()) / moved.latency_ms - 1) < 1e-6
    # Undo leaves it out again, for other configurations too.
    workspace.library_stack.undo()
    qtbot.waitUntil(lambda: not shown(workspace, "rpi4").scaled_from, timeout=WAIT_MS)
