"""The Clocks tab in the real window: modes, sliders, the map and its contour."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from ctm_gui.clocks.plane import Plane, contour
from ctm_gui.clocks.view import ClocksView
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.units import LatencyUnit

MakeModel = Callable[..., Path]
Settle = Callable[[Workspace], None]
BOARD = "jetson-tx2-gpu"


@pytest.fixture
def view(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle
) -> ClocksView:
    workspace.selection.select([BOARD], selected=True)
    workspace.open_paths([str(make_model(layers=6))])
    settle(workspace)
    window.central.explanation.choose_device(BOARD)
    window.show_page("clocks")
    settled(qtbot, window)
    return window.central.clocks_view


def settled(qtbot: QtBot, window: MainWindow) -> Plane:
    presenter = window.central.clocks
    qtbot.waitUntil(lambda: presenter.settled and presenter.plane is not None)
    assert presenter.plane is not None
    return presenter.plane


def test_the_default_clocks_show_the_prediction(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, view: ClocksView
) -> None:
    plane = settled(qtbot, window)
    rows = {row.prediction.device_id: row.prediction for row in workspace.comparison.rows}
    assert plane.clocked.prediction == rows[BOARD]
    assert (plane.across, plane.up) == ("gpu", "mem")
    assert re.fullmatch(r"[\d.]+ ms, 80 % interval [\d.]+ – [\d.]+ ms", view.summary.text())
    assert view.mode_box.currentText() == "Default clocks"
    assert view.mode_box.itemText(2) == "Max-Q"


def test_a_mode_moves_sliders_and_latency(
    qtbot: QtBot, window: MainWindow, view: ClocksView
) -> None:
    before = settled(qtbot, window).clocked.prediction.latency_ms
    view.mode_box.activated.emit(2)
    plane = settled(qtbot, window)
    assert view.sliders["gpu"].value() == 850
    assert view.mode_box.currentText() == "Max-Q"
    assert before is not None
    assert plane.clocked.factor > 1
    assert "mJ a run" in view.details.text()


def test_a_slider_leaves_the_mode(qtbot: QtBot, window: MainWindow, view: ClocksView) -> None:
    view.mode_box.activated.emit(2)
    settled(qtbot, window)
    QTest.keyClick(view.sliders["mem"], Qt.Key.Key_Home)
    plane = settled(qtbot, window)
    assert plane.clocked.clocks.mem == view.sliders["mem"].minimum()
    assert plane.clocked.energy is None
    assert view.mode_box.currentText() == "Clocks as set below"
    view.mode_box.activated.emit(0)
    assert view.mode_box.currentText() == "Default clocks"
    assert settled(qtbot, window).clocked.factor == 1.0


def test_a_click_into_the_map_chooses_both_clocks(
    qtbot: QtBot, window: MainWindow, view: ClocksView
) -> None:
    canvas = view.plot.canvas
    place = canvas.mapFromScene(canvas.getViewBox().mapViewToScene(QPointF(700.0, 1500.0)))
    QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    clocks = settled(qtbot, window).clocked.clocks
    assert clocks.gpu == pytest.approx(700, abs=6)
    assert clocks.mem == pytest.approx(1500, abs=12)
    assert "GPU" in view.plot.tooltip_at(QPointF(place))


def test_a_device_without_clocks_says_so(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, view: ClocksView, settle: Settle
) -> None:
    workspace.selection.select(["hailo-8"], selected=True)
    settle(workspace)
    window.central.explanation.choose_device("hailo-8")
    qtbot.waitUntil(lambda: window.central.clocks.plane is None)
    qtbot.waitUntil(lambda: bool(view._stack.message.text()))
    assert view._stack.currentWidget() is view._stack.message
    assert not view.sliders["gpu"].isVisible()


def test_the_contour_lies_where_the_latency_is_the_level(
    qtbot: QtBot, window: MainWindow, view: ClocksView
) -> None:
    plane = settled(qtbot, window)
    level = float(np.sqrt(plane.latency_ms.min() * plane.latency_ms.max()))
    lines = contour(plane, level)
    assert lines
    step = plane.columns[1] - plane.columns[0]
    for x, y, *_ in lines:
        row = int(np.abs(plane.rows - y).argmin())
        near = np.abs(plane.columns - x) <= step
        values = plane.latency_ms[max(row - 1, 0) : row + 2][:, near]
        assert values.min() <= level <= values.max()
    assert contour(plane, plane.latency_ms.max() * 2) == []


def test_the_latency_over_an_only_clock_is_a_curve(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, view: ClocksView, settle: Settle
) -> None:
    workspace.selection.select(["core-i7-1185g7"], selected=True)
    settle(workspace)
    window.central.explanation.choose_device("core-i7-1185g7")
    qtbot.waitUntil(lambda: settled(qtbot, window).across == "cpu")
    plane = settled(qtbot, window)
    assert plane.up == ""
    slowest = float(plane.latency_ms.max())
    box = view.plot.canvas.getViewBox()
    assert box.viewRange()[1] == pytest.approx([0.0, 1.05 * slowest])
    assert view.plot.canvas.getAxis("left").labelText == "Latency (ms)"
    window.options.set_unit(LatencyUnit.FPS)
    assert box.viewRange()[1] == pytest.approx([0.0, 1.05e3 / plane.latency_ms.min()])
    assert view.plot.canvas.getAxis("left").labelText == "Frames per second"
    # At any height of the plot: the clock alone is chosen.
    canvas = view.plot.canvas
    middle = QPointF(float(plane.columns[12]), box.viewRange()[1][1] / 2)
    place = canvas.mapFromScene(box.mapViewToScene(middle))
    QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)
    chosen = settled(qtbot, window).clocked.clocks.cpu
    assert chosen == pytest.approx(plane.columns[12], abs=12)
