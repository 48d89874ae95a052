"""The Attention tab under real clicks and keys, linked with the operator table."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox
from pytestqt.qtbot import QtBot

from ctm_gui.attention.map import ROW_PX, Cell
from ctm_gui.attention.view import AttentionView
from ctm_gui.prediction import explanation
from ctm_gui.widgets.theme import DARK, LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.records import Target
from predictor.graph.model import Model
from predictor.services.prediction.explain import OperatorTable, explain
from tests.support.attended import BOARD, attended
from tests.support.operator_tables import make_table

MakeModel = Callable[..., Path]
Settle = Callable[[Workspace], None]


@pytest.fixture
def view(qtbot: QtBot, qapp: QApplication, options: ViewOptions) -> Iterator[AttentionView]:
    apply_theme(qapp, LIGHT)
    view = AttentionView(options)
    view.resize(1100, 700)
    with qtbot.waitExposed(view):
        view.show()
    view.show_table(attended(make_table(10)), "", BOARD)
    qapp.processEvents()
    yield view
    view.close()
    view.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def names(view: AttentionView) -> list[str]:
    model = view.table.model()
    return [model.index(row, 1).data() for row in range(model.rowCount())]


def click_cell(view: AttentionView, x: float, place: int) -> None:
    plot = view.map.rows_plot
    scene = plot.box.mapViewToScene(QPointF(x, (place + 0.5) * ROW_PX))
    QTest.mouseClick(
        plot.canvas.viewport(),
        Qt.MouseButton.LeftButton,
        pos=QPoint(*map(round, (scene.x(), scene.y()))),
    )


def test_map_and_table_show_the_slowest_first_in_one_order(view: AttentionView) -> None:
    assert names(view)[0] == "/layer0/Conv_0"
    top = np.asarray(view.map.images[0].image)[0]
    table = attended(make_table(10))
    assert table.attention is not None
    np.testing.assert_array_equal(top, table.attention.operator_to_metric[0])
    view.table.sort_by("number", descending=True)
    assert names(view)[0] == "/layer1/Add_9"
    np.testing.assert_array_equal(
        np.asarray(view.map.images[1].image)[0], table.attention.metric_to_operator[:, 9]
    )


def test_maps_of_what_was_learned_are_chosen_where_there_are_some(view: AttentionView) -> None:
    table = attended(make_table(10))
    assert table.attention is not None
    assert view.maps_box.isHidden()
    factors = np.full_like(table.attention.operator_to_metric, 2.0)
    maps = replace(table.attention, is_time=True, learned=factors)

    view.show_table(replace(table, attention=maps), "", BOARD)
    assert not view.maps_box.isHidden()
    view.maps_box.setFocus()
    QTest.keyClick(view.maps_box, Qt.Key.Key_Down)

    shown = np.asarray(view.map.images[0].image)[0]
    np.testing.assert_allclose(shown, maps.operator_to_metric[0] / 2)
    assert view.pairs.text().startswith("Learned: ")
    # A network of its own has no factors: its attention is shown whatever was chosen.
    view.show_table(table, "", BOARD)
    assert view.maps_box.isHidden()
    np.testing.assert_array_equal(
        np.asarray(view.map.images[0].image)[0], table.attention.operator_to_metric[0]
    )


def test_a_low_strip_leaves_its_room_to_the_rows(view: AttentionView) -> None:
    bars = view.map.rows_plot.canvas.getAxis("bottom")
    for height, has_bars in ((240, False), (700, True)):
        view.resize(1100, height)
        QApplication.processEvents()
        assert bars.isVisible() is has_bars


def test_a_click_on_a_cell_says_it_and_selects_its_operator(view: AttentionView) -> None:
    told: list[tuple[list[int], int | None]] = []
    view.operators_selected.connect(lambda found, now: told.append((found.tolist(), now)))
    view.table.sort_by("number")
    click_cell(view, 1.5, 3)

    assert view.table.selected_rows().tolist() == [3]
    assert told[-1] == ([3], 3)
    assert view.map.cell == Cell(3, 1, backward=False)
    assert view.cell.text().startswith("/layer0/Reshape_3 gives ")
    assert "to Boost clock (1 MHz)" in view.cell.text()
    tip = view.map.rows_plot.tooltip_at(QPointF(6.5, 3.5 * ROW_PX), False)
    assert tip.startswith("Clock (1 MHz) gives ")
    assert tip.endswith("attention to /layer0/Reshape_3")


def test_arrows_move_the_cursor_and_enter_asks_for_the_operator(
    qtbot: QtBot, view: AttentionView
) -> None:
    view.table.sort_by("number")
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Down, Qt.Key.Key_Right):
        QTest.keyClick(view.map, key)
    assert view.map.cell == Cell(1, 1, backward=False)
    QTest.keyClick(view.map, Qt.Key.Key_End)
    assert view.table.selected_rows().tolist() == [9]
    with qtbot.waitSignal(view.operator_activated) as asked:
        QTest.keyClick(view.map, Qt.Key.Key_Return)
    assert asked.args == [9]


def test_types_stand_for_their_operators_both_ways(view: AttentionView) -> None:
    told: list[tuple[list[int], int | None]] = []
    view.operators_selected.connect(lambda found, now: told.append((found.tolist(), now)))
    view.group_box.setChecked(True)

    assert names(view) == ["Conv", "Gemm", "Add", "Relu", "Reshape"]
    assert view.pairs.text().startswith("Conv (2 operators) are ")
    view.table.select_rows([2], 2)
    assert told[-1] == ([2, 7], 2)
    view.select_operators(np.array([9]), 9)
    assert view.table.selected_rows().tolist() == [4]


def test_search_filters_maps_and_table(view: AttentionView) -> None:
    view.table.search_box.setText("layer1 conv")

    assert names(view) == ["/layer1/Conv_5"]
    assert view.table.matches.text() == "1 of 10"
    assert np.asarray(view.map.images[0].image).shape == (1, 5)
    view.table.search_box.setText("nothing has this name")
    assert not view.map.images[0].isVisible()


def test_without_attention_a_sentence_says_where_there_is_some(view: AttentionView) -> None:
    view.show_table(make_table(3), "", BOARD)
    assert view._stack.message.isVisible()
    assert "CloserToMe engine" in view._stack.message.text()
    assert not view.save_button.isVisible()
    view.show_table(None, "not supported: \u202efp32")
    assert view._stack.message.text() == "not supported: \\u202efp32"
    view.show_table(None)
    assert "Drop a model" in view._stack.message.text()
    view.show_table(attended(make_table(3)), "", BOARD)
    assert len(names(view)) == 3


def test_pictures_and_numbers_are_saved(
    qtbot: QtBot, view: AttentionView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = [(str(tmp_path / "maps"), kind) for kind in ("PNG (*.png)", "CSV (*.csv)")]
    chosen.append((str(tmp_path / "maps.svg"), ""))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: chosen.pop())
    for _ in range(3):
        view.save_button.click()
    qtbot.waitUntil((tmp_path / "maps.csv").exists)

    assert not QImage(str(tmp_path / "maps.png")).isNull()
    svg = (tmp_path / "maps.svg").read_text()
    assert "Operators look at metrics" in svg
    assert svg.count("<image") == 2
    rows = list(csv.DictReader((tmp_path / "maps.csv").read_text().splitlines()))
    assert len(rows) == 10
    shares = [value for key, value in rows[0].items() if key.startswith("to ")]
    assert sum(map(float, shares)) == pytest.approx(1, abs=1e-5)


def test_a_csv_that_cannot_be_written_is_said(
    qtbot: QtBot, view: AttentionView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(QMessageBox, "warning", lambda *args: said.append(args[2]))
    (tmp_path / "missing").touch()  # a file in the way of a folder
    view.save(tmp_path / "missing" / "maps.csv")
    qtbot.waitUntil(lambda: bool(said))
    assert "could not be written" in said[0]


def test_ten_thousand_operators_are_copied_whole(qtbot: QtBot, view: AttentionView) -> None:
    view.show_table(attended(make_table(10_000), metrics=22), "", BOARD)
    QGuiApplication.clipboard().clear()
    view.table.copy_csv.trigger()
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().text().count("\r\n") == 10_001)
    assert QGuiApplication.clipboard().text().split("\r\n", 1)[0].count(",") == 7 + 2 * 22


def test_the_maps_take_the_colours_of_the_theme(
    qapp: QApplication, view: AttentionView, options: ViewOptions
) -> None:
    def corner() -> str:
        qapp.processEvents()
        return view.map.rows_plot.canvas.grab().toImage().pixelColor(2, 2).name()

    assert corner() == LIGHT.surface
    options.set_theme(DARK)
    assert corner() == DARK.surface


def attending(model: Model, target: Target, **known: object) -> OperatorTable:
    return attended(explain(model, target, **known))


def test_operators_and_attention_share_pair_and_selection(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(explanation, "explain", attending)
    workspace.open_paths([str(make_model(layers=6))])
    settle(workspace)
    with qtbot.waitSignal(window.central.explanation.table_changed):
        window.show_page("operators")
    assert "Most sensitive to" in [
        c.title for c in window.central.operators_view.table.grid_model.grid.columns
    ]
    window.central.operators_view.table.select_rows([4, 1], 1)
    window.show_page("attention")
    attention = window.central.attention_view
    assert sorted(attention.table.selected_rows().tolist()) == [1, 4]
    assert attention.table.current_row() == 1
    assert window.central.why_view.pair.model_box.currentText() == "chain.onnx"

    attention.table.select_rows([5], 5)
    attention.table.row_activated.emit(5)
    assert window.central.operators_view.isVisible()
    assert window.central.operators_view.table.selected_rows().tolist() == [5]

    window.central.operators_view.table.search_box.setText("product_2")
    window.show_page("attention")
    attention.table.select_rows([3], 3)
    window.show_page("operators")  # it hides operator 3, and that is no choice of the user's
    window.show_page("attention")
    assert attention.table.selected_rows().tolist() == [3]


def test_until_there_is_a_table_the_tab_says_that_it_is_coming(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    go_on = Event()

    def slow(model: Model, target: Target, **known: object) -> OperatorTable:
        go_on.wait(10)
        return attending(model, target, **known)

    monkeypatch.setattr(explanation, "explain", slow)
    workspace.open_paths([str(make_model())])
    settle(workspace)
    window.show_page("attention")
    assert window.central.attention_view._stack.message.text() == explanation.WORKING
    with qtbot.waitSignal(window.central.explanation.table_changed):
        go_on.set()
    assert window.central.attention_view.map.isVisible()


def test_another_target_is_explained_in_both_tabs(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(explanation, "explain", attending)
    workspace.open_paths([str(make_model())])
    settle(workspace)
    with qtbot.waitSignal(window.central.explanation.table_changed):
        window.show_page("attention")
    with qtbot.waitSignal(window.central.explanation.table_changed):
        window.central.why_view.pair.choice_changed.emit(0, 1)
    second = workspace.comparison.targets[1].device
    assert window.central.explanation.explained is not None
    assert window.central.explanation.explained.device is second
    assert window.central.attention_view._summary is not None
    assert window.central.attention_view._summary.table is window.central.explanation.table
    window.show_page("operators")
    assert window.central.why_view.pair.target_box.currentText() == second.name


def test_node_data_are_written_beside_the_window(
    qtbot: QtBot, window: MainWindow, workspace: Workspace, make_model: MakeModel, settle: Settle,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    workspace.open_paths([str(make_model())])
    settle(workspace)
    with qtbot.waitSignal(window.central.explanation.table_changed):
        window.show_page("operators")
    (tmp_path / "missing").touch()  # a file in the way of a folder
    chosen = [str(tmp_path / "missing" / "net"), str(tmp_path / "net")]
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (chosen.pop(), ""))
    with qtbot.waitSignal(window.central.explanation.done) as done:
        window.central.operators_view.node_data_button.click()
    assert done.args[0].startswith("Wrote ")
    assert (tmp_path / "net.json").exists()
    assert (tmp_path / "net.share.json").exists()
    with qtbot.waitSignal(window.central.explanation.failed):
        window.central.operators_view.node_data_button.click()
    assert workspace.messages.error_count == 1
