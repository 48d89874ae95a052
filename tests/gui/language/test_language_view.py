"""The Language tab, opened by a configuration or a decoder in ONNX."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView
from pytestqt.qtbot import QtBot

from ctm_gui.application import Application
from ctm_gui.language.curves import Along
from ctm_gui.language.presenter import LanguagePresenter
from ctm_gui.language.view import LanguageView
from ctm_gui.models.list_model import ModelRole
from ctm_gui.report.presenter import ReportPresenter, ReportSubject
from ctm_gui.widgets.theme import DARK, LIGHT
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.units import LatencyUnit
from predictor.language.weights import weight_format
from predictor.presentation.report import SectionId
from tests.gui.conftest import SETTLE_MS
from tests.support.accessible import faint, nameless, out_of_order, same_keys
from tests.support.decoder_architectures import TINY
from tests.support.gguf_files import llama_fields, tensors_of, write_gguf
from tests.support.networks import decoders
from tests.support.networks.decoders import Size

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "llama" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA), encoding="utf-8")
    return path


@pytest.fixture
def presenter(workspace: Workspace) -> LanguagePresenter:
    return workspace.language


@pytest.fixture
def view(window: MainWindow, workspace: Workspace, config: Path, qtbot: QtBot) -> LanguageView:
    ticked = [device.id for device in workspace.selection.selected]
    workspace.selection.select(ticked, selected=False)
    workspace.selection.select(["rtx4090", "rpi5", "hailo-8"], selected=True)
    view = window.central.language_view
    window.open_paths([str(config)])
    settle(qtbot, workspace.language)
    qtbot.waitUntil(lambda: view.table.grid_model.rowCount() == 3, timeout=SETTLE_MS)
    return view


def settle(qtbot: QtBot, presenter: LanguagePresenter) -> None:
    qtbot.waitUntil(lambda: presenter.settled, timeout=SETTLE_MS)


def cells(view: LanguageView, key: str) -> list[str]:
    grid = view.table.grid_model.grid
    column = next(c for c in grid.columns if c.key == key)
    return [column.text(grid.source(row)) for row in range(view.table.grid_model.rowCount())]


def choose(view: LanguageView, key: str, text: str) -> None:
    box = view.choices[key]
    box.setCurrentText(text)
    box.activated.emit(box.currentIndex())


def test_a_configuration_opens_the_tab_and_no_model(
    view: LanguageView, window: MainWindow, workspace: Workspace
) -> None:
    assert window.page.id == "language"
    assert view.summary.text() == "llama: 8.03 B parameters, context of 8,192 tokens"
    assert cells(view, "device") == ["NVIDIA GeForce RTX 4090", "Raspberry Pi 5 (CPU)", "Hailo-8"]
    assert cells(view, "fits")[0] == "fits"
    assert view.answer.text().startswith("Fastest ")
    assert " tokens/s on NVIDIA GeForce RTX 4090, likely " in view.answer.text()
    assert view.answer.text().endswith(" of 3 devices")
    assert cells(view, "tokens")[2] == "—"
    assert not workspace.shelf.entries
    assert not workspace.messages.messages


def test_a_decoder_in_onnx_opens_the_tab_and_is_a_model_too(
    window: MainWindow, workspace: Workspace, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "decoder.onnx"
    decoders.save(decoders.in_int8_cache(decoders.genai(Size()).model()), path)
    window.open_paths([str(path)])
    qtbot.waitUntil(lambda: workspace.language.entry is not None, timeout=SETTLE_MS)
    assert window.page.id == "language"
    asked = workspace.language.request
    assert (asked.weights, asked.kv_precision) == ("fp16", "int8")
    assert workspace.language.size.startswith("decoder: ")
    assert len(workspace.shelf.entries) == 1
    workspace.undo_stack.undo()
    workspace.shelf.read_again(0)
    qtbot.waitUntil(lambda: workspace.settled, timeout=SETTLE_MS)
    assert workspace.language.entry is None


def test_another_run_is_predicted_and_undone(
    view: LanguageView, presenter: LanguagePresenter, workspace: Workspace, qtbot: QtBot
) -> None:
    before = cells(view, "first")
    box = view.counts["prompt"]
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "2048")
    QTest.keyClick(box, Qt.Key.Key_Return)
    settle(qtbot, presenter)
    assert float(cells(view, "first")[0]) > 3 * float(before[0])
    assert workspace.undo_stack.undoText() == "Prompt 2,048"
    choose(view, "weights", "fp16")
    settle(qtbot, presenter)
    assert set(cells(view, "weights")) == {"fp16"}
    workspace.undo_stack.undo()
    workspace.undo_stack.undo()
    settle(qtbot, presenter)
    assert (box.value(), view.choices["weights"].currentText()) == (512, "auto: q4_k_m")
    assert cells(view, "first") == before
    box.setValue(9000)
    settle(qtbot, presenter)
    assert "8,192 tokens, and 9,128 are asked for" in view.content.message.text()


def test_what_was_measured_calibrates_the_device_and_is_undone(
    view: LanguageView, presenter: LanguagePresenter, workspace: Workspace, qtbot: QtBot
) -> None:
    view.table.select_rows([presenter.results.index(
        next(each for each in presenter.results if each.device.id == "rtx4090")
    )], 0)  # fmt: skip
    usual = float(cells(view, "tokens")[0])
    assert view.subject.text() == "NVIDIA GeForce RTX 4090"
    view.measured_box.setValue(100)
    settle(qtbot, presenter)
    assert float(cells(view, "tokens")[0]) == pytest.approx(100, rel=0.05)
    assert cells(view, "measured")[0] == "100"
    assert "measured by you on this device" in view.evidence.text()
    # It was of this run, and tells of others.
    choose(view, "weights", "f16")
    settle(qtbot, presenter)
    assert "measured by you on this device with other weights" in view.evidence.text()
    workspace.undo_stack.undo()
    workspace.undo_stack.undo()
    settle(qtbot, presenter)
    assert float(cells(view, "tokens")[0]) == usual
    assert view.measured_box.value() == 0


def test_model_run_and_rates_come_back_in_the_next_session(
    make_application: Callable[..., Application], config: Path, qtbot: QtBot
) -> None:
    first = start(make_application, qtbot, config)
    first.workspace.selection.select(["rpi5"], selected=True)
    presenter = first.workspace.language
    qtbot.waitUntil(lambda: presenter.entry is not None)
    presenter.ask(replace(presenter.request, prompt=64), "Prompt 64")
    presenter.set_measured(first.workspace.selection.catalogue.by_id["rpi5"], 2.5)
    settle(qtbot, presenter)
    kept = presenter.state, presenter.measured
    first.window.close()
    first.close()

    second = start(make_application, qtbot)
    presenter = second.workspace.language
    qtbot.waitUntil(lambda: bool(presenter.measured))
    assert (presenter.state, presenter.measured) == kept
    assert second.workspace.undo_stack.count() == 0
    presenter.set_measured(second.workspace.selection.catalogue.by_id["rpi5"], None)
    settle(qtbot, presenter)
    second.workspace.undo_stack.undo()
    second.workspace.undo_stack.redo()
    settle(qtbot, presenter)
    second.close()
    third = start(make_application, qtbot)
    settle(qtbot, third.workspace.language)
    assert not third.workspace.language.measured


def start(make: Callable[..., Application], qtbot: QtBot, *paths: Path) -> Application:
    application = make()
    with qtbot.waitSignal(application.workspace.recorder.opened):
        application.start([str(path) for path in paths])
    return application


def test_ticks_of_devices_are_followed(
    view: LanguageView, presenter: LanguagePresenter, workspace: Workspace, qtbot: QtBot
) -> None:
    workspace.selection.select(["rtx3060"], selected=True)
    settle(qtbot, presenter)
    assert "NVIDIA GeForce RTX 3060" in cells(view, "device")
    workspace.selection.select(["rtx3060", "rtx4090", "rpi5", "hailo-8"], selected=False)
    settle(qtbot, presenter)
    assert view.content.message.text().startswith("Tick a device")


@pytest.mark.parametrize("along", list(Along))
def test_curves_of_the_selected_devices_are_drawn(
    view: LanguageView, presenter: LanguagePresenter, qtbot: QtBot, along: Along
) -> None:
    view.along_box.setCurrentIndex(list(Along).index(along))
    view.along_box.activated.emit(view.along_box.currentIndex())
    view.table.selectAll()
    settle(qtbot, presenter)
    names = [curve.name for curve in presenter.curves]
    assert names[:2] == ["NVIDIA GeForce RTX 4090", "Raspberry Pi 5 (CPU)"]
    for curve in presenter.curves:
        assert (curve.low <= curve.median).all()
        assert (curve.median <= curve.high).all()
        # Tokens a second fall with the context; all else grows.
        assert bool(curve.median[-1] > curve.median[0]) is (along is not Along.CONTEXT)
    if along is Along.MEMORY:
        assert [curve.limit for curve in presenter.curves] == [pytest.approx(21.6), None, None]
    else:
        assert len(names) == 2  # Hailo-8 runs none
    assert "Raspberry Pi 5" in view.plot.accessibleDescription()


def test_a_load_has_its_answer_and_is_undone(
    view: LanguageView,
    presenter: LanguagePresenter,
    workspace: Workspace,
    qtbot: QtBot,
) -> None:
    assert view.load_answer.isHidden()
    view.load["rate"].setValue(0.5)
    view.load["first"].setValue(2000)
    settle(qtbot, presenter)
    assert view.load_answer.isVisible()
    assert "(P50/P90/P99)" in view.load_answer.text()
    assert "requests a second keep the limits; this load needs 1 card." in view.load_answer.text()
    assert workspace.undo_stack.undoText() == "First Token 2000"
    view.load["rate"].setValue(500)
    settle(qtbot, presenter)
    assert "over what it completes" in view.load_answer.text()
    for _ in range(3):
        workspace.undo_stack.undo()
    settle(qtbot, presenter)
    assert view.load_answer.isHidden()


def test_parts_and_memory_of_the_current_device(view: LanguageView, qtbot: QtBot) -> None:
    view.table.selectRow(0)
    qtbot.waitUntil(lambda: len(view.parts.bars) == 3, timeout=SETTLE_MS)
    first, token, memory = view.parts.bars
    assert first.parts[0].name == "multiplying"
    assert token.parts[0].name == "reading the weights"
    assert sum(part.length for part in token.parts) == pytest.approx(1)
    assert memory.title == "Memory: 4.63 GiB of 21.6 GiB"
    assert [part.name for part in memory.parts] == ["weights", "KV cache", "buffers"]
    assert 0.2 < sum(part.length for part in memory.parts) < 0.23
    view.table.selectRow(2)
    qtbot.waitUntil(lambda: len(view.parts.bars) == 1, timeout=SETTLE_MS)
    assert "no runtime of language models" in view.evidence.text()
    assert not view.measured_box.isEnabled()


def test_rows_are_found_and_copied(view: LanguageView) -> None:
    view.table.search_box.setText("raspberry")
    assert cells(view, "device") == ["Raspberry Pi 5 (CPU)"]
    view.table.clearSelection()
    view.table.copy_as_csv()
    header, row = QGuiApplication.clipboard().text().split("\r\n")[:2]
    assert header.startswith("Device,Tokens/s,80 % interval,")
    assert ",J/token," in header
    assert header.endswith(",at least,at most")
    assert row.startswith("Raspberry Pi 5 (CPU),")


def test_the_plot_takes_the_theme_and_is_saved(
    view: LanguageView, window: MainWindow, tmp_path: Path
) -> None:
    def corner() -> str:
        image: QImage = view.plot.grab().toImage()
        return image.pixelColor(image.width() - 3, 3).name()

    assert corner() == LIGHT.surface
    window.options.set_theme(DARK)
    assert corner() == DARK.surface
    view.plot.save(tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").stat().st_size > 2000


def test_controls_are_named_in_order_and_readable(view: LanguageView) -> None:
    for check in (nameless, out_of_order, same_keys, faint):
        assert not check(view), check


def test_a_report_without_a_ticked_target_says_so(
    view: LanguageView,
    presenter: LanguagePresenter,
    window: MainWindow,
    workspace: Workspace,
    make_model: Callable[..., Path],
    settle: Callable[[Workspace], None],
    qtbot: QtBot,
) -> None:
    assert view.isVisible()
    workspace.open_paths([str(make_model())])
    workspace.selection.select(workspace.selection.selected_ids, selected=False)
    settle(workspace)
    assert workspace.comparison.models
    assert not workspace.comparison.rows
    assert not window.actions_by_id["report"].isEnabled()
    # It was open already, or the last target went while it was opened.
    report = ReportPresenter(workspace.recorder, window)
    subject = ReportSubject(
        comparison=workspace.comparison, unit=LatencyUnit.MS, language=presenter.runs()
    )
    with qtbot.waitSignal(report.failed, timeout=SETTLE_MS) as failed:
        report.start(subject)
    assert "tick one" in str(failed.args[0])
    assert not report.busy
    report.close()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("config.json", '{"model_type": "zebra"}', "zebra"),
        ("tokenizer.json", '{"added_tokens": []}', "tokenizer"),
        ("Qwen-config.json", '{"model_type": "qwen3"}', "hidden_size"),
        ("model.gguf", "GGUF", "cut short within its header"),
    ],
)
def test_a_wrong_file_is_a_message(
    window: MainWindow, workspace: Workspace, tmp_path: Path, name: str, content: str, words: str,
    qtbot: QtBot,
) -> None:  # fmt: skip
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with qtbot.assertNotEmitted(workspace.opened):  # it is no recent file
        window.open_paths([str(path)])
        qtbot.waitUntil(lambda: bool(workspace.messages.messages), timeout=SETTLE_MS)
    assert workspace.language.entry is None
    assert words in workspace.messages.messages[-1].text


def test_a_gguf_file_is_read_off_the_thread_and_names_its_format(
    view: LanguageView,
    presenter: LanguagePresenter,
    window: MainWindow,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    box = view.choices["weights"]
    assert box.currentText() == "auto: q4_k_m"
    tensors = tensors_of(TINY, weight_format("q5_k_m"))
    path = write_gguf(tmp_path / "x.gguf", llama_fields(TINY, general__file_type=17), tensors)
    window.open_paths([str(path)])
    assert presenter.entry is not None
    assert presenter.entry.path != str(path)
    qtbot.waitUntil(lambda: box.currentText() == "auto: q5_k_m", timeout=SETTLE_MS)
    assert presenter.request.weights == ""
    choose(view, "weights", "q8_0")
    settle(qtbot, presenter)
    assert presenter.request.weights == "q8_0"
    choose(view, "weights", box.itemText(0))
    settle(qtbot, presenter)
    assert set(cells(view, "weights")) == {"q5_k_m"}


def test_the_report_has_the_language_model_without_any_other(
    view: LanguageView,
    presenter: LanguagePresenter,
    window: MainWindow,
    workspace: Workspace,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    assert window.actions_by_id["report"].isEnabled()
    (run,) = presenter.runs()()
    assert run.results == presenter.results
    report = ReportPresenter(workspace.recorder, window)
    unit, language = LatencyUnit.MS, presenter.runs()
    report.start(ReportSubject(comparison=workspace.comparison, unit=unit, language=language))
    qtbot.waitUntil(lambda: report.draft is not None, timeout=SETTLE_MS)
    assert report.draft is not None
    assert [section.id for section in report.draft.report.sections] == [SectionId.LANGUAGE]
    report.save(tmp_path / "report.md")
    qtbot.waitUntil(lambda: not report.busy, timeout=SETTLE_MS)
    assert "NVIDIA GeForce RTX 4090" in (tmp_path / "report.md").read_text(encoding="utf-8")
    report.close()


def test_the_open_model_stands_in_the_list_of_models(
    window: MainWindow, workspace: Workspace, view: LanguageView, qtbot: QtBot
) -> None:
    panel = window.models_panel
    rows = panel.findChild(QListView)
    assert isinstance(rows, QListView)
    assert rows.currentIndex().data() == "llama"
    assert "B parameters" in rows.currentIndex().data(ModelRole.FACTS)
    assert panel.selected_rows() == []

    window.show_page("compare")
    panel.set_current_row(-1)
    panel.select_language(workspace.language.current_path)
    assert window.tabs.currentWidget().isAncestorOf(view)

    panel.remove_selected()
    settle(qtbot, workspace.language)
    assert workspace.language.entry is None
    assert rows.model().rowCount() == 0
    workspace.undo_stack.undo()
    assert rows.model().rowCount() == 1
