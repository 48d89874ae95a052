"""The Graph view under real clicks and keys, over a real child process."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from ctm_gui.graph import presenter
from ctm_gui.graph.boxes_plot import Colouring
from ctm_gui.graph.facts import NodeFacts
from ctm_gui.graph.presenter import MAX_BOXES, GraphPresenter
from ctm_gui.graph.view import GraphView
from ctm_gui.prediction.explanation import Explained
from ctm_gui.tasks.serial import SerialWorker
from ctm_gui.widgets.theme import DARK, LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from predictor.core.errors import HostError
from predictor.services.graph.layout import lay_out
from predictor.services.graph.placement import visible_box_count
from predictor.services.prediction.explain import OperatorTable
from tests.support.explained import explained_pair
from tests.support.pictured_graphs import chain_of, network, table_with

Show = Callable[[OperatorTable], GraphView]
KILLED = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
ENDED = [sys.executable, "-c", ""]


def pair_of(table: OperatorTable) -> Explained:
    return replace(explained_pair(2), table=table)


@pytest.fixture
def make_view(qtbot, qapp, options) -> Iterator[Callable[..., GraphView]]:
    made: list[tuple[GraphView, SerialWorker]] = []

    def make(command: Sequence[str] | None = None) -> GraphView:
        apply_theme(qapp, LIGHT)
        worker = SerialWorker("layouter")
        view = GraphView(options, GraphPresenter(worker, command=command))
        made.append((view, worker))
        view.resize(1100, 640)
        with qtbot.waitActive(view):
            view.show()
            view.activateWindow()
        return view

    yield make
    for view, worker in made:
        worker.close()
        view.close()
        view.presenter.deleteLater()
        view.deleteLater()
        worker.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def show(qtbot, make_view) -> Show:
    def shown(table: OperatorTable) -> GraphView:
        view = make_view()
        view.show_explained(pair_of(table))
        settle(qtbot, view)
        return view

    return shown


def settle(qtbot, view: GraphView) -> None:
    qtbot.waitUntil(lambda: view.presenter.settled and bool(view.presenter.picture.nodes.size))


def facts_of(view: GraphView) -> NodeFacts:
    assert view.presenter.facts is not None
    return view.presenter.facts


def node_named(view: GraphView, label: str) -> int:
    return facts_of(view).tree.labels.index(label)


def middle_of(view: GraphView, node: int) -> QPoint:
    """Return the pixel of the canvas in the middle of a box, or of a frame's title."""
    box = view.presenter.picture.box_of(node)
    assert box is not None
    view.canvas.reveal(box)
    left, top, width, _ = view.presenter.picture.rects[box]
    return view.canvas.mapFromScene(left + width / 2, top + 10)


def click(view: GraphView, node: int) -> None:
    viewport = view.canvas.viewport()
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=middle_of(view, node))


def double_click(qtbot, view: GraphView, node: int) -> None:
    viewport = view.canvas.viewport()
    place = middle_of(view, node)
    QTest.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=place)
    settle(qtbot, view)


def press(qtbot, view: GraphView, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(view.canvas, key)
        settle(qtbot, view)


def closed_boxes(view: GraphView) -> int:
    return int((~view.presenter.picture.is_open).sum())


def test_before_a_model_it_says_what_to_do(make_view) -> None:
    view = make_view()
    assert view._stack.message.text().startswith("Drop a model")
    view.show_explained(None, "no number for <b>this</b>")
    assert view._stack.message.text() == "no number for <b>this</b>"
    assert not view.presenter.reveal(3)
    view.presenter.toggle(1)
    assert view.presenter.settled


def test_a_click_selects_the_operators_of_a_box(qtbot, show: Show) -> None:
    view = show(network())
    with qtbot.waitSignal(view.operators_selected) as chosen:
        click(view, node_named(view, "block1"))
    operators, slowest = chosen.args
    assert operators.tolist() == [8, 9, 10, 11, 12, 13]
    assert slowest == 13
    with qtbot.waitSignal(view.operators_selected) as chosen:
        click(view, 10)
    assert chosen.args[0].tolist() == [10]


def test_a_drag_moves_and_selects_nothing(qtbot, show: Show) -> None:
    view = show(network())
    start = middle_of(view, 10)
    bar = view.canvas.verticalScrollBar()
    before = bar.value()
    with qtbot.assertNotEmitted(view.operators_selected):
        viewport = view.canvas.viewport()
        QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
        for step in range(1, 6):
            QTest.mouseMove(viewport, start - QPoint(0, 20 * step))
        QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=start - QPoint(0, 100))
    assert bar.value() > before


def test_a_double_click_closes_and_opens_a_group_where_it_is(qtbot, show: Show) -> None:
    view = show(network())
    block = node_named(view, "block2")
    before, at = closed_boxes(view), middle_of(view, block)
    double_click(qtbot, view, block)
    assert closed_boxes(view) == before - 5
    box = view.presenter.picture.box_of(block)
    assert not view.presenter.picture.is_open[box]
    corner = view.canvas.place_of(box).toPoint()
    assert abs(corner.y() - (at.y() - 10)) < 30, "it stays under the pointer"
    double_click(qtbot, view, block)
    # Opened again it begins closed inside.
    assert closed_boxes(view) == before - 5 + 1


