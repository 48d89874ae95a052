"""The page of a load in the real window: files in, an answer out, fields, boxes, sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.loads.box_form_view import BoxForm, CostForm, SimulationForm
from ctm_gui.loads.form_view import StageForm, StreamForm
from ctm_gui.loads.presenter import ASK_AGAIN, CANCELLED, NO_LOAD, NOT_RIGHT
from ctm_gui.loads.view import LoadView
from ctm_gui.prediction.comparison import Comparison
from ctm_gui.report.presenter import ReportPresenter, ReportSubject
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.errors import InputError
from predictor.core.units import LatencyUnit
from predictor.presentation.report import SectionId
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.loads.answers import Answer
from predictor.services.loads.boxes import all_boxes, box_of_load
from predictor.services.loads.choice import BoxChoice
from predictor.services.loads.draft import LoadDraft
from predictor.services.loads.load_file import load_of_tables, read_load
from tests.support.accessible import faint, nameless, out_of_order, out_of_reach, same_keys

MakeModel = Callable[..., Path]
WAIT_MS = 60_000
LOAD = """\
[box]
id = "jetson-orin-nx-16gb"
mode = "25W"

[[stream]]
name = "camera"
count = 2
rate = 15
deadline_ms = 100

[[stream.stage]]
name = "detect"
model = "chain.onnx"
unit = "gpu"

[[stream.stage]]
name = "classify"
model = "chain.onnx"
unit = "gpu"
per_item = 3

[simulation]
items = 1000
draws = 10
"""
BOX = """\
{"schema": "ctm-box/1", "id": "mine", "name": "My box", "units": {"gpu": {"device": "rtx3060"}},
 "power_w": 300}
