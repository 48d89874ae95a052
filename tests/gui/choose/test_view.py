"""The Choose tab in the real window: limits in, options out, the wizard asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.choose import work
from ctm_gui.choose.presenter import CANCELLED, NO_BUDGET, NO_MODEL
from ctm_gui.choose.view import ChooseView
from ctm_gui.window.main_window import MainWindow
from predictor.core.progress import Progress
from predictor.graph.model import Model
from predictor.services.choose.rows import Row, row_of
from predictor.services.devices.catalogue import Catalogue, load_catalogue

MakeModel = Callable[..., Path]
WAIT_MS = 60_000
XAVIER, HAILO = "NVIDIA Jetson AGX Xavier (GPU)", "Hailo-8"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """Every fourth device: the command line and the service choose of all."""
    shipped = load_catalogue()
    return Catalogue(
        device
        for place, device in enumerate(shipped.devices)
        if place % 4 == 0 or device.name in {XAVIER, HAILO}
    )


@pytest.fixture
def view(
    qtbot: QtBot, window: MainWindow, make_model: MakeModel, settle: Callable[..., None]
) -> ChooseView:
    window.open_paths([str(make_model(layers=200))])
    settle(window.workspace)
    window.show_page("choose")
    return window.central.choose_view


def wait(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: window.central.choice.settled, timeout=WAIT_MS)


def limit(qtbot: QtBot, window: MainWindow, view: ChooseView, **values: float) -> None:
    for name, value in values.items():
        getattr(view, f"{name}_box").setValue(value)
    wait(qtbot, window)


def texts(view: ChooseView, column: str) -> list[str]:
    keys = [each.key for each in view.table.grid_model.grid.columns]
    model = view.table.model()
    return [model.index(row, keys.index(column)).data() for row in range(model.rowCount())]


def test_without_model_or_budget_the_tab_says_what_it_wants(
    qtbot: QtBot, window: MainWindow, make_model: MakeModel, settle: Callable[..., None]
) -> None:
    window.show_page("choose")
    view = window.central.choose_view
    assert view.content.message.text() == NO_MODEL
    window.open_paths([str(make_model())])
    settle(window.workspace)
    assert view.content.message.text() == NO_BUDGET


def test_items_a_second_are_of_one_run_or_of_several_at_once(
    qtbot: QtBot, window: MainWindow, view: ChooseView
) -> None:
    limit(qtbot, window, view, rate=100.0)
    assert "meet 100 items/s;" in view.answer.text()
    place = view.runs_box.findText("at once")
    view.runs_box.setCurrentIndex(place)
    view.runs_box.activated.emit(place)
    wait(qtbot, window)
    assert "meet 100 items/s of several runs at once;" in view.answer.text()
    remarks = texts(view, "remark")
    alone = ["items/s of one run after the other" in remark for remark in remarks]
    assert any(alone)
    assert not all(alone)
    assert all(float(text.replace(",", "")) > 0 for text in texts(view, "fps"))


def test_a_budget_ranks_the_devices_and_leaves_that_of_the_answer_alone(
    qtbot: QtBot, window: MainWindow, view: ChooseView, catalogue: Catalogue
) -> None:
    limit(qtbot, window, view, latency=5.0)

    assert "meet 5 ms;" in view.answer.text()
    assert len(texts(view, "device")) > 0.65 * len(catalogue.devices)
    assert texts(view, "chance")[0] == "> 99 %"
    assert window.central.compare_view.budget_box.value() == 0.0
    assert window.settings.get(table.CHOOSE_MS) == 5.0
    count = len(window.workspace.library.by_id())
    assert view.counted.text().endswith(f" of {count} devices have a number")


def test_limits_are_there_in_the_next_session(qtbot: QtBot, window: MainWindow) -> None:
    view = window.central.choose_view
    typed = {view.latency_box: "30", view.power_box: "15", view.memory_box: "512"}
    for box, text in typed.items():
        box.setFocus()
        box.selectAll()
        qtbot.keyClicks(box, text)
        qtbot.keyClick(box, Qt.Key.Key_Return)
    later = ChooseView(window.options, window.central.choice, window.settings)
    qtbot.addWidget(later)
    boxes = (later.latency_box, later.power_box, later.memory_box)
    assert [box.value() for box in boxes] == [30.0, 15.0, 512.0]


def test_the_best_are_compared_against_the_limit(
    qtbot: QtBot, window: MainWindow, view: ChooseView
) -> None:
    limit(qtbot, window, view, latency=5.0)
    before = window.workspace.selection.selected_ids
    options = view.table.grid_model.grid.options[:2]
    view.table.select_rows([0, 1], 0)
    view.compare_button.click()
    assert window.page.id == "compare"
    selected = {d.id: d.configurations[0] for d in window.workspace.selection.selected}
    assert selected.keys() == {option.target.device.id for option in options}
    for option in options:
        chosen = selected[option.target.device.id]
        assert chosen.runtime == option.target.configuration.runtime
    assert window.central.compare_view.budget_box.value() == 5.0
    window.workspace.undo_stack.undo()
    window.workspace.undo_stack.undo()
    assert window.workspace.selection.selected_ids == before


def test_one_of_several_models_may_be_chosen(
    qtbot: QtBot, window: MainWindow, view: ChooseView, make_model: MakeModel,
    settle: Callable[..., None],
) -> None:  # fmt: skip
    window.open_paths([str(make_model("other.onnx"))])
    settle(window.workspace)
    limit(qtbot, window, view, latency=5.0)
    assert view.model_box.count() == 3
    view.model_box.setCurrentText("other.onnx")
    view.model_box.activated.emit(view.model_box.currentIndex())
    assert "Judging" in window.central.choice.message
    wait(qtbot, window)
    assert window.central.choice.chosen.names == ("other.onnx",)


def test_slow_runs_are_judged_and_modes_are_shown(
    qtbot: QtBot, window: MainWindow, view: ChooseView
) -> None:
    limit(qtbot, window, view, latency=5.0, power=12.0)
    modes = dict(zip(texts(view, "device"), texts(view, "mode"), strict=True))
    assert modes[XAVIER] == "10W"
    assert "P99 ms" not in [each.title for each in view.table.grid_model.grid.columns]
    view.percentile_box.setCurrentIndex(view.percentile_box.findData(99))
    view.percentile_box.activated.emit(view.percentile_box.currentIndex())
    wait(qtbot, window)
    assert "meet 5 ms at P99, 12 W;" in view.answer.text()
    assert view.advice.text().startswith("P99 is not known of the best options of ")
    tails = dict(zip(texts(view, "device"), texts(view, "tail"), strict=True))
    assert float(tails[XAVIER]) > 0
    assert tails[HAILO] == "—"


def test_filters_narrow_the_choice_and_what_is_impossible_is_a_sentence(
    qtbot: QtBot, window: MainWindow, view: ChooseView
) -> None:
    limit(qtbot, window, view, latency=5.0, power=10.0)
    first = len(texts(view, "device"))
    view.family_box.setCurrentIndex(view.family_box.findData("mcu"))
    view.family_box.activated.emit(view.family_box.currentIndex())
    wait(qtbot, window)
    assert set(texts(view, "family")) == {"mcu"}
    assert 0 < len(texts(view, "device")) < first
    view.runtime_box.setCurrentIndex(view.runtime_box.findData("tensorrt"))
    view.runtime_box.activated.emit(view.runtime_box.currentIndex())
    wait(qtbot, window)
    assert "supports the configurations that are wanted" in view.content.message.text()
    assert view.table.model().rowCount() == 0


def test_the_measurement_asks_for_the_wizard_with_its_device_ticked(
    qtbot: QtBot, window: MainWindow, view: ChooseView
) -> None:
    limit(qtbot, window, view, latency=1000.0, power=15.0)
    best_ms = min(o.prediction.latency_ms or 1e6 for o in view.table.grid_model.grid.options)
    limit(qtbot, window, view, latency=best_ms / 1.2)
    chosen = window.central.choice.chosen
    assert chosen is not None
    settling = chosen.choice.settling
    assert settling is not None
    assert view.advice.text().startswith("To settle it, measure chain.onnx on ")
    assert view.probe_button.isVisible()
    with qtbot.waitSignal(window.probing_requested):
        QTest.mouseClick(view.probe_button, Qt.MouseButton.LeftButton)
    ticked = [device.id for device in window.workspace.selection.selected]
    assert settling.target.device.id in ticked
    limit(qtbot, window, view, latency=1000.0)
    assert not view.probe_button.isVisible()


def test_a_double_click_shows_the_operators_and_a_hidden_tab_computes_nothing(
    qtbot: QtBot, window: MainWindow, view: ChooseView
) -> None:
    limit(qtbot, window, view, latency=5.0)
    first = view.table.grid_model.grid.options[0].target.device.id
    view.table.row_activated.emit(0)
    assert window.page.id == "why"
    assert first in [device.id for device in window.workspace.selection.selected]
    window.show_page("compare")
    view.latency_box.setValue(7.0)
    assert window.central.choice.settled
    assert window.central.choice.chosen is None


def test_a_choice_says_how_far_it_is_and_is_cancelled_and_asked_for_again(
    qtbot: QtBot, window: MainWindow, make_model: MakeModel, settle: Callable[..., None]
) -> None:
    window.open_paths([str(make_model(f"{name}.onnx", layers=name)) for name in (2, 3, 4, 5)])
    settle(window.workspace)
    choice = window.central.choice
    window.show_page("choose")
    view = window.central.choose_view
    reports: list[Progress | None] = []
    choice.progressed.connect(lambda: reports.append(choice.progress))
    progress = view.progress
    progress.delay.setInterval(0)  # a fast machine is done before it
    view.latency_box.setValue(5.0)
    qtbot.waitUntil(progress.cancel_button.isVisible, timeout=WAIT_MS)
    QTest.mouseClick(progress.cancel_button, Qt.MouseButton.LeftButton)
    assert choice.settled
    assert view.content.message.text() == CANCELLED
    assert not progress.cancel_button.isVisible()
    QTest.mouseClick(progress.again_button, Qt.MouseButton.LeftButton)
    wait(qtbot, window)
    assert not progress.isVisible()
    assert "meet 5 ms with all 4 models" in view.answer.text()
    told = [report for report in reports if report is not None]
    parts = [report.done / report.total for report in told]
    assert all(0 <= part <= 1 for part in parts)
    assert any(0 < part < 1 for part in parts)
    assert {"2 of 4 models judged", "3 of 4 models judged"} <= {each.message for each in told}


def test_another_budget_predicts_nothing_anew(
    qtbot: QtBot, window: MainWindow, view: ChooseView, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(qtbot, window, view, latency=5.0)
    before = texts(view, "device")
    judged: list[object] = []

    def counted(model: Model, *args: Any) -> Row:
        judged.append(model)
        return row_of(model, *args)

    monkeypatch.setattr(work, "row_of", counted)
    limit(qtbot, window, view, power=400.0)
    assert not judged
    assert texts(view, "device") != before
    limit(qtbot, window, view, rate=10.0)  # of larger batches too
    assert len(judged) == 1