def test_keys_walk_along_edges_and_open_and_close(qtbot, show: Show) -> None:
    view = show(network())
    view.canvas.setFocus()
    down = Qt.Key.Key_Down
    press(qtbot, view, down, down, down)
    assert view._selected.tolist() == [2], "stem, its activation, the first block"
    press(qtbot, view, Qt.Key.Key_Up)
    assert view._selected.tolist() == [1]
    press(qtbot, view, down, Qt.Key.Key_Backspace)
    assert facts_of(view).tree.labels[view._current] == "a"
    assert view.presenter.picture.box_of(2) is None
    press(qtbot, view, Qt.Key.Key_Return)
    assert view.presenter.picture.box_of(2) is not None


def test_left_and_right_go_to_boxes_beside(qtbot, show: Show) -> None:
    names, types = ["a", "b", "c", "d"], ["Conv", "Relu", "Tanh", "Add"]
    view = show(table_with(names, types, [(0, 1), (0, 2), (1, 3), (2, 3)]))
    click(view, 1)
    keys = (Qt.Key.Key_Right, Qt.Key.Key_Left)
    reached = []
    for key in (*keys, *reversed(keys)):
        press(qtbot, view, key)
        reached.append(view._selected.tolist()[0])
    assert set(reached) == {1, 2}


def test_zooming_by_keys_and_buttons(qtbot, show: Show) -> None:
    view = show(network())
    scale = view.canvas.scale_now
    press(qtbot, view, Qt.Key.Key_Plus)
    assert view.canvas.scale_now == pytest.approx(1.25 * scale)
    view.wider_button.click()
    assert view.canvas.scale_now == pytest.approx(scale)
    press(qtbot, view, Qt.Key.Key_0)
    seen = view.canvas.mapToScene(view.canvas.viewport().rect()).boundingRect()
    assert seen.contains(view.canvas.sceneRect().adjusted(2, 2, -2, -2))
    assert not view.canvas.minimap.isVisible(), "all is in view"
    for _ in range(40):
        view.closer_button.click()
    assert view.canvas.scale_now == pytest.approx(3.0)


def test_the_map_moves_the_view(qtbot, show: Show) -> None:
    view = show(network())
    small = view.canvas.minimap
    qtbot.waitUntil(small.isVisible)
    before = view.canvas.verticalScrollBar().value()
    place = QPoint(small.width() // 2, small.height() - 8)
    QTest.mouseClick(small, Qt.MouseButton.LeftButton, pos=place)
    assert view.canvas.verticalScrollBar().value() > before + 200


def test_search_opens_the_groups_around_each_match(qtbot, show: Show) -> None:
    view = show(network())
    press(qtbot, view, Qt.Key.Key_Down)
    double_click(qtbot, view, node_named(view, "body"))
    assert closed_boxes(view) == 4
    view.focus_search()
    view.search_box.setText("maxpool block3")
    assert view.matches.text() == "1 match"
    with qtbot.waitSignal(view.operators_selected) as chosen:
        QTest.keyClick(view.search_box, Qt.Key.Key_Return)
    settle(qtbot, view)
    assert chosen.args[0].tolist() == [22]
    assert view.presenter.picture.box_of(22) is not None
    assert view.matches.text() == "1 of 1 match"
    view.search_box.setText("no such operator")
    assert view.matches.text() == "0 matches"
    view.search_box.clear()
    assert view.matches.text() == ""


def test_a_search_goes_on_in_the_next_model(qtbot, show: Show) -> None:
    view = show(network())
    view.search_box.setText("product_7")
    assert view.matches.text() == "0 matches"
    view.show_explained(pair_of(chain_of(50)))
    settle(qtbot, view)
    assert view.matches.text() == "1 match"


def test_what_is_selected_elsewhere_is_marked_where_it_is_seen(qtbot, show: Show) -> None:
    view = show(network())
    double_click(qtbot, view, node_named(view, "block0"))
    view.select_operators(np.array([3, 4, 20]), 4)
    marked = view.presenter.picture.nodes[view.canvas._item.selected].tolist()
    assert {node_named(view, "block0"), 20} <= set(marked)
    current = view.presenter.picture.nodes[view.canvas._item.current]
    assert current == node_named(view, "block0")


def test_a_selection_before_the_picture_is_kept_for_it(qtbot, make_view) -> None:
    view = make_view()
    view.show_explained(pair_of(network()))
    view.select_operators(np.array([26]), 26)
    settle(qtbot, view)
    assert view.presenter.picture.nodes[view.canvas._item.current] == 26


def test_other_times_keep_what_is_open(qtbot, show: Show) -> None:
    view = show(network())
    double_click(qtbot, view, node_named(view, "body"))
    boxes = closed_boxes(view)
    table = network()
    for factor in (2.0, 3.0):  # sums of the first are outdated before they are there
        view.show_explained(pair_of(table.scaled(factor)))
    assert facts_of(view).latency_ms[0] == pytest.approx(table.latency_ms[0])
    settle(qtbot, view)
    assert closed_boxes(view) == boxes
    assert facts_of(view).latency_ms[0] == pytest.approx(3 * table.latency_ms[0])


def test_never_more_boxes_than_are_drawn(qtbot, show: Show) -> None:
    view = show(chain_of(4000))
    presenter, tree = view.presenter, facts_of(view).tree
    for place in range(12):
        presenter.toggle(tree.members_of(tree.root)[place])
        for _ in range(2):
            settle(qtbot, view)
            boxes = np.flatnonzero(~presenter.picture.is_open)
            groups = [n for n in presenter.picture.nodes[boxes].tolist() if tree.is_group(n)]
            presenter.toggle(groups[place])
        settle(qtbot, view)
        assert closed_boxes(view) == visible_box_count(tree, presenter._opened.keys()) <= MAX_BOXES


def test_colours_follow_the_choice_and_the_theme(show: Show, options) -> None:
    view = show(network())
    fills = {look.fill.name() for look in view._painter()._looks}
    view.colour_box.setCurrentIndex(list(Colouring).index(Colouring.BOUND))
    view.colour_box.activated.emit(1)
    assert {look.fill.name() for look in view._painter()._looks} != fills
    assert view.legend.accessibleDescription().startswith("Boxes: bound")
    options.set_theme(DARK)
    assert view.canvas.backgroundBrush().color().name() == DARK.surface
    view.grab()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        pytest.param(
            KILLED,
            "SIGKILL",
            marks=pytest.mark.skipif(os.name != "posix", reason="no signals there"),
        ),
        (ENDED, "exit code 0"),
        (["/no/such/program"], "cannot be started"),
    ],
)
def test_where_the_layout_fails_boxes_stand_by_depth(
    qtbot, make_view, command: list[str], reason: str
) -> None:
    view = make_view(command)
    view.show_explained(pair_of(network()))
    settle(qtbot, view)
    assert reason in view.problem.text()
    assert view.problem.text().count(". ") == 0, "one sentence"
    assert view.problem.isVisible()
    before = closed_boxes(view)
    double_click(qtbot, view, node_named(view, "block0"))
    assert closed_boxes(view) == before - 5
    with qtbot.waitSignal(view.operators_selected):
        click(view, 26)


