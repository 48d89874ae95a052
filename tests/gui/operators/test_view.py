"""The Operators view under real clicks and keys, with ten operators and ten thousand."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QMessageBox

from ctm_gui.operators.view import SHARE_TEXT_PX, OperatorsView
from ctm_gui.widgets.theme import DARK, LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from predictor.core.units import LatencyUnit
from tests.support.operator_tables import TYPES, make_table


@pytest.fixture
def view(qtbot, qapp, options) -> Iterator[OperatorsView]:
    apply_theme(qapp, LIGHT)
    view = OperatorsView(options)
    view.resize(1100, 700)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.show_table(make_table(10))
    qapp.processEvents()
    yield view
    # Deleted here and not some time later: the style sheet of the next test repaints all that live.
    view.close()
    view.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def names(view: OperatorsView) -> list[str]:
    model = view.table.model()
    return [model.index(row, 1).data() for row in range(model.rowCount())]


def column(view: OperatorsView, key: str) -> int:
    return [column.key for column in view.table.model().grid.columns].index(key)


def click_type(view: OperatorsView, row: int) -> None:
    plot = view.strip.plot
    place = plot.canvas.mapFromScene(plot.box.mapViewToScene(QPointF(0.1, row * 19 + 9)))
    QTest.mouseClick(plot.canvas.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_operators_are_ranked_by_their_share(view):
    # 5/1, 3/3, 5/6, 3/8 and the two Adds 1/5, 1/10; what takes no time comes last in file order.
    assert names(view)[:6] == [
        "/layer0/Conv_0",
        "/layer0/Gemm_2",
        "/layer1/Conv_5",
        "/layer1/Gemm_7",
        "/layer0/Add_4",
        "/layer1/Add_9",
    ]
    assert names(view)[6:] == [
        "/layer0/Relu_1",
        "/layer0/Reshape_3",
        "/layer1/Relu_6",
        "/layer1/Reshape_8",
    ]
    assert view.totals.text().startswith("10 operators: 7.51 ms, 45")


def test_cumulative_share_follows_what_is_shown(view):
    cumulative = column(view, "cumulative")
    model = view.table.model()
    assert model.index(0, cumulative).data() == "66.6 %"
    assert model.index(9, cumulative).data() == "100 %"
    view.table.sort_by("number", descending=True)
    assert model.index(0, cumulative).data() == "1.33 %"
    assert model.index(9, cumulative).data() == "100 %"


def test_typing_searches_names_and_types_and_enter_goes_to_the_table(view):
    QTest.keyClicks(view.table.search_box, "conv LAYER1")
    assert names(view) == ["/layer1/Conv_5"]
    assert view.table.matches.text() == "1 of 10"
    assert "shown: 1 operator, 0.833 ms" in view.totals.text()
    QTest.keyClick(view.table.search_box, Qt.Key.Key_Return)
    assert view.table.hasFocus()
    view.table.search_box.clear()
    assert len(names(view)) == 10
    assert view.table.matches.text() == ""


def test_operators_without_time_can_be_hidden(view):
    QTest.mouseClick(
        view.hide_box, Qt.MouseButton.LeftButton, pos=QPoint(10, view.hide_box.height() // 2)
    )
    assert len(names(view)) == 6
    assert not any("Relu" in name or "Reshape" in name for name in names(view))


def test_a_click_on_a_type_filters_and_a_second_one_shows_all(view):
    click_type(view, 1)
    assert names(view) == ["/layer0/Gemm_2", "/layer1/Gemm_7"]
    assert view.type_button.isVisible()
    assert view.type_button.text() == "Type: Gemm ✕"
    click_type(view, 1)
    assert len(names(view)) == 10
    click_type(view, 0)
    QTest.mouseClick(view.type_button, Qt.MouseButton.LeftButton)
    assert len(names(view)) == 10
    assert not view.type_button.isVisible()


def test_keys_choose_types(view):
    view.strip.setFocus()
    QTest.keyClick(view.strip, Qt.Key.Key_Down)
    assert names(view) == ["/layer0/Conv_0", "/layer1/Conv_5"]
    QTest.keyClick(view.strip, Qt.Key.Key_Down)
    QTest.keyClick(view.strip, Qt.Key.Key_Down)
    QTest.keyClick(view.strip, Qt.Key.Key_Up)
    assert names(view) == ["/layer0/Gemm_2", "/layer1/Gemm_7"]
    QTest.keyClick(view.strip, Qt.Key.Key_Escape)
    assert len(names(view)) == 10


def test_without_a_table_the_view_says_why(view):
    view.show_table(None, "not supported: \u202efp32 on <b>npu</b>")
    assert view._stack.message.isVisible()
    assert view._stack.message.text() == "not supported: \\u202efp32 on <b>npu</b>"
    assert view._stack.message.textFormat() is Qt.TextFormat.PlainText
    assert not view.table.search_box.isVisible()
    view.show_table(make_table(3))
    assert view.table.isVisible()
    assert len(names(view)) == 3


def test_search_and_order_stay_when_another_table_comes(view):
    view.table.sort_by("name", descending=True)
    view.table.search_box.setText("conv")
    click_type(view, 0)
    view.show_table(make_table(20))
    assert names(view) == [f"/layer{i}/Conv_{5 * i}" for i in (3, 2, 1, 0)]
    assert not view.type_button.isVisible()


def test_units_change_times_and_a_rate_stays_milliseconds(view, options):
    latency = column(view, "latency")
    model = view.table.model()
    options.set_unit(LatencyUnit.US)
    assert model.headerData(latency, Qt.Orientation.Horizontal) == "Latency (µs)"
    assert model.index(0, latency).data() == "5000"
    options.set_unit(LatencyUnit.FPS)
    assert model.headerData(latency, Qt.Orientation.Horizontal) == "Latency (ms)"
    assert names(view)[0] == "/layer0/Conv_0"


def test_a_copy_is_what_is_selected_in_the_order_shown(view):
    view.table.select_rows([7, 0], 0)
    view.table.setFocus()
    QTest.keyClick(view.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = list(csv.DictReader(io.StringIO(QGuiApplication.clipboard().text(), newline="")))
    assert [line["Name"] for line in lines] == ["/layer0/Conv_0", "/layer1/Gemm_7"]
    assert [line["MACs"] for line in lines] == ["0", "7000"]
    view.table.copy_markdown.trigger()
    assert QGuiApplication.clipboard().text().count("\n") == 4


def test_bars_are_as_long_as_shares_are_of_the_largest(qapp, view):
    share = column(view, "share")
    image = view.table.viewport().grab().toImage()

    def painted(row: int) -> int:
        """Count the pixels of the bar along the middle of the cell."""
        rect = view.table.visualRect(view.table.model().index(row, share))
        bar = QColor(LIGHT.series[view.table.grid_model.grid.bound_at(row)])
        y = rect.center().y()
        return sum(image.pixelColor(x, y) == bar for x in range(rect.left(), rect.right()))

    room = view.table.columnWidth(share) - 4 - SHARE_TEXT_PX
    assert painted(0) == pytest.approx(room, abs=2)
    assert painted(1) == pytest.approx(room / 5, abs=2)
    assert painted(9) == 0


@pytest.mark.parametrize(
    ("typed", "kind", "written"),
    [
        ("a.png", "PNG (*.png)", "a.png"),
        ("b", "PNG (*.png)", "b.png"),
        ("c", "SVG (*.svg)", "c.svg"),
    ],
)
def test_the_bars_are_saved_where_the_user_says(view, tmp_path, monkeypatch, typed, kind, written):
    answer = (str(tmp_path / typed), kind)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    QTest.mouseClick(view.save_button, Qt.MouseButton.LeftButton)
    start = (tmp_path / written).read_bytes()[:100]
    assert start.startswith(b"\x89PNG" if written.endswith("png") else b"<?xml")


def test_a_plot_that_cannot_be_saved_is_told_and_a_changed_mind_is_not(view, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(QMessageBox, "warning", lambda *words: told.append(words[-1]))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    QTest.mouseClick(view.save_button, Qt.MouseButton.LeftButton)
    assert told == []
    (tmp_path / "missing").touch()  # a file in the way of a folder
    nowhere = (str(tmp_path / "missing" / "a.svg"), "SVG (*.svg)")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: nowhere)
    QTest.mouseClick(view.save_button, Qt.MouseButton.LeftButton)
    assert len(told) == 1
    assert "could not be written (File exists)" in told[0]


def test_hovering_shows_whole_names_as_plain_text(view):
    index = view.table.model().index(0, 1)
    assert view.table.tooltip_text(index) == "/layer0/Conv_0"
    text = view.strip.plot.tooltip_at(QPointF(0.1, 5.0), False)
    assert text.splitlines()[0] == "Conv: 2 operators"
    assert view.strip.plot.tooltip_at(QPointF(0.1, 500.0), False) == ""


def test_ten_thousand_operators_sort_scroll_filter_and_copy(qapp, view):
    view.show_table(make_table(10_000))
    model = view.table.model()
    assert model.rowCount() == 10_000
    for key in ("shape", "macs", "number"):
        view.table.sort_by(key, descending=True)
        assert names(view)[0] == "/layer1999/Add_9999"
    view.table.sort_by("name", descending=True)
    assert names(view)[:2] == ["/layer1999/Reshape_9998", "/layer1999/Relu_9996"]
    view.table.selectAll()
    view.table.sort_by("number")
    qapp.processEvents()
    assert view.table.selected_rows().tolist() == list(range(10_000))
    view.table.verticalScrollBar().setValue(view.table.verticalScrollBar().maximum())
    qapp.processEvents()
    last = view.table.visualRect(model.index(9_999, 0))
    assert view.table.viewport().rect().contains(last.center())
    view.table.search_box.setText("layer7 gemm")
    expected = sum("layer7" in name and "Gemm" in name for name in make_table(10_000).names)
    assert model.rowCount() == expected
    view.table.copy_csv.trigger()
    assert QGuiApplication.clipboard().text().count("\r\n") == expected + 1


def test_a_selection_of_scattered_rows_survives_sorting_and_filtering(view):
    view.show_table(make_table(1_000))
    view.table.select_rows(list(range(0, 1_000, 3)), 3)
    view.table.sort_by("name")
    assert sorted(view.table.selected_rows().tolist()) == list(range(0, 1_000, 3))
    assert view.table.current_row() == 3
    view.hide_box.setChecked(True)
    kept = [row for row in range(0, 1_000, 3) if TYPES[row % 5] not in {"Relu", "Reshape"}]
    assert sorted(view.table.selected_rows().tolist()) == kept


def test_themes_repaint_strip_and_table(qapp, view, options):
    def corner() -> str:
        qapp.processEvents()
        return view.strip.plot.canvas.grab().toImage().pixelColor(2, 2).name()

    assert corner() == LIGHT.surface
    apply_theme(qapp, DARK)
    options.set_theme(DARK)
    assert corner() == DARK.surface


def test_every_part_has_a_name_for_a_screen_reader(view):
    for part in (
        view.table,
        view.strip,
        view.table.search_box,
    ):
        assert part.accessibleName()
    assert view.strip.accessibleDescription().startswith("Conv 77.7 %; Gemm 18.3 %")