"""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """The devices of all boxes, and a few more."""
    shipped = load_catalogue()
    of_boxes = {u.device.id for box in all_boxes(shipped) for u in box.units.values()}
    return Catalogue(
        device
        for place, device in enumerate(shipped.devices)
        if device.id in of_boxes or place % 25 == 0
    )


@pytest.fixture
def load_file(make_model: MakeModel, tmp_path: Path) -> Path:
    make_model(layers=30)
    path = tmp_path / "two.toml"
    path.write_text(LOAD, encoding="utf-8")
    return path


@pytest.fixture
def view(
    qtbot: QtBot,
    window: MainWindow,
    load_file: Path,
    drop_files: Callable[[MainWindow, list[Path]], None],
) -> LoadView:
    """The page after a load file was dropped on the window."""
    window.resize(1400, 900)
    drop_files(window, [load_file])
    assert window.page.id == "load"
    wait(qtbot, window)
    return window.central.load_view


def draft_of(window: MainWindow) -> LoadDraft:
    draft = window.central.load.draft
    assert draft is not None
    return draft


def answer_of(window: MainWindow) -> Answer:
    answer = window.central.load.answer
    assert answer is not None
    return answer


def choice_of(window: MainWindow) -> BoxChoice:
    choice = window.central.load.choice
    assert choice is not None
    return choice


def wait(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: window.central.load.settled, timeout=WAIT_MS)


def cells(view: LoadView, table_name: str, column: str) -> list[str]:
    grid = getattr(view.editor, table_name)
    keys = [entry.key for entry in grid.grid_model.grid.columns]
    model = grid.model()
    return [model.index(row, keys.index(column)).data() for row in range(model.rowCount())]


def type_into(field: QWidget, text: str) -> None:
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def choose(box: QComboBox, text: str) -> None:
    place = box.findText(text, Qt.MatchFlag.MatchStartsWith)
    box.setCurrentIndex(place)
    box.activated.emit(place)


def click(button: QWidget) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_without_a_load_the_page_says_what_it_wants(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    window.show_page("load")
    view = window.central.load_view
    assert view.content.message.text() == NO_LOAD
    assert not view.save_button.isEnabled()
    titles = [action.text() for action in view.examples_button.menu().actions()]
    assert titles == ["Drone", "Four cameras", "Kiosk"]
    qtbot.waitUntil(lambda: view.box_box.count() > 10, timeout=WAIT_MS)
    path = tmp_path / "no.toml"
    path.write_text("rate =", encoding="utf-8")
    with qtbot.waitSignal(window.central.load.failed) as refused:
        window.open_paths([str(path)])
    assert "it is no TOML" in str(refused.args[0])
    assert view.content.message.text() == NO_LOAD
    path.write_text(LOAD.replace("chain.onnx", "gone.onnx"), encoding="utf-8")
    window.open_paths([str(path)])
    wait(qtbot, window)
    assert "There is no file gone.onnx" in view.answer.text()
    assert "There is no file gone.onnx" in view.editor.stage_form.model.accessibleDescription()


def test_a_dropped_load_is_answered(qtbot: QtBot, window: MainWindow, view: LoadView) -> None:
    assert answer_of(window).holds
    assert "the load holds with a chance of" in view.answer.text()
    for words in ("classify binds", "Shared memory", "J an item", "W on average"):
        assert words in view.remarks.text()
    assert cells(view, "streams", "rate") == ["2 × 15"]
    assert float(cells(view, "streams", "p99")[0]) > 0
    assert cells(view, "stages", "runs") == ["1", "3"]
    assert view.box_box.currentText() == "NVIDIA Jetson Orin NX 16 GB"
    assert view.mode_box.currentText() == "25W"
    for tab in (1, 0):
        view.tabs.setCurrentIndex(tab)
        problems = [f(window) for f in (nameless, out_of_order, out_of_reach, same_keys, faint)]
        assert not any(problems), problems
    # What the pictures show is said too.
    assert "gpu: " in view.flow.accessibleDescription()
    assert "deadline 100 ms" in view.plot.accessibleDescription()
    assert "Model: chain.onnx" in view.flow.words_at(QPointF(30, 40))
    at_unit = view.flow.words_at(QPointF(view.flow.width() - 40, 20))
    assert at_unit.startswith("gpu: ")
    assert "NVIDIA Jetson Orin NX 16 GB (GPU)" in at_unit
    assert view.flow.words_at(QPointF(5, 2000)) == ""
    first = view.plot.details(0)
    assert "1.0 % of the items within" in first
    assert first.endswith("Deadline 100 ms")
    view.plot.setFocus()
    for _ in range(2):
        QTest.keyClick(view.plot, Qt.Key.Key_Right)
    assert "5.0 % of the items within" in view.plot.accessibleDescription()


def test_the_report_has_a_section_on_it(
    qtbot: QtBot, window: MainWindow, view: LoadView, workspace: Workspace
) -> None:
    assert window.actions_by_id["report"].isEnabled()
    presenter = ReportPresenter(workspace.recorder)
    answer = answer_of(window)
    presenter.start(ReportSubject(comparison=Comparison(), unit=LatencyUnit.MS, load=answer))
    qtbot.waitUntil(lambda: presenter.draft is not None, timeout=WAIT_MS)
    draft = presenter.draft
    assert draft is not None
    assert draft.report.title == "What NVIDIA Jetson Orin NX 16 GB carries"
    assert [section.id for section in draft.report.sections] == [SectionId.LOAD]
    assert 1 <= len(draft.pages.pages) <= 2
    presenter.close()


def test_what_is_typed_is_simulated_or_wrong_at_its_field(
    qtbot: QtBot, window: MainWindow, view: LoadView
) -> None:
    rate = view.editor.stream_form.rate
    type_into(rate, "30")
    assert window.central.load.busy
    wait(qtbot, window)
    assert cells(view, "streams", "rate") == ["2 × 30"]
    assert answer_of(window).load.streams[0].rate_per_s == 30
    window.undo()
    assert rate.value() == 15
    words = "It is not a rate over 0 and up to 10,000 items a second."
    for text in ("0", "900000"):
        type_into(rate, text)
        wait(qtbot, window)
        assert rate.accessibleDescription() == words
        assert view.answer.text() == f"Not simulated. camera: {words}"
        assert cells(view, "streams", "p99") == ["—"]
        window.undo()
    type_into(view.chance_box, "100")
    wait(qtbot, window)
    assert view.box_note.text() == "It is not percent over 0 and under 100."
    type_into(view.chance_box, "50")
    assert draft_of(window).load().chance == 0.5
    type_into(view.editor.stream_form.count, "5000")
    wait(qtbot, window)
    assert "from 1 to 1,000" in view.editor.stream_form.count.accessibleDescription()
    assert rate.accessibleDescription() != words
    view.boxes.ask_button.click()
    assert window.central.load.choice_message == NOT_RIGHT


def test_stages_and_streams_are_added_and_removed(
    qtbot: QtBot, window: MainWindow, view: LoadView
) -> None:
    click(view.editor.add_stage)
    assert cells(view, "stages", "name") == ["detect", "classify", "stage 3"]
    after = view.editor.stage_form.after
    type_into(after, "nobody")
    wait(qtbot, window)
    words = "There is no stage nobody; there are detect, classify, stage 3."
    assert after.accessibleDescription() == words
    type_into(after, "detect")
    wait(qtbot, window)
    assert after.accessibleDescription() == ""
    draft = draft_of(window)
    assert draft.streams[0]["stage"][2]["after"] == ["detect"]
    assert cells(view, "stages", "unit")[2].startswith("auto: ")
    rect = view.editor.stages.visualRect(view.editor.stages.model().index(0, 0))
    place = rect.center() + QPoint(2, 0)
    QTest.mouseClick(view.editor.stages.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert view.editor.stage_form.name.text() == "detect"
    type_into(view.editor.stage_form.batch, "4")
    assert view.editor.stage_form.delay.isEnabled()
    click(view.editor.remove_stage)
    assert cells(view, "stages", "name") == ["classify", "stage 3"]
    click(view.editor.add_stream)
    assert cells(view, "streams", "name") == ["camera", "camera 2"]
    click(view.editor.remove_stream)
    assert cells(view, "streams", "name") == ["camera"]


def test_the_box_is_another_a_file_or_what_is_ticked(
    qtbot: QtBot, window: MainWindow, view: LoadView, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    choose(view.mode_box, "10W")
    wait(qtbot, window)
    assert answer_of(window).box.mode == "10W"
    choose(view.box_box, "Intel Core Ultra 7 155H")
    wait(qtbot, window)
    assert (view.mode_box.currentText(), view.mode_box.count()) == ("usual clocks", 1)
    draft = draft_of(window).with_value(("stream", 0, "stage", 0), "unit", "dla")
    window.central.load.edit(draft, "Unit")
    wait(qtbot, window)
    assert "has no unit dla" in view.editor.stage_form.unit.accessibleDescription()
    assert "camera: detect: " in view.answer.text()
    units = [
        view.editor.stage_form.unit.itemText(i) for i in range(view.editor.stage_form.unit.count())
    ]
    assert units == ["auto", "cpu", "gpu", "npu", "dla"]
    window.undo()
    path = tmp_path / "mine.json"
    path.write_text(BOX, encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    choose(view.box_box, "A box file…")
    qtbot.waitUntil(lambda: view.box_box.findText("My box") == 0, timeout=WAIT_MS)
    assert view.box_box.currentText() == "My box"
    assert draft_of(window).box == {"file": str(path)}
    assert window.settings.get(table.LOAD_BOXES) == [str(path)]
    choose(view.box_box, "The ticked devices")
    units = draft_of(window).box["units"]
    ticked = window.workspace.selection.selected
    assert set(units.values()) == {device.id for device in ticked}


def test_every_key_of_the_file_is_a_field(qtbot: QtBot, catalogue: Catalogue) -> None:
    forms = {
        "stream": StreamForm(),
        "stage": StageForm(),
        "box": BoxForm(),
        "cost": CostForm(),
        "simulation": SimulationForm(),
    }
    # Chosen above the tables, or tables of their own.
    elsewhere = {"box": {"id", "file", "mode"}, "simulation": {"chance"}, "stream": {"stage"}}
    for name, form in forms.items():
        qtbot.addWidget(form)
        stage = {"model": "a.onnx"}
        stream = {"name": "a", "rate": 1, "stage": [stage]}
        tables: dict[str, Any] = {"stream": stream, "stage": stage, "box": {}}
        tables.setdefault(name, {})["nothing"] = 1
        del tables["stage"]
        with pytest.raises(InputError, match="no such key; there are") as refused:
            box_of_load(load_of_tables({**tables, "stream": [stream]}), catalogue)
        keys = set(refused.value.reason.partition("there are ")[2].split(", "))
        assert len(keys) > 2
        assert keys - form.fields.keys() == elsewhere.get(name, set())


def test_modes_and_clocks_that_hold_stand_behind_the_answer(
    qtbot: QtBot, window: MainWindow, view: LoadView
) -> None:
    remarks = view.remarks.text().splitlines()
    (thrifty,) = (line for line in remarks if "takes the fewest joules" in line)
    assert thrifty.startswith("• Of its modes that hold with 95 %, 10W takes")
    (clock,) = (line for line in remarks if "all other clocks usual" in line)
    assert clock.startswith("• At GPU ")
    view.editor.tabs.setCurrentIndex(1)
    type_into(view.editor.box_form.clock, "gpu=459")
    wait(qtbot, window)
    assert draft_of(window).box["clock"] == "gpu=459"
    answer = answer_of(window)
    assert answer.watts is None
    assert "J an item" not in view.remarks.text()
    type_into(view.editor.box_form.clock, "gpu=4590")
    wait(qtbot, window)
    assert "No unit of jetson-orin-nx-16gb runs at gpu=4590 MHz" in view.answer.text()


def test_box_cost_and_simulation_are_edited(
    qtbot: QtBot, window: MainWindow, view: LoadView
) -> None:
    editor = view.editor
    editor.tabs.setCurrentIndex(1)
    problems = [f(window) for f in (nameless, out_of_order, out_of_reach, same_keys, faint)]
    assert not any(problems), problems
    box, cost, simulation = editor.box_form, editor.cost_form, editor.simulation_form
    assert (box.power.text(), box.memory.text(), box.cores.text()) == ("25 W", "16 GiB", "8")
    assert "dla = 2 × jetson-orin-nx-16gb-dla" in box.units.text()
    assert not box.name.isEnabled()
    for field, text in (
        (box.power, "0.5"), (box.price, "2000000"), (box.memory, "8"), (box.cores, "4"),
        (cost.energy, "0.3"), (cost.rent, "2"), (cost.years, "5"),
        (simulation.items, "2000"), (simulation.draws, "20"), (simulation.seed, "7"),
    ):  # fmt: skip
        type_into(field, text)
    wait(qtbot, window)
    draft = draft_of(window)
    facts = {"power_w": 0.5, "price": 2e6, "memory_gb": 8, "host_cores": 4}
    assert draft.box == {"id": "jetson-orin-nx-16gb", "mode": "25W", **facts}
    assert draft.content["cost"] == {"price_per_kwh": 0.3, "price_per_hour": 2, "years": 5}
    assert draft.content["simulation"] == {"items": 2000, "draws": 20, "seed": 7}
    answer = answer_of(window)
    # What the load states counts before the mode of the box.
    assert answer.budget_w == 0.5
    assert (answer.load.seed, answer.load.draws, answer.cost is None) == (7, 20, False)
    type_into(cost.years, "1000")
    wait(qtbot, window)
    assert cost.years.accessibleDescription() == "It is not a number of years over 0."
    assert view.answer.text() == "Not simulated. Cost: It is not a number of years over 0."
    assert view.box_note.text() == ""
    window.undo()
    assert cost.years.value() == 5


def test_units_are_stated_in_place_of_a_box(
    qtbot: QtBot, window: MainWindow, view: LoadView
) -> None:
    form = view.editor.box_form
    form.units.setFocus()
    QTest.keyClick(form.units, Qt.Key.Key_Return)
    assert draft_of(window).box["id"] == "jetson-orin-nx-16gb", "nothing was typed"
    type_into(form.units, "gpu = 2 x rtx3060, cpu = core-i5-12400")
    wait(qtbot, window)
    stated = {"gpu": {"device": "rtx3060", "count": 2}, "cpu": "core-i5-12400"}
    assert draft_of(window).box["units"] == stated
    assert draft_of(window).box.keys() == {"mode", "units", "name"}
    assert "has a mode 25W" in view.box_note.text()
    choose(view.mode_box, "usual clocks")
    wait(qtbot, window)
    assert answer_of(window).box.units["gpu"].count == 2
    assert form.units.text() == "gpu = 2 × rtx3060, cpu = core-i5-12400"
    for wrong, words in (("gpu", "It is not a table of units"), ("gpu = rtx9060", "rtx9060")):
        type_into(form.units, wrong)
        wait(qtbot, window)
        assert words in form.units.accessibleDescription()
        window.undo()


def test_a_stage_states_how_it_runs(qtbot: QtBot, window: MainWindow, view: LoadView) -> None:
    form = view.editor.stage_form
    choose(form.unit, "cpu")
    choose(form.batching, "dynamic")
    assert form.delay.isEnabled()
    type_into(form.threads, "2")
    titles = [form.runtime.itemText(i) for i in range(form.runtime.count())]
    assert "TensorRT" not in titles
    choose(form.runtime, "ncnn on a CPU")
    wait(qtbot, window)
    stage = draft_of(window).streams[0]["stage"][0]
    assert (stage["runtime"], stage["threads"], stage["batching"]) == ("ncnn", 2, "dynamic")
    configuration = answer_of(window).streams[0].stages[0].cost.prediction.configuration
    assert (configuration.runtime, configuration.threads) == ("ncnn", 2)
    choose(form.batching, "none")
    type_into(form.batch, "4")
    wait(qtbot, window)
    assert "the stage states a batch" in form.batching.accessibleDescription()


def test_a_stage_generates_tokens_where_its_model_does(
    qtbot: QtBot, window: MainWindow, view: LoadView
) -> None:
    form = view.editor.stage_form
    assert not form.new.isEnabled()
    type_into(view.editor.stream_form.rate, "0.1")
    type_into(view.editor.stream_form.deadline, "60000")
    choose(form.model, "qwen3-1.7b.json")
    assert (form.prompt.value(), form.new.value()) == (512, 128)
    assert form.weights.isEnabled()
    assert not form.precision.isEnabled()
    assert "onnxruntime-genai" in [form.runtime.itemText(i) for i in range(form.runtime.count())]
    type_into(form.new, "20")
    choose(form.weights, "q8_0")
    wait(qtbot, window)
    (stage, *_) = answer_of(window).streams[0].stages
    assert stage.cost.generation is not None
    assert (stage.cost.generation.request.new, stage.cost.how) == (20, "llama.cpp, q8_0")
    assert "detect generates 20 tokens after 512: " in view.remarks.text()
    assert "llama.cpp, q8_0" in view.flow.accessibleDescription()
    type_into(form.prompt, "0")
    wait(qtbot, window)
    assert "its language model needs a prompt" in form.prompt.accessibleDescription()
    choose(form.model, "mobilenetv2-1.0-224.onnx")
    wait(qtbot, window)
    assert not form.new.isEnabled()
    assert "new_tokens" not in draft_of(window).streams[0]["stage"][0]


def test_a_dropped_box_runs_the_load(
    qtbot: QtBot, window: MainWindow, tmp_path: Path,
    drop_files: Callable[[MainWindow, list[Path]], None],
) -> None:  # fmt: skip
    path = tmp_path / "mine.json"
    path.write_text(BOX, encoding="utf-8")
    drop_files(window, [path])
    assert window.page.id == "load"
    wait(qtbot, window)
    assert draft_of(window).box == {"file": str(path)}
    assert answer_of(window).box.name == "My box"
    assert not any(entry.device.id == "mine" for entry in window.workspace.library.entries)
    path.write_text(BOX.replace("rtx3060", "rtx9060"), encoding="utf-8")
    with qtbot.waitSignal(window.central.load.failed) as refused:
        drop_files(window, [path])
    assert "rtx9060" in str(refused.args[0])


def test_boxes_that_hold_it_are_listed_and_used(
    qtbot: QtBot, window: MainWindow, view: LoadView
) -> None:
    load = window.central.load
    view.tabs.setCurrentWidget(view.boxes)
    click(view.boxes.ask_button)
    qtbot.waitUntil(lambda: load.choice is not None, timeout=WAIT_MS)
    choice = choice_of(window)
    assert choice.holding > 1
    assert "carries it with the fewest joules" in view.boxes.sentence.text()
    view.boxes.table.selectRow(1)
    click(view.boxes.use_button)
    used = choice.candidates[view.boxes.table.grid_model.grid.source(1)].box
    assert view.boxes.content.message.text() == ASK_AGAIN
    choose(view.boxes.scope_box, "Each FPGA alone")
    click(view.boxes.ask_button)  # while the models are read: it waits for them
    qtbot.waitUntil(lambda: load.choice is not None, timeout=WAIT_MS)
    assert all("has no unit gpu" in c.problem for c in choice_of(window).candidates)
    assert "None carries it" in view.boxes.sentence.text()
    wait(qtbot, window)
    assert (answer_of(window).box.id, answer_of(window).box.mode) == (used.id, used.mode)


def test_a_simulation_is_cancelled_and_goes_on(
    qtbot: QtBot, window: MainWindow, view: LoadView
) -> None:
    load = window.central.load
    slow = draft_of(window).with_values(("simulation",), {"items": 2_000_000, "draws": 1000})
    load.edit(slow, "More Draws")
    qtbot.waitUntil(lambda: view.progress.maximum() > 100, timeout=WAIT_MS)
    click(view.cancel_button)
    assert view.answer.text() == CANCELLED
    assert not view.cancel_button.isVisible()
    click(view.again_button)
    assert load.busy
    window.undo()
    wait(qtbot, window)
    load.cancel()
    assert load.answer is not None, "nothing was under way"


def test_a_load_is_saved_and_there_in_the_next_session(
    qtbot: QtBot, window: MainWindow, make_model: MakeModel, settle: Callable[..., None],
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    window.open_paths([str(make_model("mine.onnx"))])
    settle(window.workspace)
    window.show_page("load")
    view, load = window.central.load_view, window.central.load
    click(view.new_button)
    assert view.editor.stage_form.model.currentText() == "mine.onnx"
    assert view.editor.stage_form.model.findText("mobilenetv2-1.0-224.onnx") > 0
    path = tmp_path / "further" / "saved.toml"
    path.parent.mkdir()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    click(view.save_button)
    (stream,) = read_load(path).streams
    assert stream.stages[0].model == str((tmp_path / "mine.onnx").resolve())
    assert draft_of(window).path == path
    for restores, draft in ((True, load.draft), (False, None)):
        window.settings.set(table.RESTORE, value=restores)
        further = MainWindow(window.workspace, window.settings, window.options)
        qtbot.addWidget(further)
        assert further.central.load.draft == draft
        assert further.central.load.answer is None, "it is simulated when it is looked at"