def test_a_layout_that_takes_too_long_is_ended_and_the_window_goes_on(
    qtbot, make_view, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presenter, "lay_out", partial(lay_out, limit_s=1.0))
    view = make_view([sys.executable, "-c", "import time; time.sleep(60)"])
    beats: list[float] = []
    timer = QTimer(view, interval=20)
    timer.timeout.connect(lambda: beats.append(time.perf_counter()))
    timer.start()
    view.show_explained(pair_of(network()))
    settle(qtbot, view)
    assert len(beats) > 5, "the window was not kept waiting"
    assert "layout of the graph failed" in view.problem.text()
    assert view.problem.text().count(". ") == 0, "one sentence"
    with qtbot.waitSignal(view.operators_selected):
        click(view, 26)


@pytest.mark.parametrize("count", [1, 7, 500])
def test_a_model_without_edges_is_a_square(qtbot, show: Show, count: int) -> None:
    view = show(table_with([f"op{place}" for place in range(count)], ["Relu"] * count, []))
    assert 1 <= closed_boxes(view) <= 60
    assert not view.presenter.picture.edges
    press(qtbot, view, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Down)
    view.grab()


def test_names_of_ten_thousand_characters_are_shown(qtbot, show: Show) -> None:
    names = [f"{'module' * 1700}/{'x' * 5000}{place}" for place in range(5)]
    view = show(table_with(names, ["Conv"] * 5, [(0, 1), (1, 2)]))
    click(view, 0)
    assert len(view._tooltip_of(0)) < 2000
    view.grab()


def test_a_model_that_is_closed_is_let_go(qtbot, show: Show) -> None:
    view = show(network())
    view.show_explained(None)
    assert view.presenter.facts is None
    assert not view.presenter.picture.nodes.size
    assert view._stack.currentWidget() is view._stack.message


def test_the_next_model_replaces_one_that_is_being_laid_out(qtbot, make_view) -> None:
    view = make_view()
    view.show_explained(pair_of(chain_of(3000)))
    view.show_explained(pair_of(network()))
    settle(qtbot, view)
    assert facts_of(view).tree.operators == 27


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_all_of_it_is_saved(qtbot, show: Show, tmp_path: Path, ending: str) -> None:
    view = show(network())
    path = tmp_path / f"graph.{ending}"
    view.save_plot(path)
    if ending == "png":
        picture, image = view.presenter.picture, QImage(str(path))
        assert image.height() > 2 * picture.height
        assert image.width() > 2 * picture.width
    else:
        text = path.read_text("utf-8")
        assert "<title>Operator graph</title>" in text
        assert "block3" in text
    with pytest.raises(HostError):
        view.save_plot(path / "a file is no folder.png")
