"""Several models in the real window: baseline, budget, scores, what changed, pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, QPoint, QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.compare.matrix import CellValue
from ctm_gui.compare.sweep_view import SweepPlot
from ctm_gui.compare.tabs import (
    CHART_PAGE,
    DIFFERENCE_PAGE,
    MATRIX_PAGE,
    PARETO_PAGE,
    SWEEP_PAGE,
)
from ctm_gui.settings import Settings
from ctm_gui.widgets.table_view import GridView
from ctm_gui.widgets.theme import DARK, LIGHT, Theme
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.records import Precision
from predictor.core.units import LatencyUnit
from tests.gui.conftest import MakeModel
from tests.support.accessible import LEAST_CONTRAST, contrast, nameless, same_keys
from tests.support.what_ifs import ask_what_if


@pytest.fixture
def compared(
    window: MainWindow,
    workspace: Workspace,
    make_model: MakeModel,
    settle: Callable[[Workspace], None],
) -> MainWindow:
    """The window with a chain of two products, one of four, and one of four in another folder."""
    paths = [make_model("two.onnx"), make_model("four.onnx", layers=4)]
    window.open_paths([str(path) for path in paths])
    settle(workspace)
    return window


def turn_to(qtbot: QtBot, window: MainWindow, page: int) -> None:
    tabs = window.central.compare_tabs
    tabs.show_page(page)
    qtbot.waitUntil(lambda: tabs._variants.settled and tabs._difference.settled)


def cell(view: GridView, row: int, key: str) -> QModelIndex:
    grid = view.grid_model.grid
    return view.model().index(row, [column.key for column in grid.columns].index(key))


def click(qtbot: QtBot, view: GridView, index: QModelIndex, *, double: bool = False) -> None:
    place: QPoint = view.visualRect(index).center()
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    if double:
        qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_the_pages_come_with_the_second_model(
    qtbot: QtBot,
    window: MainWindow,
    workspace: Workspace,
    make_model: MakeModel,
    settle: Callable[[Workspace], None],
) -> None:
    tabs = window.central.compare_tabs
    tabs.show_page(MATRIX_PAGE)
    window.open_paths([str(make_model("one.onnx"))])
    settle(workspace)
    assert tabs.offered == ("chart", "sweep")
    assert tabs.pages.currentWidget() is tabs.chart
    window.open_paths([str(make_model("other.onnx", layers=3))])
    settle(workspace)
    qtbot.waitUntil(lambda: tabs.pages.currentWidget() is tabs.matrix)
    # Of one family, by their products; without a score there is no trade-off.
    assert tabs.offered == ("chart", "matrix", "changes", "sweep")
    workspace.shelf.remove([1])
    settle(workspace)
    assert tabs.pages.currentWidget() is tabs.chart


def test_the_baseline_is_chosen_and_cells_show_the_change(
    qtbot: QtBot, compared: MainWindow
) -> None:
    turn_to(qtbot, compared, MATRIX_PAGE)
    view = compared.central.compare_tabs.matrix
    grid = view.table.grid_model
    titles = [column.title for column in grid.grid.columns[2:4]]
    assert titles == ["● two", "four"]
    view.value_box.setCurrentIndex(1)
    assert "+" in cell(view.table, 0, "model 1").data()
    view.baseline_box.setCurrentIndex(1)
    view.baseline_box.activated.emit(1)
    qtbot.waitUntil(lambda: "−" in cell(view.table, 0, "model 0").data())
    assert view.summary.text().startswith("Against four.onnx: two.onnx is faster on 3 of 3")
    assert view.baseline_box.currentText() == "four.onnx"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("value", list(CellValue))
def test_numbers_are_readable_on_every_colour(
    qtbot: QtBot, compared: MainWindow, theme: Theme, value: CellValue
) -> None:
    turn_to(qtbot, compared, MATRIX_PAGE)
    view = compared.central.compare_tabs.matrix
    compared.options.set_theme(theme)
    view.value_box.setCurrentIndex(list(CellValue).index(value))
    model, index = view.table.grid_model, cell(view.table, 0, "model 1")
    for place in np.linspace(-1.0 if value is CellValue.CHANGE else 0.0, 1.0, 41):
        model.grid.heat[1, model.grid.source(0)] = place
        fill, colour = model.fill(index), model.colour(index.row(), index.column())
        assert contrast(fill.name(), colour.name()) >= LEAST_CONTRAST
    assert model.fill(cell(view.table, 0, "device")) is None


def test_hovering_over_a_cell_tells_the_difference(qtbot: QtBot, compared: MainWindow) -> None:
    turn_to(qtbot, compared, MATRIX_PAGE)
    view = compared.central.compare_tabs.matrix
    assert "Against two.onnx" in view.table.tooltip_text(cell(view.table, 0, "model 1"))
    assert "Against" not in view.table.tooltip_text(cell(view.table, 0, "device"))


def test_a_budget_of_the_matrix_is_that_of_the_window(qtbot: QtBot, compared: MainWindow) -> None:
    turn_to(qtbot, compared, MATRIX_PAGE)
    view = compared.central.compare_tabs.matrix
    view.budget_box.setValue(5.0)
    assert compared.central.compare_view.budget_box.value() == 5.0
    assert compared.settings.get(table.BUDGET_MS) == 5.0
    sentence = cell(view.table, 0, "fastest").data()
    assert sentence.startswith("two.onnx is the fastest that meets 5 ms: ")
    assert sentence.endswith("(2 of 2 models meet it)")


def test_a_narrow_matrix_has_every_number_and_the_answer_below(
    qtbot: QtBot, compared: MainWindow, make_model: MakeModel, settle: Callable[[Workspace], None]
) -> None:
    names = [f"an_efficient_network_of_int8_{each}.onnx" for each in range(2)]
    compared.workspace.open_paths([str(make_model(name)) for name in names])
    settle(compared.workspace)
    compared.resize(1024, 700)
    turn_to(qtbot, compared, MATRIX_PAGE)
    view = compared.central.compare_tabs.matrix
    qtbot.waitUntil(view.answer.isVisible)
    qtbot.waitUntil(lambda: view.table.horizontalScrollBar().maximum() == 0)
    assert view.table.isColumnHidden(view.table.grid_model.columnCount() - 1)
    target = view.table.grid_model.grid.source(1)
    view.table.select_rows([target], target)
    device = compared.workspace.comparison.targets[target].device.name
    assert view.answer.text().startswith(f"{device}: ")
    assert view.answer.text().endswith(view.table.grid_model.grid.columns[-1].text(target))
    view.table.search_box.setText("no such device")
    assert not view.answer.isVisible()
    view.table.search_box.clear()

    compared.resize(1700, 700)
    qtbot.waitUntil(lambda: not view.answer.isVisible())
    assert not view.table.isColumnHidden(view.table.grid_model.columnCount() - 1)
    compared.resize(1024, 700)
    qtbot.waitUntil(view.answer.isVisible)
    qtbot.waitUntil(lambda: view.table.horizontalScrollBar().maximum() == 0)


def test_a_double_click_on_a_cell_shows_what_changed(qtbot: QtBot, compared: MainWindow) -> None:
    turn_to(qtbot, compared, MATRIX_PAGE)
    tabs = compared.central.compare_tabs
    click(qtbot, tabs.matrix.table, cell(tabs.matrix.table, 1, "model 1"), double=True)
    assert tabs.index == DIFFERENCE_PAGE
    qtbot.waitUntil(lambda: tabs._difference.difference is not None)
    view = tabs.difference
    assert (
        view.summary.text() == "From two.onnx to four.onnx: 2 added, 0 removed, 0 changed, 2 same"
    )
    second = compared.workspace.comparison.targets[1].device.name
    assert view.target_label.text() == f"Times on {second}"
    view.change_box.setCurrentIndex(1)
    assert [cell(view.table, row, "change").data() for row in range(2)] == ["added"] * 2
    assert view.table.model().rowCount() == 2
    view.exchange_button.click()
    qtbot.waitUntil(lambda: "From four.onnx to two.onnx: 0 added, 2 removed" in view.summary.text())
    view.targets.select_rows([0], 0)
    first = compared.workspace.comparison.targets[0].device.name
    assert view.target_label.text() == f"Times on {first}"
    # What is worked out while another page is looked at is there when one comes back.
    turn_to(qtbot, compared, SWEEP_PAGE)
    view.exchange_button.click()
    tabs.show_page(DIFFERENCE_PAGE)
    tabs.show_page(SWEEP_PAGE)
    turn_to(qtbot, compared, DIFFERENCE_PAGE)
    assert view.summary.text().startswith("From two.onnx to four.onnx: ")
    assert "—" not in [cell(view.targets, row, "before").data() for row in range(3)]


def type_score(qtbot: QtBot, window: MainWindow, row: int, text: str, shown: str) -> None:
    """Type a score into the table and wait until the table shows it."""
    view = window.central.compare_tabs.pareto.table
    view.setFocus()
    view.setCurrentIndex(cell(view, row, "score"))
    view.edit(cell(view, row, "score"))
    (editor,) = [found for found in view.findChildren(QLineEdit) if found.isVisible()]
    editor.selectAll()
    qtbot.keyClicks(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: view.state() is view.State.NoState)
    qtbot.waitUntil(lambda: cell(view, row, "score").data() == shown)


def test_scores_are_typed_drawn_saved_and_remembered(
    qtbot: QtBot, compared: MainWindow, workspace: Workspace, tmp_path: Path
) -> None:
    turn_to(qtbot, compared, PARETO_PAGE)
    view = compared.central.compare_tabs.pareto
    assert "Type a score" in view.summary.text()
    assert not view.plot.isVisible(), "axes without a point say nothing"
    type_score(qtbot, compared, 0, "71,5", "71.5")
    type_score(qtbot, compared, 1, "75.5 %", "75.5")
    qtbot.waitUntil(lambda: view.summary.text() == "2 on the front, 0 dominated")
    type_score(qtbot, compared, 1, "70", "70")
    qtbot.waitUntil(lambda: view.summary.text() == "1 on the front, 1 dominated")
    type_score(qtbot, compared, 1, "good", "70")
    view.higher_box.click()
    qtbot.waitUntil(lambda: view.summary.text() == "2 on the front, 0 dominated")
    axes = (view.plot.canvas.getAxis("bottom"), view.plot.canvas.getAxis("left"))
    assert [axis.autoSIPrefixScale for axis in axes] == [1.0, 1.0]  # ticks as the labels say
    compared.options.set_theme(DARK)
    view.plot.save(tmp_path / "p.svg")
    assert "two" in "".join(ET.parse(tmp_path / "p.svg").getroot().itertext())  # noqa: S314
    view.plot.save(tmp_path / "p.png")
    assert not QImage(str(tmp_path / "p.png")).isNull()
    compared.settings.sync()
    assert len(Settings(tmp_path / "window.ini").get(table.SCORES)) == 2
    model = workspace.comparison.models[0]
    place = view.plot.canvas.mapFromScene(
        view.plot._box.mapToScene(*view.plot.points_px()[0]).toPoint()
    )
    assert view.plot.point_at(place.toPointF()) == 0
    assert model.label in view.plot.tooltip_at(place.toPointF())
    placed = np.argsort(view.plot._points.values).tolist()
    qtbot.keyClick(view.plot, Qt.Key.Key_Left)
    assert view.table.current_row() == placed[0]
    qtbot.keyClick(view.plot, Qt.Key.Key_Right)
    assert view.table.current_row() == view.plot._current == placed[1]
    qtbot.keyClick(view.plot, Qt.Key.Key_Right)
    assert view.plot._current == placed[1], "there is no slower one"


def test_a_score_that_is_being_typed_survives_a_new_comparison(
    qtbot: QtBot, compared: MainWindow, workspace: Workspace, settle: Callable[[Workspace], None]
) -> None:
    turn_to(qtbot, compared, PARETO_PAGE)
    view = compared.central.compare_tabs.pareto.table
    view.edit(cell(view, 1, "score"))
    (editor,) = [found for found in view.findChildren(QLineEdit) if found.isVisible()]
    qtbot.keyClicks(editor, "42")
    workspace.shelf.remove([0])
    workspace.undo_stack.undo()
    ask_what_if(workspace, threads=2)
    settle(workspace)
    qtbot.waitUntil(lambda: compared.central.compare_tabs._variants.settled)
    assert editor.isVisible()
    assert editor.text() == "42"
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: cell(view, 1, "score").data() == "42")


def test_int8_of_float_models_is_said_where_the_numbers_are(
    compared: MainWindow, workspace: Workspace, settle: Callable[[Workspace], None]
) -> None:
    ask_what_if(workspace, precision=Precision.INT8)
    settle(workspace)
    noted = [row for row in workspace.comparison.rows if row.notes]
    assert noted
    assert all(row.prediction.latency_ms is not None for row in noted)
    assert (
        "assumes that the whole model is quantised" in compared.central.compare_view.summary.text()
    )
    remarks = compared.central.compare_view.table.grid_model.grid
    column = next(column for column in remarks.columns if column.key == "remarks")
    assert any("INT8 assumes" in column.text(row) for row in range(remarks.count))


def test_pages_are_turned_by_keys_and_remembered(
    qtbot: QtBot, compared: MainWindow, tmp_path: Path
) -> None:
    with qtbot.waitActive(compared):
        compared.activateWindow()
    compared.central.compare_view.table.setFocus()
    qtbot.keyClick(compared, Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
    assert compared.central.compare_tabs.index == MATRIX_PAGE
    assert compared.settings.get(table.COMPARE_MODE) == MATRIX_PAGE


def test_every_page_names_its_controls_and_has_keys_of_its_own(
    qtbot: QtBot, compared: MainWindow
) -> None:
    wrong = {}
    for page in (CHART_PAGE, MATRIX_PAGE, PARETO_PAGE, DIFFERENCE_PAGE, SWEEP_PAGE):
        turn_to(qtbot, compared, page)
        wrong[page] = same_keys(compared)
    assert nameless(compared.central.compare_tabs) == []
    assert not {page: found for page, found in wrong.items() if found}


def test_the_sweep_of_one_pair_follows_choice_and_unit(qtbot: QtBot, compared: MainWindow) -> None:
    turn_to(qtbot, compared, SWEEP_PAGE)
    tabs = compared.central.compare_tabs
    view = tabs.sweep
    qtbot.waitUntil(lambda: bool(tabs._sweep.sweeps))
    assert view.batch_plot.isVisible()
    assert "batch 64" in view.batch_plot.accessibleDescription()
    first = tabs._sweep.sweeps
    qtbot.keyClick(view.pair.model_box, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: bool(tabs._sweep.sweeps) and tabs._sweep.sweeps is not first)
    assert tabs._sweep.choice == (1, 0)
    assert compared.central.explanation.choice == (1, 0), "the pair of every page"
    assert view.pair.sentence.text().startswith("Most items a second at batch")
    assert hover(view.batch_plot, 0).startswith("batch 1\n")
    view.batch_plot.setFocus()
    assert view.words.text().startswith("batch 1, ")
    qtbot.keyClick(view.batch_plot, Qt.Key.Key_Left)
    qtbot.keyClick(view.batch_plot, Qt.Key.Key_Right)
    assert view.words.text() == hover(view.batch_plot, 1).replace("\n", ", ")
    view.batch_plot.grab()
    view.batch_plot.choose_at(QPointF(-50, -50))
    assert view.words.text().startswith("Band: ")
    compared.options.set_unit(LatencyUnit.FPS)
    assert "FPS" in hover(view.batch_plot, 0)
    tabs.show_page(CHART_PAGE)
    chart = compared.central.compare_view.table
    click(qtbot, chart, cell(chart, 2, "latency"))
    tabs.show_page(SWEEP_PAGE)
    pair = compared.workspace.comparison.pair_of(chart.current_row())
    assert (view.pair.model_box.currentIndex(), view.pair.target_box.currentIndex()) == pair
    assert pair != (1, 0)
    for row in (1, 0):
        compared.models_panel.set_current_row(row)
    assert view.pair.model_box.currentIndex() == 0, "the model that is selected at the left"


def hover(plot: SweepPlot, place: int) -> str:
    scene = plot._box.mapToScene(QPointF(*plot.points_px()[place]))
    return plot.tooltip_at(QPointF(plot.canvas.mapFromScene(scene)))


def test_a_folder_with_a_bad_file_predicts_the_rest(
    window: MainWindow,
    workspace: Workspace,
    make_model: MakeModel,
    settle: Callable[[Workspace], None],
    tmp_path: Path,
) -> None:
    for name in ("models/a.onnx", "models/deep/b.onnx"):
        make_model(name)
    (tmp_path / "models" / "bad.onnx").write_text("this is no model")
    window.open_paths([str(tmp_path / "models"), str(tmp_path / "models" / "*.onnx")])
    settle(workspace)
    assert [entry.name for entry in workspace.shelf.entries] == ["a.onnx", "bad.onnx", "b.onnx"]
    assert [compared.label for compared in workspace.comparison.models] == ["a.onnx", "b.onnx"]


def test_a_device_is_a_row_whose_further_configurations_open_under_it_and_take_its_place(
    qtbot: QtBot, compared: MainWindow, workspace: Workspace, settle: Callable[[Workspace], None]
) -> None:
    device = next(d for d in workspace.selection.selected if len(d.configurations) > 1)
    view, tabs = compared.central.compare_view, compared.central.compare_tabs
    rows, sentence = len(workspace.comparison.rows), view.summary.text()
    grid = view.table.grid_model.grid
    place = next(p for p, row in enumerate(grid.order.tolist())
                 if grid.rows[row].prediction.device_id == device.id)  # fmt: skip
    click(qtbot, view.table, cell(view.table, place, "device"))
    qtbot.waitUntil(lambda: view.table.model().rowCount() > rows)
    qtbot.waitUntil(lambda: tabs.settled)
    grid = view.table.grid_model.grid
    assert cell(view.table, place, "device").data().startswith("▾ ")
    assert cell(view.table, place + 1, "device").data().strip().startswith("└ ")
    assert view.summary.text() == sentence, "of the first configurations alone"
    assert len(workspace.comparison.rows) == rows

    wanted = grid.rows[int(grid.order[place + 1])].prediction.configuration
    view.table.row_activated.emit(int(grid.order[place + 1]))
    settle(workspace)
    chosen = workspace.selection.configuration_of(workspace.selection.catalogue.by_id[device.id])
    assert (chosen.runtime, chosen.precision) == (wanted.runtime, wanted.precision)


def test_an_uncertain_row_leads_to_the_wizard(qtbot: QtBot, compared: MainWindow) -> None:
    view = compared.central.compare_view
    index = cell(view.table, 0, "surer")
    assert index.data() == "Make It Surer…"
    with qtbot.waitSignal(compared.probing_requested):
        view.table.clicked.emit(index)
