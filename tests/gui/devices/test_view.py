"""The Devices tab of the real window: real keys and clicks, a real store, a real child process."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from ctm_gui.devices import library
from ctm_gui.devices.view import COMPARISON_PAGE, PROFILE_PAGE, DevicesView
from ctm_gui.targets.tree_model import TargetsTreeModel
from ctm_gui.widgets.theme import DARK
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.progress import CancelToken
from predictor.core.records import Device
from predictor.devices.consistency import CLUSTERS, MEASURED, OPERATING_POINTS
from predictor.devices.form import FormFields
from predictor.services.devices.catalogue import Catalogue
from predictor.services.history.history import open_history
from predictor.services.models.ingestion import IngestionWorker

WAIT_MS = 30_000
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def view(window: MainWindow, qtbot: QtBot) -> DevicesView:
    window.show_page("devices")
    view = window.central.devices_view
    qtbot.waitUntil(lambda: view.is_built and view.library.machine is not None, timeout=WAIT_MS)
    return view


@pytest.fixture
def own(view: DevicesView, qtbot: QtBot) -> DevicesView:
    """The view with a duplicate of the Raspberry Pi 5."""
    duplicate(view, qtbot, "rpi5")
    return view


def click(qtbot: QtBot, button: QPushButton) -> None:
    assert button.isVisible()
    assert button.isEnabled()
    qtbot.mouseClick(button, LEFT)


def duplicate(view: DevicesView, qtbot: QtBot, device_id: str) -> None:
    view.show_device(device_id)
    with qtbot.waitSignal(view.library.made, timeout=WAIT_MS):
        click(qtbot, view.header.duplicate_button)


def type_over(qtbot: QtBot, field: QLineEdit, text: str) -> None:
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)


def stored(tmp_path: Path) -> dict[str, Device]:
    with open_history(tmp_path / "store" / "store.db") as history:
        return {entry.device.id: entry.device for entry in history.devices.all()}


def row_of(
    model: TargetsTreeModel, device_id: str, parent: QModelIndex = QModelIndex()
) -> QModelIndex | None:
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        device = model.device(index)
        if device is not None and device.id == device_id:
            return index
        if below := row_of(model, device_id, index):
            return below
    return None


def choose_files(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    answer = ([str(path) for path in paths], "")
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_args: answer)


def test_a_shipped_device_is_read_only(view: DevicesView, qtbot: QtBot) -> None:
    view.show_device("rpi5")
    clock = view.form_view.fields["clock_mhz"]
    assert clock.value.text() == "2400"
    type_over(qtbot, clock.value, "9999")
    assert clock.value.text() == "2400"
    assert not view.header.save_button.isVisible()
    assert "Duplicate it" in view.header.state.text()


def test_the_header_names_what_a_prediction_lacks(own: DevicesView, qtbot: QtBot) -> None:
    header = own.header
    assert header.warnings.text() == ""
    bandwidth = own.form_view.fields["dram_bw_gbps"]
    before = bandwidth.value.text()
    own.form.set_value("dram_bw_gbps", "")
    assert (
        "Memory bandwidth is not known: add it for a surer prediction." in header.warnings.toolTip()
    )
    own.form.set_value("dram_bw_gbps", before)
    assert header.warnings.text() == ""
    own.show_device("exynos-2200-npu")
    assert "INT8 peak is not known: add it for a surer prediction." in header.warnings.toolTip()


def test_the_list_says_which_devices_are_own_and_edited(own: DevicesView, qtbot: QtBot) -> None:
    first = own.list.table.model().index(1, 0)  # below this machine
    assert first.data() == "Raspberry Pi 5 (CPU) (copy) · own"
    type_over(qtbot, own.form_view.fields["clock_mhz"].value, "2500")
    assert own.list.table.model().index(1, 0).data() == "Raspberry Pi 5 (CPU) (copy) · edited"


def test_a_device_that_is_asked_for_while_the_view_is_built_is_shown(
    window: MainWindow, qtbot: QtBot
) -> None:
    view = window.central.devices_view
    window.show_page("devices")
    qtbot.waitUntil(lambda: hasattr(view, "form_view") and bool(view.form_view.fields))
    assert not view.is_built
    with qtbot.waitSignal(view.built):
        view.show_device("rpi5")
    assert view.list.current_key() == "rpi5"
    assert view.form_view.texts["id"].text() == "rpi5"
    assert view.form_view.fields["clock_mhz"].value.text() == "2400"


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Tab])
def test_a_field_can_be_left_while_the_ones_below_are_missing(
    window: MainWindow, qtbot: QtBot, key: Qt.Key
) -> None:
    view = window.central.devices_view
    window.show_page("devices")
    qtbot.waitUntil(lambda: hasattr(view, "form_view") and "clock_mhz" in view.form_view.fields)
    form = view.form_view
    for field in (form.texts["name"], form.fields["clock_mhz"].value):
        field.setFocus()
        QTest.keyClick(field, key)
    assert not view.is_built
    qtbot.waitUntil(lambda: view.is_built, timeout=WAIT_MS)


def test_letters_do_not_sort_the_devices_anew(
    own: DevicesView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    sorted_ = []
    monkeypatch.setattr(library, "_order", lambda entry: sorted_.append(entry) or entry.key)
    type_over(qtbot, own.form_view.fields["clock_mhz"].value, "1200")
    type_over(qtbot, own.form_view.texts["name"], "My board")
    assert own.form.fields.values["clock_mhz"] == "1200"
    assert not sorted_
    own.header.duplicate_button.click()
    qtbot.waitUntil(lambda: bool(sorted_))


def test_a_form_leaves_none_of_its_steps_behind(own: DevicesView, qtbot: QtBot) -> None:
    type_over(qtbot, own.form_view.fields["clock_mhz"].value, "98765")
    forms = [each for each in gc.get_objects() if isinstance(each, FormFields)]
    texts = {form.values.get("clock_mhz") for form in forms}
    assert "98765" in texts
    assert not {"9", "98", "987", "9876"} & texts


def test_the_search_box_finds_by_any_word(view: DevicesView, qtbot: QtBot) -> None:
    qtbot.keyClicks(view.list.table.search_box, "raspberry 4")
    names = [view.list.table.model().index(row, 0).data() for row in range(2)]
    assert names[0] == "Raspberry Pi 4 Model B (CPU)"
    qtbot.keyClicks(view.list.table.search_box, " nonsense")
    assert view.list.table.model().rowCount() == 0


def test_an_own_device_becomes_a_target_and_predictions_follow(
    own: DevicesView,
    window: MainWindow,
    workspace: Workspace,
    qtbot: QtBot,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    tmp_path: Path,
) -> None:
    panel = window.targets_panel
    index = row_of(panel.model, "rpi5-copy")
    assert index is not None
    panel.model.setData(index, Qt.CheckState.Checked.value, Qt.ItemDataRole.CheckStateRole)
    workspace.open_paths([str(make_model())])
    settle(workspace)

    def latency() -> float:
        rows = workspace.comparison.rows
        found = [row for row in rows if row.prediction.device_id == "rpi5-copy"]
        return found[0].prediction.latency_ms or 0.0

    before = latency()
    assert before > 0
    type_over(qtbot, own.form_view.fields["dram_bw_gbps"].value, "0.5")
    click(qtbot, own.header.save_button)
    qtbot.waitUntil(lambda: workspace.settled and latency() > before, timeout=WAIT_MS)
    after = latency()
    workspace.close()
    with open_history(tmp_path / "store" / "store.db") as history:
        kept = [stored.prediction for stored in history.past.read(100).predictions]
    numbers = {p.latency_ms for p in kept if p.device_id == "rpi5-copy"}
    assert {before, after} <= numbers, "the changed device's prediction is stored too"


def test_what_is_wrong_stands_below_its_field_once_it_is_left_and_moves_no_row(
    own: DevicesView, qtbot: QtBot
) -> None:
    clock = own.form_view.fields["clock_mhz"]
    other = own.form_view.fields["dram_bw_gbps"]
    type_over(qtbot, clock.value, "24x")
    place = other.mapTo(own, QPoint())
    assert not clock.problem.isVisible(), "it is still typed"
    other.value.setFocus()
    qtbot.waitUntil(clock.problem.isVisible)
    assert other.mapTo(own, QPoint()) == place
    assert clock.problem.toolTip() == 'Clock is "24x" where a number was expected.'
    assert not own.header.save_button.isEnabled()
    assert clock.problem.toolTip() in own.header.problems.toolTip()
    assert own.header.problems.text() == "1 wrong value below"  # the sentence stands once
    assert own.header.problems.isVisible()
    qtbot.mouseClick(own.header.problems, Qt.MouseButton.LeftButton)
    assert clock.value.hasFocus()
    assert clock.problem.isVisible(), "until it is typed into"
    qtbot.keyClick(clock.value, Qt.Key.Key_Tab)
    assert clock.problem.isVisible(), "its source is a field of its own"
    type_over(qtbot, clock.value, "2400")
    assert not clock.problem.isVisible()


def test_a_contradiction_is_a_warning_in_words(own: DevicesView, qtbot: QtBot) -> None:
    peak = own.form_view.fields["fp32_tflops"]
    type_over(qtbot, peak.value, "15.36")
    own.form_view.fields["dram_bw_gbps"].value.setFocus()
    qtbot.waitUntil(peak.warning.isVisible)
    assert "differ by a factor of 100" in peak.warning.toolTip()
    assert peak.warning.isVisible()
    assert peak.warning.toolTip() in own.header.warnings.toolTip()
    assert not own.header.problems.isVisible(), "the line is the warning's alone"
    assert own.header.save_button.isEnabled()


def test_clearing_makes_a_metric_absent_and_typing_makes_it_known(
    own: DevicesView, qtbot: QtBot, tmp_path: Path
) -> None:
    power = own.form_view.fields["process_nm"]
    own.form_view.ensureWidgetVisible(power)
    type_over(qtbot, own.form_view.fields["tdp_w"].value, "12")
    power.value.setFocus()
    power.value.selectAll()
    qtbot.keyClick(power.value, Qt.Key.Key_Delete)
    assert not power.source.isEnabled()
    with qtbot.waitSignal(own.library.changed, timeout=WAIT_MS):
        click(qtbot, own.header.save_button)
    metrics = stored(tmp_path)["rpi5-copy"].metrics
    assert "process_nm" not in metrics
    assert metrics["tdp_w"] == 12


def test_the_undo_keys_undo_a_field_as_a_whole(
    own: DevicesView, window: MainWindow, qtbot: QtBot
) -> None:
    clock = own.form_view.fields["clock_mhz"]
    type_over(qtbot, clock.value, "1234")
    QTest.keySequence(clock.value, window.actions_by_id["undo"].shortcut())
    assert clock.value.text() == "2400"
    QTest.keySequence(clock.value, window.actions_by_id["redo"].shortcut())
    assert clock.value.text() == "1234"
    assert "Clock" in window.actions_by_id["undo"].text()


def test_deleting_can_be_undone(
    own: DevicesView, window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    with qtbot.waitSignal(own.library.changed, timeout=WAIT_MS):
        click(qtbot, own.header.delete_button)
    assert stored(tmp_path) == {}
    assert row_of(window.targets_panel.model, "rpi5-copy") is None
    with qtbot.waitSignal(own.library.made, timeout=WAIT_MS):
        window.workspace.library_stack.undo()
    assert list(stored(tmp_path)) == ["rpi5-copy"]
    assert own.form.fields.id == "rpi5-copy"


def test_own_devices_and_their_ticks_are_there_at_the_next_start(
    own: DevicesView,
    workspace: Workspace,
    qtbot: QtBot,
    catalogue: Catalogue,
    ingestion: IngestionWorker,
    tmp_path: Path,
) -> None:
    workspace.selection.select(["rpi5-copy"], selected=True)
    chosen = workspace.selection.selected_ids
    workspace.close()
    again = Workspace(
        catalogue, chosen, ingestion, partial(open_history, tmp_path / "store" / "store.db")
    )
    try:
        again.start()
        qtbot.waitUntil(lambda: "rpi5-copy" in again.selection.selected_ids, timeout=WAIT_MS)
    finally:
        again.close()


def test_import_makes_a_device_and_export_writes_it(
    own: DevicesView, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(path), ""))
    with qtbot.waitSignal(own.library.done, timeout=WAIT_MS):
        click(qtbot, own.header.export_button)
    assert json.loads(path.read_text())["id"] == "rpi5-copy"
    choose_files(monkeypatch, path)
    with qtbot.waitSignal(own.library.made, timeout=WAIT_MS):
        click(qtbot, own.import_button)
    assert own.form.fields.id == "rpi5-copy-2"
    assert own.form.editable


def device_json(**fields: object) -> bytes:
    whole = {"schema": "ctm-hcv/1", "id": "x", "name": "n", "vendor": "v", "family": "gpu"}
    return json.dumps({**whole, "metrics": {}, **fields}).encode()


def test_a_dropped_device_file_becomes_a_device(
    view: DevicesView,
    window: MainWindow,
    drop_files: Callable[[MainWindow, list[Path]], None],
    qtbot: QtBot,
    tmp_path: Path,
) -> None:
    path = tmp_path / "dropped.json"
    path.write_bytes(device_json(id="dropped"))
    with qtbot.waitSignal(view.library.made, timeout=WAIT_MS):
        drop_files(window, [path])
    assert list(stored(tmp_path)) == ["dropped"]


HOSTILE = (
    (b"\x89PNG\r\n", "is not text in UTF-8"),
    (b'{"schema": "ctm-hcv/1"', "is not JSON"),
    (b'{"schema": "ctm-hcv/1"}', "id is missing"),
    (b"[" * 50_000, "nested too deeply"),
    (b'{"a":' + b"1" * 1_000_001 + b"}", "more than the 1,000,000 allowed"),
    (device_json(name="<b>\u202egpu"), "hidden or direction characters"),
    (device_json(id="../../x"), "which is not a slug"),
    (device_json(metrics={"dram_bw_gbps": 1e300}), "outside of 0.001 to 100000 GB/s"),
)


def test_hostile_files_are_a_sentence_each_and_nothing_is_stored(
    view: DevicesView,
    workspace: Workspace,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paths = [tmp_path / f"hostile-{number}.json" for number in range(len(HOSTILE))]
    for path, (content, _reason) in zip(paths, HOSTILE, strict=True):
        path.write_bytes(content)
    choose_files(monkeypatch, *paths)
    click(qtbot, view.import_button)
    log = workspace.messages
    qtbot.waitUntil(lambda: log.error_count == len(HOSTILE), timeout=WAIT_MS)
    for message, (_content, reason) in zip(log.messages, HOSTILE, strict=True):
        assert reason in message.text
        assert "\n" not in message.text
    assert stored(tmp_path) == {}


def test_this_machine_is_the_first_device_and_measured_on_request(
    view: DevicesView, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(_: Path | None, cancel: CancelToken, __: object) -> None:
        while True:
            cancel.check()
            time.sleep(0.01)

    monkeypatch.setattr("predictor.services.probing.quick.probe_quickly", measure)
    click(qtbot, view.measure_button)
    assert view.list.table.current_row() == 0
    assert view.form.fields.id == "this-machine"
    assert "core_count" in view.form.fields.available
    qtbot.waitUntil(view.cancel_button.isVisible, timeout=WAIT_MS)
    assert not view.measure_button.isEnabled()
    click(qtbot, view.cancel_button)
    assert not view.machine.busy
    assert not view.cancel_button.isVisible()
    assert view.measure_button.isEnabled()
    assert stored(tmp_path) == {}, "as detected, it is only shown"


def test_this_machine_is_stored_once_it_is_edited(
    view: DevicesView, workspace: Workspace, qtbot: QtBot, tmp_path: Path
) -> None:
    view.show_device("this-machine")
    assert not view.header.delete_button.isVisible()
    view.form.set_text("notes", "under my desk")
    click(qtbot, view.header.save_button)
    qtbot.waitUntil(lambda: "this-machine" in stored(tmp_path), timeout=WAIT_MS)
    qtbot.waitUntil(view.header.delete_button.isVisible, timeout=WAIT_MS)
    click(qtbot, view.header.delete_button)
    qtbot.waitUntil(lambda: not view.library.entries[0].stored_id, timeout=WAIT_MS)
    assert view.library.entries[0].device.notes != "under my desk", "as detected again"
    assert stored(tmp_path) == {}
    workspace.library_stack.undo()
    qtbot.waitUntil(lambda: "this-machine" in stored(tmp_path), timeout=WAIT_MS)
    qtbot.waitUntil(lambda: view.library.entries[0].device.notes == "under my desk")


def test_two_devices_metric_by_metric(view: DevicesView, qtbot: QtBot) -> None:
    view.show_device("rpi4")
    view.pages.setCurrentIndex(COMPARISON_PAGE)
    view.comparison.choose("rpi5")
    model = view.comparison.table.model()
    rows = {
        model.index(row, 0).data(): [model.index(row, column).data() for column in (1, 2, 3)]
        for row in range(model.rowCount())
    }
    assert rows["Clock (MHz)"] == ["1500", "2400", "× 1.6"]
    assert rows["FP16 peak (TFLOP/s)"][0] == "—", "absent is not zero"
    assert rows["FP16 peak (TFLOP/s)"][2] == "—"


def test_the_profile_shows_absent_metrics_as_absent(view: DevicesView, window: MainWindow) -> None:
    view.show_device("rpi4")
    view.pages.setCurrentIndex(PROFILE_PAGE)
    window.options.set_theme(DARK)
    rows = {row.metric: row for row in view.profile.rows}
    assert rows["fp16_tflops"].absent
    assert rows["fp16_tflops"].percentile is None
    assert not rows["clock_mhz"].absent
    assert "FP16 peak: not known" in view.profile.accessibleDescription()
    assert not view.profile.grab().isNull()


def test_the_fields_say_unit_range_and_meaning(view: DevicesView) -> None:
    view.show_device("a100-pcie-40gb")
    cores = view.form_view.fields["core_count"]
    assert cores.name.text() == "SMs or compute units"
    assert "1 to 1000000" in cores.value.toolTip()
    assert cores.value.whatsThis() == cores.value.toolTip()
    assert not view.form_view.fields["dsp_count"].isVisible(), "an FPGA's"
    view.show_device("rpi5")
    assert cores.name.text() == "Cores"


def test_configurations_are_added_and_put_first(own: DevicesView, qtbot: QtBot) -> None:
    editor = own.form_view.configurations
    own.form_view.ensureWidgetVisible(editor)
    count = len(own.form.fields.configurations)
    editor.runtime.setCurrentText("openvino")
    click(qtbot, editor.add_button)
    assert len(own.form.fields.configurations) == count + 1
    editor.list.setCurrentRow(count)
    click(qtbot, editor.first_button)
    assert own.form.fields.configurations[0].runtime == "openvino"
    editor.list.setCurrentRow(0)
    click(qtbot, editor.remove_button)
    assert len(own.form.fields.configurations) == count


def test_kinds_of_cores_are_typed_in_rows(own: DevicesView, qtbot: QtBot) -> None:
    editor = own.form_view.lists[CLUSTERS]
    own.form_view.ensureWidgetVisible(editor.add_button)
    click(qtbot, editor.add_button)
    row = editor.cells[0]
    for name, text in (("name", "Cortex-A76"), ("cores", "3"), ("clock_mhz", "2400")):
        type_over(qtbot, row[name], text)
    assert own.form.fields.clusters[0].name == "Cortex-A76"
    assert editor.warning.text() == "Cores is 4, but the clusters have 3 cores."
    type_over(qtbot, row["cores"], "4")
    assert not editor.warning.isVisible()


# Qt's offscreen platform has no windows to raise, as the list of choices is.
@pytest.mark.qt_log_ignore("does not support (raise|grabbing)")
def test_an_architecture_is_found_by_a_part_of_its_name(own: DevicesView, qtbot: QtBot) -> None:
    line = own.form_view.texts["architecture"]
    type_over(qtbot, line, "m cortex-a76")
    completer = line.completer()
    qtbot.waitUntil(completer.popup().isVisible)
    assert completer.popup().model().index(0, 0).data() == "Arm Cortex-A76 (cortex-a76)"
    qtbot.keyClick(completer.popup(), Qt.Key.Key_Down)
    qtbot.keyClick(completer.popup(), Qt.Key.Key_Return)
    assert line.text() == own.form.fields.architecture == "cortex-a76"
    assert own.form_view.texts["instruction_sets"].placeholderText() == "neon fp16 dotprod"
    type_over(qtbot, line, "z80")
    assert "z80 is not in the table" in own.form_view.text_warning.text()


@pytest.mark.qt_log_ignore("does not support (raise|grabbing)")
def test_what_the_name_means_is_offered_with_its_reason(own: DevicesView, qtbot: QtBot) -> None:
    texts, view = own.form_view.texts, own.form_view
    for name in ("chip", "architecture"):
        texts[name].selectAll()
        qtbot.keyClick(texts[name], Qt.Key.Key_Delete)
    type_over(qtbot, texts["name"], "Rockchip RK3568")
    assert own.form.fields.architecture == ""
    assert texts["architecture"].placeholderText() == "cortex-a55"
    assert texts["chip"].placeholderText() == "rk3568"
    assert "taken from RK3568: chip rk3568" in view.text_inferred.text()
    assert view.text_inferred.isVisible()
    lanes = view.fields["fp32_au_per_core"]
    own.form.set_value("fp32_au_per_core", "")
    assert lanes.value.placeholderText() == "4", "of the implied architecture"
    lanes.value.setFocus()
    assert lanes.value.placeholderText() != "4", "the range of what can be typed"
    type_over(qtbot, texts["architecture"], "cortex-a53")
    assert "the name means cortex-a55" in view.text_warning.text()
    type_over(qtbot, texts["name"], "My board")  # the system still says Raspberry Pi 5
    assert "the name means" not in view.text_warning.text()


def test_measured_rates_and_operating_points_are_typed_in_rows(
    own: DevicesView, qtbot: QtBot
) -> None:
    editor = own.form_view.lists[MEASURED]
    own.form_view.ensureWidgetVisible(editor.add_button)
    while own.form.fields.measured:
        qtbot.mouseClick(editor.findChildren(QToolButton)[0], LEFT)
    click(qtbot, editor.add_button)
    row = editor.cells[0]
    assert row["stated"].text() == "17.07"
    row["metric"].setCurrentText("Launch, µs")
    row["metric"].activated.emit(row["metric"].currentIndex())
    assert own.form.fields.measured[0].metric == "launch_us"
    assert editor.cells[0]["stated"].text() == "—"
    assert editor.problem.text() == "Row 1: Value is empty.\nRow 1: Source is empty."
    type_over(qtbot, editor.cells[0]["value"], "0.4")
    assert editor.problem.text() == "Row 1: Source is empty."
    type_over(qtbot, editor.cells[0]["source"], "an empty operator")
    assert own.form.can_save
    points = own.form_view.lists[OPERATING_POINTS]
    own.form_view.ensureWidgetVisible(points.add_button)
    while own.form.fields.operating_points:
        qtbot.mouseClick(points.findChildren(QToolButton)[0], LEFT)
    click(qtbot, points.add_button)
    for name, text in (("name", "slow"), ("cpu_mhz", "1500"), ("source", "governor")):
        type_over(qtbot, points.cells[0][name], text)
    assert own.form.can_save
    # Rows that the device came with are gone, their buttons not yet deleted.
    remove = points.findChildren(QToolButton)[-1]
    qtbot.mouseClick(remove, LEFT)
    assert own.form.fields.operating_points == ()


def test_names_and_sources_from_files_are_never_markup(
    own: DevicesView, window: MainWindow, qtbot: QtBot
) -> None:
    name = "<img src='file:///etc/hostname'>"
    own.form.set_text("name", name)
    own.form.set_source("clock_mhz", name)
    with qtbot.waitSignal(own.library.changed, timeout=WAIT_MS):
        own.form.save()
    index = row_of(window.targets_panel.model, "rpi5-copy")
    assert index is not None
    tips = [
        own.header.name.toolTip(),
        own.form_view.fields["clock_mhz"].source.toolTip(),
        str(index.data(Qt.ItemDataRole.ToolTipRole)),
    ]
    for tip in tips:
        assert "&lt;img" in tip
        assert "<img" not in tip
    for label in (own.header.name, own.header.problems, own.header.warnings, own.comparison.title):
        assert label.textFormat() is Qt.TextFormat.PlainText


def test_find_goes_to_the_devices(view: DevicesView, window: MainWindow, qtbot: QtBot) -> None:
    view.form_view.setFocus()
    window.search()
    assert QApplication.focusWidget() is view.list.table.search_box


def test_a_new_device_says_what_it_lacks(view: DevicesView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.library.made, timeout=WAIT_MS):
        qtbot.mouseClick(view.new_button, LEFT)
    assert view.form.editable
    assert view.form_view.texts["name"].text() == "My device"
    assert "add it for a surer prediction" in view.header.warnings.toolTip()


def test_open_models_are_predicted_while_a_device_is_typed(
    own: DevicesView, window: MainWindow, make_model: Callable[..., Path], qtbot: QtBot
) -> None:
    window.open_paths([str(make_model("typed.onnx"))])
    qtbot.waitUntil(lambda: window.workspace.settled, timeout=WAIT_MS)
    own.form.device_changed.emit()
    qtbot.waitUntil(lambda: own.header.live.text().startswith("typed "), timeout=WAIT_MS)
    before = own.header.live.text()
    top = own.form_view.mapTo(own, QPoint(0, 0)).y()

    type_over(qtbot, own.form_view.fields["clock_mhz"].value, "240")

    qtbot.waitUntil(lambda: own.header.live.text() not in {"", before}, timeout=WAIT_MS)
    type_over(qtbot, own.form_view.fields["clock_mhz"].value, "24x")
    qtbot.waitUntil(lambda: own.header.live.text() == "", timeout=WAIT_MS)
    assert own.form_view.mapTo(own, QPoint(0, 0)).y() == top, "what is typed into stays in place"


def test_a_new_device_starts_from_another_has_an_id_of_its_name_and_is_ticked_when_saved(
    qtbot: QtBot, window: MainWindow, workspace: Workspace
) -> None:
    window.show_page("devices")
    view = window.central.devices_view
    qtbot.waitUntil(lambda: view.is_built, timeout=WAIT_MS)
    with qtbot.waitSignal(workspace.library.made, timeout=WAIT_MS):
        click(qtbot, view.new_button)
    box = view.header.start_box
    assert box.isVisible()
    box.setCurrentIndex(box.findText("Raspberry Pi 5 (CPU)"))
    box.activated.emit(box.currentIndex())
    assert view.form_view.fields["clock_mhz"].value.text() == "2400"
    type_over(qtbot, view.form_view.texts["name"], "Board in the lab")
    assert view.form.fields.id == "board-in-the-lab"
    with qtbot.waitSignal(workspace.library.saved, timeout=WAIT_MS):
        click(qtbot, view.header.save_button)
    assert workspace.selection.is_selected("board-in-the-lab")
    type_over(qtbot, view.form_view.texts["name"], "Another name")
    assert view.form.fields.id == "board-in-the-lab", "what is saved is known by its id"
