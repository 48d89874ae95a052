"""This machine in the window: measured before its first prediction, with progress and Cancel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton
from pytestqt.qtbot import QtBot

from ctm_gui.devices.this_machine import MEASURING
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.prediction import Prediction
from predictor.core.records import SustainedRates
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.devices.schema import DeviceFile
from predictor.services.devices.this_machine import MachineRates, describe_this_machine, lacks_rates
from tests.support.heartbeat import LIMIT_MS, Heartbeat

WAIT_MS = 30_000


@pytest.fixture
def rated(store: Path) -> MachineRates:
    """Rates of this machine from an earlier run."""
    kept = MachineRates(store)
    kept.keep(describe_this_machine(), SustainedRates(20.0, 0.1, "2026-01-31"))
    return kept


@pytest.fixture
def begun(
    qtbot: QtBot,
    window: MainWindow,
    workspace: Workspace,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
) -> MainWindow:
    """A window with a model, and this machine in its store as it was detected once."""
    workspace.open_paths([str(make_model())])
    settle(workspace)
    with qtbot.waitSignal(workspace.library.made, timeout=WAIT_MS):
        workspace.library.add(DeviceFile(describe_this_machine()))
    settle(workspace)
    return window


def cancel_button(window: MainWindow) -> QPushButton:
    buttons = window.statusBar().findChildren(QPushButton)
    return next(b for b in buttons if b.accessibleName() == "Stop reading or measuring")


def of_this_machine(workspace: Workspace) -> list[Prediction]:
    rows = (row.prediction for row in workspace.comparison.rows)
    return [prediction for prediction in rows if prediction.device_id == THIS_MACHINE_ID]


def tick(workspace: Workspace, *, selected: bool = True) -> None:
    workspace.selection.select([THIS_MACHINE_ID], selected=selected)


def bar(window: MainWindow) -> QProgressBar:
    bars = window.statusBar().findChildren(QProgressBar)
    return next(b for b in bars if b.accessibleName() == "Progress")


@pytest.mark.timing
def test_the_first_prediction_measures_and_the_window_never_stalls(
    qtbot: QtBot,
    begun: MainWindow,
    workspace: Workspace,
    settle: Callable[[Workspace], None],
    store: Path,
) -> None:
    heart = Heartbeat()
    shown: list[Prediction] = []
    workspace.comparison_changed.connect(lambda: shown.extend(of_this_machine(workspace)))
    others = len(workspace.comparison.rows)
    heart.start()
    tick(workspace)
    qtbot.waitUntil(lambda: workspace.machine.state == MEASURING, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: bar(begun).isVisible() and cancel_button(begun).isVisible())
    assert len(workspace.comparison.rows) == others, "the others stay, this machine waits"
    settle(workspace)
    stall_ms = heart.stop()

    (prediction,) = of_this_machine(workspace)
    assert prediction.latency_ms
    assert not lacks_rates(workspace.library.by_id()[THIS_MACHINE_ID])
    assert MachineRates(store).of(describe_this_machine()) is not None
    qtbot.waitUntil(lambda: not cancel_button(begun).isVisible())
    assert shown == [prediction], "no number without rates came before"
    assert stall_ms < LIMIT_MS


def test_cancel_predicts_without_and_nothing_asks_again(
    qtbot: QtBot,
    begun: MainWindow,
    workspace: Workspace,
    settle: Callable[[Workspace], None],
    store: Path,
) -> None:
    workspace.selection.select(workspace.selection.selected_ids, selected=False)
    tick(workspace)
    qtbot.waitUntil(lambda: cancel_button(begun).isVisible(), timeout=WAIT_MS)
    texts = begun.central.compare_view.findChildren(QLabel)
    qtbot.waitUntil(lambda: MEASURING in [t.text() for t in texts if t.isVisible()])
    qtbot.mouseClick(cancel_button(begun), Qt.MouseButton.LeftButton)
    settle(workspace)
    (prediction,) = of_this_machine(workspace)
    assert workspace.messages.messages[-1].text == (
        "Measuring was cancelled; this machine is predicted from its hardware alone"
    )
    tick(workspace, selected=False)
    settle(workspace)
    tick(workspace)
    qtbot.waitUntil(lambda: bool(of_this_machine(workspace)), timeout=WAIT_MS)
    assert of_this_machine(workspace) == [prediction]
    workspace.machine.close()  # returns once the child process has ended
    assert MachineRates(store).of(describe_this_machine()) is None


def test_kept_rates_are_used_without_a_measurement(
    qtbot: QtBot,
    rated: MachineRates,
    begun: MainWindow,
    workspace: Workspace,
    settle: Callable[[Workspace], None],
) -> None:
    states: list[str] = []
    workspace.machine.changed.connect(lambda: states.append(workspace.machine.state))
    tick(workspace)
    settle(workspace)
    device = workspace.library.by_id()[THIS_MACHINE_ID]
    assert device.metric("dram_bw_gbps") == 20.0
    assert set(states) == {""}
    assert len(of_this_machine(workspace)) == 1


def test_a_device_of_other_hardware_stays_as_it_is(
    qtbot: QtBot,
    rated: MachineRates,
    begun: MainWindow,
    workspace: Workspace,
    settle: Callable[[Workspace], None],
) -> None:
    library = workspace.library
    key = library.key_of(THIS_MACHINE_ID)
    entry = library.entry(key)
    assert entry is not None
    device = entry.device
    metrics = {**device.metrics, "core_count": 1000.0}
    library.save(key, replace(entry.file, device=replace(device, metrics=metrics)))
    qtbot.waitUntil(lambda: library.by_id()[THIS_MACHINE_ID].metric("core_count") == 1000)
    tick(workspace)
    qtbot.waitUntil(lambda: bool(of_this_machine(workspace)), timeout=WAIT_MS)
    settle(workspace)
    assert "dram_bw_gbps" not in library.by_id()[THIS_MACHINE_ID].metrics


def test_detecting_uses_kept_rates(
    qtbot: QtBot,
    rated: MachineRates,
    window: MainWindow,
    workspace: Workspace,
    settle: Callable[[Workspace], None],
) -> None:
    with qtbot.waitSignal(workspace.library.made, timeout=WAIT_MS):
        workspace.machine.detect()
    settle(workspace)
    device = workspace.library.by_id()[THIS_MACHINE_ID]
    assert device.measured.keys() == {"dram_bw_gbps", "fp32_tflops"}
    assert device.sources["fp32_tflops"].startswith("measured on this machine, 2026-01-31")
