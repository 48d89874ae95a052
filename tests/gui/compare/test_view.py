"""The Compare view under real clicks, keys and drags."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree as ET

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QImage, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest

from ctm_gui.compare import chart_items
from ctm_gui.compare.chart import GROUP_GAP_PX, SINGLE_ROW_PX, Bar
from ctm_gui.compare.chart_items import part_in_view
from ctm_gui.compare.view import CompareView
from ctm_gui.prediction.columns import ComparisonColumns
from ctm_gui.widgets.theme import DARK, LIGHT
from ctm_gui.widgets.theme_change import apply_theme
from predictor.core.errors import HostError
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Precision
from predictor.core.units import LatencyUnit
from predictor.presentation.prediction_rows import PredictionRow

DEVICES = ("rpi5", "orin", "rtx3090", "npu")


def make_row(device: str, latency_ms: float | None, model: str = "resnet50", **facts: object):
    prediction = Prediction(
        model=f"{model}.onnx",
        fingerprint="0" * 64,
        device_id=device,
        configuration=Configuration("onnxruntime", Precision.FP32, 4, 1),
        engine="roofline 1",
        basis=None if latency_ms is None else Basis.ANALYTIC,
        latency_ms=latency_ms,
        **facts,
    )
    return PredictionRow(
        prediction=prediction,
        device_name=device.upper(),
        model_label=model,
        vendor="Maker",
        family="gpu",
    )


def show(view: CompareView, rows: list[PredictionRow]) -> None:
    """Show rows, and wait for the chart, which follows in a later turn."""
    view.show_predictions(ComparisonColumns(rows))
    draw(view)


def draw(view: CompareView) -> None:
    """Wait for the chart, which follows the table and is painted in later turns."""
    while view._chart_turn.is_waiting or not view.chart.updatesEnabled():
        QGuiApplication.processEvents()


def column(view: CompareView, key: str) -> int:
    return [column.key for column in view.table.model().grid.columns].index(key)


@pytest.fixture
def rows() -> list[PredictionRow]:
    return [
        make_row("rpi5", 80.0, bound_ms=20.0, low80_ms=60.0, high80_ms=100.0),
        make_row("orin", 25.0, bound_ms=10.0),
        make_row("rtx3090", 5.0, bound_ms=1.0),
        make_row("npu", None, problem="not supported: fp32 on an int8-only unit"),
    ]


@pytest.fixture
def view(qtbot, qapp, rows, options) -> Iterator[CompareView]:
    apply_theme(qapp, LIGHT)
    view = CompareView(options)
    view.resize(1000, 700)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    options.set_budget_ms(30.0)
    show(view, rows)
    qapp.processEvents()
    yield view
    # Deleted here and not some time later: the style sheet of the next test repaints all that live.
    view.close()
    view.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def shown_devices(view: CompareView) -> list[str]:
    model = view.table.model()
    return [model.index(row, column(view, "device")).data() for row in range(model.rowCount())]


def at(view: CompareView, x: float, y: float) -> QPoint:
    """Return the pixel of the canvas's viewport at a place of the plot."""
    plot = view.chart.rows_plot
    return plot.canvas.mapFromScene(plot.box.mapViewToScene(QPointF(x, y)))


def bars(view: CompareView) -> list[Bar]:
    draw(view)
    layout = view.chart.state.layout
    return list(layout.bars_between(0, layout.height_px))


def bar_middle(view: CompareView, row: int) -> QPoint:
    bar = view.chart.state.layout.bar_of_row(row)
    return at(view, 1.0, bar.top_px + view.chart.state.layout.row_px / 2)


def move(viewport, place: QPoint, *, pressed: bool) -> None:
    """Move the pointer; QTest's own moves forget the button that is held down."""
    held = Qt.MouseButton.LeftButton if pressed else Qt.MouseButton.NoButton
    event = QMouseEvent(
        QMouseEvent.Type.MouseMove,
        QPointF(place),
        QPointF(viewport.mapToGlobal(place)),
        Qt.MouseButton.NoButton,
        held,
        Qt.KeyboardModifier.NoModifier,
    )
    QGuiApplication.sendEvent(viewport, event)


