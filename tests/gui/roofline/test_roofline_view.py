"""The Roofline view under real clicks and keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from ctm_gui.roofline.view import RooflineView
from ctm_gui.widgets.theme import DARK, LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from predictor.core.errors import HostError
from tests.support.explained import explained_pair


@pytest.fixture
def view(qtbot, qapp, options) -> Iterator[RooflineView]:
    apply_theme(qapp, LIGHT)
    view = RooflineView(options)
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


def place_of(view: RooflineView, operator: int) -> QPointF:
    """Return the pixel of the canvas on which an operator stands."""
    plot = view.plot
    x, y = plot.points_px()[operator]
    return QPointF(plot.canvas.mapFromScene(plot._box.mapToScene(QPointF(x, y))))


def test_a_click_on_a_point_selects_its_operator(qtbot, view):
    with qtbot.waitSignal(view.operators_selected) as chosen:
        QTest.mouseClick(
            view.plot.canvas.viewport(),
            Qt.MouseButton.LeftButton,
            pos=place_of(view, 6).toPoint(),
        )
    operators, current = chosen.args
    assert operators.tolist() == [6]
    assert current == 6


def test_hovering_tells_the_operator_or_the_roof(view):
    assert view.plot.tooltip_at(place_of(view, 6)).startswith("/block3/op_6\n")
    peak = next(line for line in view.plot._points.lines if line.label.startswith("FP32"))
    middle = view.plot.line_px(peak).pointAt(0.5)
    place = QPointF(view.plot.canvas.mapFromScene(view.plot._box.mapToScene(middle)))
    assert view.plot.tooltip_at(place) == "FP32 peak 1 TFLOP/s, stated\nthe maker"
    assert view.plot.tooltip_at(QPointF(1, 1)) == ""


def test_keys_step_through_the_operators_that_are_placed(view):
    asked: list[int] = []
    view.operators_selected.connect(lambda _, current: asked.append(current))
    view.plot.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_End, Qt.Key.Key_Left, Qt.Key.Key_Home):
        QTest.keyClick(view.plot, key)
    assert asked == [0, 6, 5, 0]


def test_other_targets_are_shown_and_left_out(view):
    assert view.compare_box.text() == "&1 other target"
    with_others = view.plot.canvas.grab().toImage()
    view.compare_box.click()
    assert view.plot.canvas.grab().toImage() != with_others
    assert {line.target for line in view.plot._points.lines} == {0}
    view.show_explained(explained_pair(others=False))
    assert not view.compare_box.isVisible()


def test_a_selected_operator_has_a_ring(view, qapp):
    before = view.plot.canvas.grab().toImage()
    view.select_operators(np.array([0]), 0)
    qapp.processEvents()
    assert view.plot.canvas.grab().toImage() != before


def test_what_cannot_be_shown_is_said(view):
    view.show_explained(None, "no rate is known")
    assert view._stack.message.text() == "no rate is known"
    assert not view.save_button.isEnabled()
    view.show_explained(replace(explained_pair(), roofline=None))
    assert "add them to the device" in view._stack.message.text()


def test_many_points_come_in_turns_and_are_all_there(qtbot, view, monkeypatch):
    at_once = view.plot.canvas.grab().toImage()
    monkeypatch.setattr("ctm_gui.roofline.points_plot._AT_ONCE", 1)
    monkeypatch.setattr("ctm_gui.roofline.points_plot._A_TURN", 2)
    view.show_explained(explained_pair())
    assert view.plot.canvas.grab().toImage() != at_once
    qtbot.waitUntil(lambda: not view.findChildren(QTimer, "turns"))
    assert view.plot.canvas.grab().toImage() == at_once


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_what_binds_is_told_by_shape_too(view, options, theme):
    options.set_theme(theme)
    corners = []
    for bound in range(3):
        image = view.plot.picture.stamp(bound, 22.0).toImage()
        middle, corner = image.width() // 2, round(image.width() / 2 - 9 * image.devicePixelRatio())
        corners.append((image.pixelColor(middle, middle), image.pixelColor(corner, corner)))
    (round_middle, round_corner), (_, square_corner), (ring_middle, _) = corners
    assert round_middle != ring_middle
    assert round_corner.alpha() < 100
    assert square_corner.alpha() > 200


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_plot_is_saved(view, tmp_path: Path, ending: str):
    path = tmp_path / f"roofline.{ending}"
    view.plot.save(path)
    content = path.read_bytes()
    if ending == "svg":
        # Points stay shapes: no picture of them is in the file.
        assert b"<svg" in content
        assert b"<image" not in content
    else:
        assert QImage.fromData(content).width() > 1000
    with pytest.raises(HostError, match="could not be written"):
        view.plot.save(path / f"roofline.{ending}")  # a file in the way of a folder
