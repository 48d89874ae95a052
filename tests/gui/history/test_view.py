"""The History tab of the real window: real keys and clicks on a real store."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialogButtonBox,
    QFileDialog,
    QLineEdit,
    QPushButton,
)
from pytestqt.qtbot import QtBot

from ctm_gui.history.past_view import PastModel
from ctm_gui.history.truth_dialog import TruthDialog
from ctm_gui.history.view import HistoryView
from ctm_gui.widgets.theme import DARK
from ctm_gui.widgets.view_options import ViewOptions
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.prediction import Prediction
from predictor.core.records import Basis
from predictor.core.units import LatencyUnit
from predictor.services.devices.catalogue import Catalogue
from predictor.services.history.history import open_history
from predictor.services.history.past_predictions import NewTruth
from predictor.services.models.ingestion import IngestionWorker
from tests.support.past_predictions import DEVICES, predictions_of, small_model

LEFT = Qt.MouseButton.LeftButton
WAIT_MS = 30_000
NET, OTHER = small_model(), small_model("other.onnx", macs=5 * 10**8)


@pytest.fixture(autouse=True)
def stored(tmp_path: Path, own_folders: None) -> Path:
    """A store with two models on two targets, before the window opens it."""
    path = tmp_path / "store" / "store.db"
    with open_history(path) as history:
        history.record([NET, OTHER], predictions_of(NET, OTHER))
    return path


@pytest.fixture
def view(window: MainWindow, qtbot: QtBot) -> HistoryView:
    window.resize(1300, 850)
    window.show_page("history")
    view = window.central.history_view
    qtbot.waitUntil(lambda: view.is_built and len(view.presenter.data) == 4, timeout=WAIT_MS)
    return view


def test_the_tab_may_be_looked_at_before_the_store_is_open(
    qtbot: QtBot, catalogue: Catalogue, ingestion: IngestionWorker, stored: Path
) -> None:
    workspace = Workspace(catalogue, (), ingestion, partial(open_history, stored))
    view = HistoryView(ViewOptions(), workspace.history, workspace.projects)
    qtbot.addWidget(view)
    view.show()
    qtbot.waitUntil(lambda: view.is_built)
    workspace.recorder.open()
    qtbot.waitUntil(lambda: len(workspace.history.data) == 4, timeout=WAIT_MS)
    assert workspace.messages.error_count == 0
    workspace.close()


@pytest.fixture
def settled(view: HistoryView, qtbot: QtBot) -> Callable[[], None]:
    """Wait until the view shows what the store holds."""

    def wait() -> None:
        qtbot.waitUntil(lambda: not view.presenter.busy and not view.projects.busy, timeout=WAIT_MS)

    return wait


def cell(view: HistoryView, place: int, key: str) -> str:
    grid = view.table.grid_model.grid
    return {c.key: c.text(grid.source(place)) for c in grid.columns}[key]


def column(view: HistoryView, key: str) -> list[str]:
    return [cell(view, place, key) for place in range(view.table.grid_model.rowCount())]


def choose(view: HistoryView, model: str, device: str) -> int:
    """Select the row of a model on a device, and return where it is shown."""
    rows = view.presenter.data.rows
    (row,) = [
        number
        for number, r in enumerate(rows)
        if (r.stored.prediction.model, r.stored.prediction.device_id) == (model, device)
    ]
    view.table.select_rows([row], row)
    return row


def record(view: HistoryView, qtbot: QtBot, value: str, settled: Callable[[], None]) -> None:
    qtbot.mouseClick(view.record_button, LEFT)
    dialog = view.truth_dialog
    qtbot.keyClicks(dialog.value_box, value)
    qtbot.keyClicks(dialog.note_box, "15 W")
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    settled()


def test_every_prediction_is_listed_the_newest_first(view: HistoryView) -> None:
    assert sorted(zip(column(view, "model"), column(view, "device"), strict=True)) == [
        ("net.onnx", "fast"), ("net.onnx", "slow"), ("other.onnx", "fast"), ("other.onnx", "slow")
    ]  # fmt: skip
    assert view.summary.text().startswith("4 predictions of ")
    assert view.summary.text().endswith("; nothing measured yet.")
    assert not view.truth.isVisible()
    assert not view.warning.isVisible()
    assert view.table.isColumnHidden(
        [c.key for c in view.table.grid_model.grid.columns].index("interval")
    )


def test_what_is_predicted_now_joins_the_list(
    view: HistoryView,
    window: MainWindow,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    qtbot: QtBot,
) -> None:
    window.open_paths([str(make_model("new.onnx"))])
    settle(window.workspace)
    qtbot.waitUntil(lambda: "new.onnx" in column(view, "model"), timeout=WAIT_MS)


def test_filters_leave_rows_out(view: HistoryView, qtbot: QtBot) -> None:
    bar = view.filter_bar
    qtbot.keyClicks(view.table.search_box, "net slow")
    assert column(view, "model") == ["net.onnx"]
    assert view.table.matches.text() == "1 of 4"
    view.table.search_box.clear()
    bar.device_box.setCurrentText("fast")
    bar.device_box.activated.emit(bar.device_box.currentIndex())
    assert set(column(view, "device")) == {"fast"}
    bar.measured_box.click()
    assert view.table.grid_model.rowCount() == 0
    assert not view.compare_button.isEnabled()


def test_tags_and_notes_are_typed_in_the_table_and_undone(
    view: HistoryView, window: MainWindow, qtbot: QtBot, settled: Callable[[], None]
) -> None:
    choose(view, "net.onnx", "fast")
    view.table.setFocus()
    qtbot.keyClick(view.table, Qt.Key.Key_F2)
    assert view.table.state() is QAbstractItemView.State.EditingState
    editor = view.table.findChild(QLineEdit)
    qtbot.keyClicks(editor, "release 2, ")
    view.presenter.set_note(choose(view, "other.onnx", "slow"), "came meanwhile")
    settled()
    qtbot.keyClicks(editor, "board")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    settled()
    qtbot.waitUntil(lambda: column(view, "tags").count("release 2, board") == 1)
    assert column(view, "note").count("came meanwhile") == 1
    assert [view.filter_bar.tag_box.itemText(i) for i in (1, 2)] == ["board", "release 2"]
    view.table.grid_model.edited.emit(choose(view, "net.onnx", "fast"), "note", "  warm  ")
    settled()
    assert column(view, "note").count("warm") == 1
    for _ in range(3):
        window.workspace.library_stack.undo()
    settled()
    assert set(column(view, "note") + column(view, "tags")) == {""}


def test_a_tag_that_is_too_long_is_told_and_nothing_is_changed(
    view: HistoryView, window: MainWindow, settled: Callable[[], None]
) -> None:
    view.presenter.set_tags(0, "x" * 41)
    view.presenter.set_note(0, "x" * 2001)
    settled()
    assert window.workspace.messages.error_count == 2
    assert set(column(view, "tags")) == {""}


def test_a_measured_latency_is_recorded_shown_and_undone(
    view: HistoryView, window: MainWindow, qtbot: QtBot, settled: Callable[[], None]
) -> None:
    row = choose(view, "net.onnx", "slow")
    said = view.presenter.data.rows[row].stored.prediction.latency_ms
    assert said is not None
    record(view, qtbot, f"{said / 1.25:.6f}", settled)
    assert cell(view, view.table.grid_model.grid.positions([row])[0], "error") == "+25 %"
    assert view.truth.isVisible()
    assert view.summary.text().endswith("1 measured latency, median error 25 %.")
    assert view.errors.grid_model.grid.columns[1].text(0) == "1"
    assert "Note: 15 W" in tooltip_of_first_point(view)
    window.workspace.library_stack.undo()
    settled()
    assert not view.truth.isVisible()
    window.actions_by_id["redo"].trigger()
    settled()
    assert len(view.presenter.data.pairs) == 1


def tooltip_of_first_point(view: HistoryView) -> str:
    plot = view.plot
    x, y = plot.points_px()[0]
    scene = plot._box.mapToScene(QPointF(x, y))
    return plot.tooltip_at(QPointF(plot.canvas.mapFromScene(scene)))


def test_the_dialog_takes_only_a_latency(view: HistoryView, qtbot: QtBot) -> None:
    choose(view, "net.onnx", "slow")
    dialog = view.record()
    assert isinstance(dialog, TruthDialog)
    save = dialog.buttons.buttons()[0]
    assert not save.isEnabled()
    qtbot.keyClicks(dialog.value_box, "2,5")
    assert not save.isEnabled()
    assert "decimals with a point" in dialog.problem.text()
    dialog.value_box.setText("10")
    dialog.unit_box.setCurrentText("FPS")
    assert save.isEnabled()
    assert dialog.problem.text().startswith("The prediction is ")
    dialog.reject()


def test_many_surprises_are_warned_about(
    view: HistoryView, stored: Path, settled: Callable[[], None]
) -> None:
    with open_history(stored) as history:
        found = [p for p in history.past.read(10).predictions if p.prediction.device_id == "slow"]
        with history.database.transaction() as connection:
            connection.execute(
                "UPDATE predictions SET low80_ms = 0.9 * latency_ms, high80_ms = 1.1 * latency_ms"
            )
        for p in (*found, *found):
            assert p.prediction.latency_ms
            history.past.add_truth(p, NewTruth(str(p.prediction.latency_ms * 2)))
    view.presenter.read()
    settled()
    assert view.warning.isVisible()
    assert view.warning.text() == (
        "slow, pytorch, fp32: 4 of the last 4 measured latencies lie outside the 80 % interval of "
        "roofline/1 (analytic). About 0.8 would be usual; so many come by chance in one of 625 "
        "cases. The device is slower than predicted: probe it again."
    )
    assert not view.table.isColumnHidden(
        [c.key for c in view.table.grid_model.grid.columns].index("interval")
    )


def test_deleted_rows_come_back(
    view: HistoryView, window: MainWindow, qtbot: QtBot, settled: Callable[[], None]
) -> None:
    choose(view, "other.onnx", "fast")
    view.table.setFocus()
    qtbot.keyClick(view.table, Qt.Key.Key_Delete)
    settled()
    assert len(view.presenter.data) == 3
    assert window.actions_by_id["undo"].text() == "&Undo Delete other.onnx"
    window.workspace.library_stack.undo()
    settled()
    assert len(view.presenter.data) == 4


def test_changes_in_a_window_of_their_own(
    view: HistoryView, qtbot: QtBot, settled: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The targets of the store are of no catalogue: the tests' own stand in for it.
    monkeypatch.setattr(view.presenter, "_devices", lambda: DEVICES)
    with qtbot.waitSignal(view.presenter.compared, timeout=WAIT_MS):
        qtbot.mouseClick(view.compare_button, LEFT)
    assert "of 4 as they were" in view.changes.heading.text()
    model = view.changes.table.model()
    assert model.rowCount() == 4
    assert {model.index(row, 2).data() for row in range(4)} == set(column(view, "latency"))
    assert all(float(model.index(row, 3).data()) > 0 for row in range(4))
    view.changes.close()
    monkeypatch.setattr(view.presenter, "_devices", dict)
    with qtbot.waitSignal(view.presenter.compared, timeout=WAIT_MS):
        view.compare()
    assert view.changes.heading.text() == "4 cannot be predicted now."
    view.changes.close()


def test_now_is_predicted_with_what_was_measured_since(
    view: HistoryView, qtbot: QtBot, settled: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view.presenter, "_devices", lambda: DEVICES)

    def now_of_other() -> Prediction:
        rows = [
            i
            for i, row in enumerate(view.presenter.data.rows)
            if row.stored.prediction.model == "other.onnx"
            and row.stored.prediction.device_id == "fast"
        ]
        with qtbot.waitSignal(view.presenter.compared, timeout=WAIT_MS) as told:
            view.presenter.compare(rows)
        (entry,) = told.args[0]
        return entry.today

    before = now_of_other()
    assert before.basis is Basis.ZERO_SHOT
    net = view.presenter.data.rows[choose(view, "net.onnx", "fast")].stored
    assert net.prediction.latency_ms is not None
    view.presenter.add_truth(net, NewTruth(str(net.prediction.latency_ms * 5)))
    settled()
    after = now_of_other()
    assert after.basis is Basis.PROBED
    assert after.latency_ms != before.latency_ms


def test_a_model_that_is_gone_is_not_opened(
    view: HistoryView, window: MainWindow, qtbot: QtBot, settled: Callable[[], None]
) -> None:
    choose(view, "net.onnx", "fast")
    qtbot.mouseClick(view.open_button, LEFT)
    settled()
    assert "no longer there" in window.workspace.messages.messages[-1].text
    assert not window.workspace.shelf.entries


def test_a_model_is_opened_again_with_its_dimensions(
    view: HistoryView,
    window: MainWindow,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    qtbot: QtBot,
) -> None:
    workspace = window.workspace
    window.open_paths([str(make_model("free.onnx", batch="n"))])
    settle(workspace)
    workspace.shelf.bind(0, "n", 3)
    settle(workspace)
    qtbot.waitUntil(
        lambda: any(text.endswith("batch 3") for text in column(view, "configuration")),
        timeout=WAIT_MS,
    )
    workspace.shelf.remove([0])
    place = [t.endswith("batch 3") for t in column(view, "configuration")].index(True)
    view.presenter.open_again(view.table.grid_model.grid.source(place))
    qtbot.waitUntil(lambda: bool(workspace.shelf.entries), timeout=WAIT_MS)
    settle(workspace)
    (entry,) = workspace.shelf.entries
    assert entry.model is not None
    assert [d.value for d in entry.model.dynamic] == [3]


def test_compare_offers_to_record_what_was_measured(
    window: MainWindow,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    qtbot: QtBot,
) -> None:
    workspace, table = window.workspace, window.central.compare_view.table
    window.open_paths([str(make_model("new.onnx"))])
    settle(workspace)
    table.select_rows([0], 0)
    menu = table.copy_menu()
    (action,) = [a for a in menu.actions() if a.text() == "I Measured This Model Here…"]
    with qtbot.waitSignal(workspace.history.truth_requested, timeout=WAIT_MS):
        action.trigger()
    dialog = window.central.history_view.truth_dialog
    predicted_ms = workspace.comparison.rows[0].prediction.latency_ms
    assert predicted_ms is not None
    save = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
    dialog.value_box.setText(str(predicted_ms * 1001))
    assert "more than 1000 times off the prediction" in dialog.problem.text()
    assert not save.isEnabled()
    dialog.value_box.setText(str(predicted_ms * 2))
    assert save.isEnabled()
    dialog.accept()
    menu.close()
    qtbot.waitUntil(lambda: not workspace.history.busy, timeout=WAIT_MS)
    window.show_page("history")
    qtbot.waitUntil(lambda: len(workspace.history.data.pairs) == 1, timeout=WAIT_MS)
    (pair,) = workspace.history.data.pairs
    assert pair.predicted.prediction.model == "new.onnx"
    assert pair.measured_ms == pytest.approx(predicted_ms * 2)


def choose_file(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    for name in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, name, lambda *_: (str(path), ""))


def test_a_project_goes_out_and_comes_back_with_its_conflicts_shown(
    view: HistoryView,
    window: MainWindow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settled: Callable[[], None],
    qtbot: QtBot,
) -> None:
    file = tmp_path / "team.ctmproject"
    choose_file(monkeypatch, file)
    view.presenter.set_tags(0, "theirs")
    settled()
    view.project_button.export_all()
    settled()
    assert file.exists()
    view.presenter.set_tags(0, "mine")
    settled()
    window.open_paths([str(file)])  # as a drop does
    settled()
    dialog = view.conflicts
    assert dialog is not None
    assert [dialog.table.item(0, c).text() for c in (0, 2, 3)] == [
        "tags and note", "mine; no note", "theirs; no note"
    ]  # fmt: skip
    assert dialog.boxes[0].currentText() == "Keep mine"
    buttons = list(dialog.all_buttons.values())
    qtbot.mouseClick(buttons[2], LEFT)
    assert dialog.boxes[0].currentText() == "Join both"
    dialog.accept()
    settled()
    qtbot.waitUntil(lambda: column(view, "tags").count("mine, theirs") == 1, timeout=WAIT_MS)
    assert not view.progress.isVisible()


def test_a_file_that_is_no_project_is_told(
    view: HistoryView, window: MainWindow, tmp_path: Path, settled: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "x").write_text("no project")
    choose_file(monkeypatch, tmp_path / "x")
    view.project_button.import_file()
    settled()
    assert "it is no project file" in window.workspace.messages.messages[-1].text


def test_units_themes_copies_and_saved_plots(
    view: HistoryView,
    window: MainWindow,
    qtbot: QtBot,
    tmp_path: Path,
    settled: Callable[[], None],
) -> None:
    choose(view, "net.onnx", "slow")
    record(view, qtbot, "20", settled)
    window.options.set_unit(LatencyUnit.FPS)
    assert "50" in column(view, "measured")
    window.options.set_theme(DARK)
    view.table.clearSelection()
    view.table.copy_as_csv()
    text = QGuiApplication.clipboard().text()
    assert text.splitlines()[0].startswith("Model,Predicted (FPS),Device,Configuration")
    assert len(text.splitlines()) == 5
    for name in ("plot.svg", "plot.png"):
        view.plot.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    assert "Predicted rate (FPS)" in (tmp_path / "plot.svg").read_text()


def test_an_empty_history_says_what_to_do(
    view: HistoryView, settled: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([], ""))
    view.presenter.delete(range(4))
    settled()
    assert view._stack.currentIndex() == 0
    assert "Drop a model" in view._stack.message.text()
    # Nothing that works on rows looks alive without them; a project can be opened.
    assert view.filter_bar.isHidden()
    assert not view.compare_button.isVisibleTo(view)
    assert view.project_button.isVisibleTo(view)
    asked: list[str] = []
    view.open_requested.connect(lambda: asked.append("files"))
    (ask,) = [each for each in view.findChildren(QPushButton) if each.text() == "Open &Models…"]
    ask.click()
    assert asked == ["files"]
    assert isinstance(view.table.grid_model, PastModel)


def test_where_nothing_is_measured_a_button_measures_this_pc(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_page("measured")
    view, devices = window.central.measured_view, window.central.devices_view
    assert not view.table.search_box.isVisibleTo(view)
    assert view.first_probe_button.isVisibleTo(view)
    measured: list[str] = []
    monkeypatch.setattr(devices.machine, "measure", lambda: measured.append("this PC"))
    view.machine_button.click()
    assert window.page.id == "devices"
    qtbot.waitUntil(lambda: devices.is_built)
    assert measured == ["this PC"] * (window.workspace.library.machine is not None)


def test_ctrl_f_searches_in_the_history(view: HistoryView, window: MainWindow) -> None:
    view.table.setFocus()
    window.search()
    assert view.table.search_box.hasFocus()