def selected_devices(view: CompareView) -> list[str]:
    return [DEVICES[row] for row in view.table.selected_rows()]


def test_the_sentence_and_the_table_show_the_predictions_fastest_first(view):
    assert view.summary.text() == (
        "resnet50: 2 of 3 targets meet 30 ms, fastest 5 ms on RTX3090; nearest miss 80 ms on RPI5, "
        "likely 60 to 100 (< 1 % chance); 1 not predictable"
    )
    assert shown_devices(view) == ["RTX3090", "ORIN", "RPI5", "NPU"]


def test_nothing_to_show_says_what_to_do(qtbot, options):
    view = CompareView(options)
    qtbot.addWidget(view)
    view.show()
    assert view._stack.message.isVisible()
    assert not view.chart.isVisible()


def test_a_click_on_a_bar_selects_its_row(view):
    QTest.mouseClick(
        view.chart.rows_plot.canvas.viewport(), Qt.MouseButton.LeftButton, pos=bar_middle(view, 1)
    )
    assert selected_devices(view) == ["orin"]
    assert view.chart.state.selected == {1}


def test_a_row_selected_in_the_table_is_marked_in_the_chart(view):
    place = view.table.visualRect(view.table.model().index(2, column(view, "runtime"))).center()
    QTest.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert view.chart.state.selected == {0}
    assert view.chart.state.current == 0


def test_enter_and_double_click_ask_for_more_about_a_row(qtbot, view):
    view.table.selectRow(0)
    view.table.setFocus()
    with qtbot.waitSignal(view.row_activated) as activated:
        QTest.keyClick(view.table, Qt.Key.Key_Return)
    assert activated.args == [2]
    with qtbot.waitSignal(view.row_activated) as activated:
        viewport = view.chart.rows_plot.canvas.viewport()
        QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=bar_middle(view, 1))
        QTest.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=bar_middle(view, 1))
        QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=bar_middle(view, 1))
    assert activated.args == [1]
    with qtbot.waitSignal(view.row_activated) as activated:
        place = view.table.visualRect(view.table.model().index(2, column(view, "runtime"))).center()
        QTest.mouseClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        QTest.mouseDClick(view.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        QTest.mouseRelease(view.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert activated.args == [0]


def test_keys_walk_through_the_bars(qtbot, view):
    view.chart.setFocus()
    walked = []
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_Up, Qt.Key.Key_Home):
        QTest.keyClick(view.chart, key)
        walked.append(selected_devices(view)[0])
    assert walked == ["rtx3090", "orin", "npu", "rpi5", "rtx3090"]
    with qtbot.waitSignal(view.row_activated) as activated:
        QTest.keyClick(view.chart, Qt.Key.Key_Enter)
    assert activated.args == [2]


def test_a_budget_that_is_typed_is_told_and_judged(qtbot, view, options):
    view.budget_box.setFocus()
    view.budget_box.selectAll()
    with qtbot.waitSignal(options.budget_changed):
        QTest.keyClicks(view.budget_box, "10")
        QTest.keyClick(view.budget_box, Qt.Key.Key_Return)
    assert options.budget_ms == 10.0
    assert view.summary.text().startswith("resnet50: 1 of 3 targets meets 10 ms")
    verdict = view.table.model().index(1, column(view, "verdict"))
    assert verdict.data() == "over (2.5×)"
    assert verdict.data(Qt.ItemDataRole.ForegroundRole).name() == LIGHT.bad


def test_a_budget_of_zero_is_no_budget(qtbot, view, options):
    with qtbot.waitSignal(options.budget_changed):
        view.budget_box.setValue(0.0)
    assert options.budget_ms is None
    draw(view)
    assert view.budget_box.text() == "no budget"
    assert not view.chart.budget_line.isVisible()
    assert view.summary.text().startswith("resnet50: fastest 5 ms on RTX3090")


def test_a_budget_set_from_outside_is_not_told_back(qtbot, view, options):
    with qtbot.assertNotEmitted(view.budget_box.budget_edited):
        options.set_budget_ms(12.5)
    assert view.budget_box.text() == "12.5 ms"


def test_the_budget_line_can_be_dragged(monkeypatch, view, options):
    monkeypatch.setitem(pg.CONFIG_OPTIONS, "mouseRateLimit", 0)
    view.log_box.setChecked(False)
    viewport = view.chart.rows_plot.canvas.viewport()
    start, end = at(view, 30.0, 60), at(view, 60.0, 60)
    told = []
    options.budget_changed.connect(lambda: told.append(options.budget_ms))
    move(viewport, start, pressed=False)
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=start)
    for step in range(1, 6):
        move(viewport, start + (end - start) * (step / 5), pressed=True)
    assert view.budget_box.value() == pytest.approx(60.0, abs=1.0)
    assert told == []
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=end)
    assert len(told) == 1
    assert told[0] == pytest.approx(60.0, abs=1.0)
    assert view.budget_box.value() == told[0]
    draw(view)
    assert view.chart.budget_line.value() == pytest.approx(told[0])


