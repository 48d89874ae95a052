"""The Timeline view under real clicks, wheels and keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from ctm_gui.timeline.view import TimelineView
from ctm_gui.widgets.theme import LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from predictor.core.units import LatencyUnit
from tests.support.explained import explained_pair

# Operators of 1, 2, 3, 0, 5, 6, 7 and 0 ms.
TOTAL_MS = 24.0
OPERATORS = 1  # row


@pytest.fixture
def view(qtbot, qapp, options) -> Iterator[TimelineView]:
    apply_theme(qapp, LIGHT)
    view = TimelineView(options)
    view.resize(1100, 640)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.show_explained(explained_pair())
    qapp.processEvents()
    yield view
    view.close()
    view.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def place_of(view: TimelineView, time_ms: float, row: int) -> QPoint:
    y = view._strip.rows[row].top_px + 5
    plot = view.plot
    return plot.canvas.mapFromScene(plot.box.mapViewToScene(QPointF(time_ms, y)))


def click(view: TimelineView, time_ms: float, row: int) -> None:
    place = place_of(view, time_ms, row)
    QTest.mouseClick(view.plot.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)


def turn_wheel(view: TimelineView, time_ms: float, steps: int) -> None:
    viewport = view.plot.canvas.viewport()
    place = QPointF(place_of(view, time_ms, OPERATORS))
    event = QWheelEvent(
        place,
        QPointF(viewport.mapToGlobal(place.toPoint())),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QGuiApplication.sendEvent(viewport, event)


def test_the_whole_time_is_shown_first(view):
    assert view.plot.view_ms == pytest.approx((0.0, TOTAL_MS))
    assert view.summary.text().startswith("6 operators in 24 ms")


def test_rows_use_the_height_and_a_click_finds_the_lowest(qtbot, view):
    before = view._strip.rows[OPERATORS].height_px
    view.resize(1100, 400)
    qtbot.waitUntil(lambda: view._strip.rows[OPERATORS].height_px < before)
    assert view.plot.box.rect().height() == pytest.approx(view.plot.box.viewRange()[1][1])
    memory = len(view._strip.rows) - 1
    with qtbot.waitSignal(view.operators_selected) as chosen:
        click(view, 2.0, memory)
    assert chosen.args[1] == 1
    view.resize(1100, 900)
    # 640 pixels hold the most that they grow to.
    qtbot.waitUntil(lambda: view._strip.rows[OPERATORS].height_px == before)


def test_a_click_selects_an_operator_and_one_on_a_module_all_of_its(qtbot, view):
    with qtbot.waitSignal(view.operators_selected) as chosen:
        click(view, 8.0, OPERATORS)
    assert (chosen.args[0].tolist(), chosen.args[1]) == ([4], 4)
    with qtbot.waitSignal(view.operators_selected) as chosen:
        click(view, 8.0, 0)
    assert (chosen.args[0].tolist(), chosen.args[1]) == ([4, 5], 4)


def test_keys_step_zoom_and_come_back(view):
    asked: list[int] = []
    view.operators_selected.connect(lambda _, current: asked.append(current))
    view.plot.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_End, Qt.Key.Key_Left):
        QTest.keyClick(view.plot, key)
    assert asked == [0, 1, 6, 5]
    QTest.keyClick(view.plot, Qt.Key.Key_Plus)
    left, right = view.plot.view_ms
    assert right - left == pytest.approx(TOTAL_MS / 1.5)
    QTest.keyClick(view.plot, Qt.Key.Key_Escape)
    assert view.plot.view_ms == pytest.approx((0.0, TOTAL_MS))


def test_the_wheel_zooms_about_the_pointer_and_never_beyond_the_ends(view):
    turn_wheel(view, 8.0, 3)
    left, right = view.plot.view_ms
    assert right - left < TOTAL_MS
    assert left < 8.0 < right
    turn_wheel(view, 8.0, -30)
    assert view.plot.view_ms == pytest.approx((0.0, TOTAL_MS), abs=1e-9)


def test_an_operator_selected_elsewhere_comes_into_view(view):
    view.plot.zoom(8.0)
    view.select_operators(np.array([0]), 0)
    left, right = view.plot.view_ms
    assert left <= 0.0
    assert right >= 1.0
    view.select_operators(np.array([6]), 6)
    left, right = view.plot.view_ms
    assert left <= 17.1 <= right


def test_hovering_tells_operator_and_module(view):
    assert view.plot._tooltip(place_of(view, 8.0, OPERATORS)).startswith("/block2/op_4\n")
    assert view.plot._tooltip(place_of(view, 8.0, 0)).startswith("block2\n")


def test_the_axis_has_the_unit_of_the_window(view, options):
    options.set_unit(LatencyUnit.US)
    assert "µs" in view.summary.text()
    assert "µs" in view.plot._time_axis.labelText
    options.set_unit(LatencyUnit.FPS)
    assert "24 ms" in view.summary.text()


def test_a_trace_is_asked_for_by_its_button(qtbot, view, monkeypatch, tmp_path: Path):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "net"), "JSON"))
    with qtbot.waitSignal(view.trace_requested) as asked:
        view.trace_button.click()
    assert asked.args == [tmp_path / "net.json"]
    view.show_explained(None)
    assert not view.trace_button.isEnabled()
    assert not view.ask_for_trace()


def test_zoomed_into_nothing_and_shown_again(view, qapp):
    for _ in range(40):
        view.plot.zoom(4.0)
    qapp.processEvents()
    left, right = view.plot.view_ms
    assert 0 <= left < right
    view.show_explained(explained_pair(3))
    assert view.plot.view_ms == pytest.approx((0.0, 6.0))


def test_the_strip_is_saved(view, tmp_path: Path):
    view.save(tmp_path / "strip.svg")
    assert b"op_4" in (tmp_path / "strip.svg").read_bytes()