@pytest.mark.parametrize("log", [False, True])
def test_the_line_stands_where_the_budget_is_on_both_scales(view, log):
    view.log_box.setChecked(log)
    x = view.chart.budget_line.value()
    assert (10**x if log else x) == pytest.approx(30.0)


def test_a_dot_over_the_budget_is_a_ring_not_only_coloured(qapp, view):
    view.log_box.setChecked(False)
    qapp.processEvents()
    image = view.chart.rows_plot.canvas.grab().toImage()

    def colour(row: int, value: float) -> str:
        bar = view.chart.state.layout.bar_of_row(row)
        return image.pixelColor(at(view, value, bar.top_px + SINGLE_ROW_PX / 2)).name()

    assert colour(1, 25.0) == LIGHT.series[0]
    assert colour(0, 80.0) == LIGHT.surface


def test_the_filter_narrows_bars_and_table_and_keeps_the_selection(view):
    view.table.select_rows([1], 1)
    QTest.keyClicks(view.table.search_box, "ORIN")
    assert shown_devices(view) == ["ORIN"]
    assert [bar.row for bar in bars(view)] == [1]
    assert view.table.matches.text() == "1 of 4"
    assert selected_devices(view) == ["orin"]
    assert view.table.current_row() == 1
    view.table.search_box.clear()
    assert len(shown_devices(view)) == 4
    assert selected_devices(view) == ["orin"]


def test_a_header_click_sorts_and_the_selection_follows(view):
    view.table.select_rows([2], 2)
    header = view.table.horizontalHeader()
    place = QPoint(
        header.sectionViewportPosition(column(view, "device")) + 20, header.height() // 2
    )
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert shown_devices(view) == ["NPU", "ORIN", "RPI5", "RTX3090"]
    QTest.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert shown_devices(view) == ["RTX3090", "RPI5", "ORIN", "NPU"]
    assert selected_devices(view) == ["rtx3090"]


def test_bars_are_ordered_apart_from_the_table(view):
    view.order_box.setCurrentText("Name")
    order = [DEVICES[bar.row] for bar in bars(view)]
    assert order == ["npu", "orin", "rpi5", "rtx3090"]
    assert shown_devices(view)[0] == "RTX3090"


def test_ctrl_c_copies_the_selection_as_csv(view):
    view.table.select_rows([1, 2], 1)
    view.table.setFocus()
    QTest.keyClick(view.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    lines = list(csv.DictReader(io.StringIO(QGuiApplication.clipboard().text(), newline="")))
    assert [(line["Device"], line["Latency (ms)"]) for line in lines] == [
        ("RTX3090", "5"),
        ("ORIN", "25"),
    ]


def test_all_rows_shown_are_copied_where_none_is_selected(view):
    view.table.clearSelection()
    view.table.setFocus()
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(view.table, Qt.Key.Key_C, modifiers)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 2 + 4
    assert lines[2].startswith("| resnet50 | 5 | RTX3090 | ")


def test_units_reach_the_bars_the_table_and_the_sentence(view, options):
    options.set_unit(LatencyUnit.FPS)
    labels = {bar.row: bar.label for bar in bars(view)}
    assert labels[2] == "200 FPS"
    assert labels[0] == "12.5 FPS · over"
    assert "fastest 200 FPS on RTX3090" in view.summary.text()
    assert view.table.model().index(0, column(view, "latency")).data() == "200"
    options.set_unit(LatencyUnit.US)
    assert view.table.model().index(0, column(view, "latency")).data() == "5000"


def test_hovering_tells_details_as_plain_text(qtbot, options):
    view = CompareView(options)
    qtbot.addWidget(view)
    view.resize(800, 600)
    show(view, [make_row("<b>x</b>", 10.0, model="<i>m</i>")])
    plot = view.chart.rows_plot
    assert plot.tooltip_at(QPointF(1.0, 5.0), False).startswith("<i>m</i> on <B>X</B>\nLatency")
    assert plot.tooltip_at(QPointF(0.0, 5.0), True) == "<B>X</B>\nonnxruntime fp32\n4 threads"
    assert plot.tooltip_at(QPointF(1.0, 500.0), False) == ""
    index = view.table.model().index(0, column(view, "runtime"))
    assert view.table.tooltip_text(index).startswith("<i>m</i> on")


def test_the_interval_column_goes_where_no_prediction_has_one_but_is_copied(view, rows):
    assert not view.table.isColumnHidden(column(view, "interval80"))
    show(view, rows[1:])
    assert view.table.isColumnHidden(column(view, "interval80"))
    view.table.copy_csv.trigger()
    assert "80 % interval (ms)" in QGuiApplication.clipboard().text().splitlines()[0]
    show(view, rows)
    assert not view.table.isColumnHidden(column(view, "interval80"))
    assert view.table.columnWidth(column(view, "interval80")) > 40


def test_themes_repaint_chart_and_table(qapp, view, options):
    def background() -> str:
        qapp.processEvents()
        return view.chart.rows_plot.canvas.grab().toImage().pixelColor(3, 3).name()

    assert background() == LIGHT.surface
    apply_theme(qapp, DARK)
    options.set_theme(DARK)
    assert background() == DARK.surface
    over = view.table.model().index(2, column(view, "verdict"))
    assert over.data(Qt.ItemDataRole.ForegroundRole).name() == DARK.bad


def test_many_targets_scroll_instead_of_shrinking(qapp, view):
    rows = [make_row(f"device{i:03}", 1.0 + i, model=m) for m in "abcdef" for i in range(150)]
    show(view, rows)
    qapp.processEvents()
    plot = view.chart.rows_plot
    layout = view.chart.state.layout
    assert len(layout) == 900
    assert plot.scroll_bar.maximum() == layout.height_px - int(plot.box.rect().height())
    last = layout.bar(899)
    view.table.select_rows([last.row], last.row)
    assert plot.scroll_bar.value() == pytest.approx(plot.scroll_bar.maximum(), abs=20)
    top, bottom = plot.box.viewRange()[1]
    assert top <= last.top_px
    assert last.top_px + layout.row_px <= bottom


def test_the_wheel_scrolls_the_bars(qapp, view):
    show(view, [make_row(f"d{i}", 1.0 + i) for i in range(60)])
    qapp.processEvents()
    plot = view.chart.rows_plot
    event = QWheelEvent(
        QPointF(300, 60),
        QPointF(300, 60),
        QPoint(0, 0),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    qapp.sendEvent(plot.canvas.viewport(), event)
    assert plot.scroll_bar.value() > 0
    assert plot.box.viewRange()[1][0] == plot.scroll_bar.value()


def test_a_saved_plot_holds_every_row(tmp_path, view):
    show(view, [make_row(f"dev{i:02}", 1.0 + i) for i in range(80)])
    svg, png = tmp_path / "plot.svg", tmp_path / "plot.png"
    view.chart.save(svg)
    view.chart.save(png)
    texts = {node.text for node in ET.parse(svg).iter() if node.tag.endswith("text")}  # noqa: S314
    assert {f"DEV{i:02}" for i in range(80)} <= texts
    assert {"1 ms", "80 ms · over", "budget 30 ms"} <= texts
    image = QImage(str(png))
    assert image.height() > 80 * SINGLE_ROW_PX
    assert image.pixelColor(3, 3).name() == LIGHT.surface


@pytest.mark.parametrize("name", ["plot.svg", "plot.png"])
def test_a_plot_that_cannot_be_saved_says_so(tmp_path, view, name):
    (tmp_path / "missing").touch()  # a file in the way of a folder
    with pytest.raises(HostError, match="could not be written"):
        view.chart.save(tmp_path / "missing" / name)


def test_the_span_chooses_the_scale_until_the_user_does(qtbot, options):
    wide = CompareView(options)
    qtbot.addWidget(wide)
    show(wide, [make_row("a", 1.0), make_row("b", 500.0)])
    assert wide.log_box.isChecked()
    show(wide, [make_row("a", 1.0), make_row("b", 5.0)])
    assert not wide.log_box.isChecked()
    wide.log_box.click()
    show(wide, [make_row("a", 1.0), make_row("b", 6.0)])
    assert wide.log_box.isChecked()


def test_every_part_has_a_name_for_a_screen_reader(view):
    for part in (view.chart, view.table, view.budget_box, view.order_box, view.table.search_box):
        assert part.accessibleName()
    assert view.chart.accessibleDescription().startswith("4 latencies")


def test_what_was_measured_is_shown_beside_what_is_predicted(qapp, view):
    measured = make_row("orin", 20.0, predicted_ms=26.0)
    measured = replace(measured, prediction=replace(measured.prediction, basis=Basis.MEASURED))
    assert view.table.isColumnHidden(column(view, "predicted"))
    show(view, [measured, make_row("rpi5", 40.0)])

    assert not view.table.isColumnHidden(column(view, "predicted"))
    assert view.table.model().index(0, column(view, "predicted")).data() == "26"
    assert view.table.model().index(1, column(view, "predicted")).data() == "—"
    painted = view.chart.grab().toImage()
    show(view, [replace(measured, prediction=without_own(measured.prediction))])
    qapp.processEvents()
    assert view.chart.grab().toImage() != painted


def without_own(prediction: Prediction) -> Prediction:
    return replace(prediction, predicted_ms=None)


def test_badges_and_doubt_are_part_of_a_saved_plot(view, tmp_path):
    doubt = "84 % of the time is in operators that no training network has"
    view.resize(1500, 700)
    show(view, [make_row("rpi5", 4.0, out_of_distribution=doubt), make_row("orin", 90.0)])
    svg = tmp_path / "bars.svg"
    view.chart.save(svg)
    texts = [node.text for node in ET.parse(svg).iter() if node.text]  # noqa: S314
    assert texts.count("analytic") == 2
    assert texts.count("uncertain") == 1
    assert any(text.startswith("84 % of the time") for text in texts)


def test_a_badge_without_room_leaves_the_next_label_its_size(view, tmp_path):
    facts = {"fits_memory": False, "out_of_distribution": "no training device used it"}
    interval = {"low80_ms": 80.0, "high80_ms": 100.0}
    some = [make_row(name, 90.0, **facts, **interval) for name in DEVICES[:3]]
    show(view, [replace(row, notes=("assumes an INT8 model",)) for row in some])
    cut = 0
    for width in range(1000, 1500, 50):
        view.resize(width, 700)
        view.chart.save(tmp_path / "bars.svg")
        nodes = [node for node in ET.parse(tmp_path / "bars.svg").iter() if node.text]  # noqa: S314
        texts = [node.text for node in nodes]
        cut += "analytic" in texts and "uncertain" not in texts
        sizes = {node.get("font-size") for node in nodes if node.text.startswith("90 ms")}
        assert len(sizes) == 1
    assert cut, "no width has room for the first badge alone"


def test_the_axis_ends_where_the_bars_do_and_has_no_factor_of_its_own(qtbot, view):
    show(view, [make_row("npu", 0.2), make_row("rpi5", 3.0e4, high80_ms=7.0e4)])
    view.log_box.setChecked(True)
    axis, box = view.chart._value_axis, view.chart.rows_plot.box
    (low, high), width = box.viewRange()[0], box.rect().width()
    ticks = [10.0**value for _, values in axis.tickValues(low, high, width) for value in values]
    assert 10.0**high > 1e6, "labels take the room at the right"
    assert max(ticks) == pytest.approx(7.0e4)
    view.log_box.setChecked(False)
    show(view, [make_row("rpi5", 1.0e15)])
    assert "x1e" not in axis.labelString()


def test_a_lower_limit_is_an_arrow_at_the_end_of_the_table(
    view: CompareView, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[str] = []
    for name in ("paint_dot", "paint_limit", "paint_interval"):
        whole = getattr(chart_items, name)

        def recorded(*args: object, whole=whole, name: str = name, **options: object) -> None:
            painted.append(name)
            whole(*args, **options)

        monkeypatch.setattr(chart_items, name, recorded)
    limit = make_row("orin", 0.01, low80_ms=0.005, high80_ms=0.02, flagged_operators=("MyOp",))
    show(view, [limit, make_row("rpi5", 80.0, low80_ms=60.0, high80_ms=100.0)])
    view.chart.grab()
    assert {*painted} == {"paint_dot", "paint_limit", "paint_interval"}
    show(view, [limit])
    painted.clear()
    view.chart.grab()
    assert {*painted} == {"paint_limit"}, "no dot and no interval"

    show(view, [limit, make_row("rpi5", 80.0)])
    latency, device = column(view, "latency"), column(view, "device")
    model = view.table.model()
    for descending in (False, True):
        view.table.sort_by("latency", descending=descending)
        cells = [model.index(row, latency).data() for row in range(2)]
        assert cells == ["80", "≥ 0.01"]
    assert model.index(1, device).data() == "ORIN"


def test_how_a_target_runs_stands_beside_its_name(view: CompareView) -> None:
    show(view, [make_row("rpi5", 80.0), make_row("orin", 25.0)])
    groups = list(view.chart.state.layout.groups_between(0, 1000))
    assert [(group.chip, group.detail) for group in groups] == [
        ("onnxruntime fp32", "4 threads")
    ] * 2
    places = [column(view, key) for key in ("runtime", "precision", "interval80")]
    assert places == sorted(places)


@pytest.mark.parametrize("models", [("one",) * 3, ("one", "one", "two")])
@pytest.mark.parametrize(("width_px", "is_one_line"), [(1000, True), (480, False)])
def test_a_narrow_chart_writes_how_a_target_runs_under_its_name(
    qapp, view: CompareView, width_px: int, is_one_line: bool, models: tuple[str, ...]
) -> None:
    names = [f"a-device-with-a-long-name-{place}" for place in range(3)]
    pairs = zip(names, models, strict=True)
    show(view, [make_row(name, 80.0, model) for name, model in pairs])
    view.chart.resize(width_px, 300)
    qapp.processEvents()
    state = view.chart.state
    group_px = next(iter(state.layout.groups_between(0, 1))).height_px
    assert (group_px == SINGLE_ROW_PX) is is_one_line
    assert state.names_px <= (0.5 if is_one_line else 0.43) * width_px
    assert state.layout.height_px == 3 * group_px
    if len(set(models)) > 1:
        show(view, [make_row(name, 80.0, model) for name in names for model in ("one", "two")])
        assert state.layout.gap_px == GROUP_GAP_PX, "two bars have the height of two lines"


def test_the_name_of_many_models_stays_in_view(qapp) -> None:
    room, metrics = QRectF(0, -400, 200, 600), QFontMetricsF(qapp.font())
    part = part_in_view(room, QRectF(0, 0, 200, 300), metrics)
    assert (part.top(), part.bottom()) == (0, 200)
    low = part_in_view(room, QRectF(0, 190, 200, 300), metrics)
    assert low.bottom() == 200
    assert low.height() >= chart_items.two_lines_px(metrics)
