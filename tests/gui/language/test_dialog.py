"""The window of a language model, opened by its configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ctm_gui.language.dialog import LanguageModelDialog
from ctm_gui.language.presenter import Along
from ctm_gui.widgets.theme import DARK, LIGHT
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from tests.gui.accessible import faint, nameless, out_of_order, same_keys

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
def shown(
    window: MainWindow, workspace: Workspace, config: Path, qapp: QApplication
) -> Iterator[LanguageModelDialog]:
    ticked = [device.id for device in workspace.selection.selected]
    workspace.selection.select(ticked, selected=False)
    workspace.selection.select(["rtx4090", "rpi5", "hailo-8"], selected=True)
    window.open_paths([str(config)])
    assert window.language_model is not None
    yield window.language_model
    window.language_model.close()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def cells(view: LanguageModelDialog, key: str) -> list[str]:
    grid = view.table.grid_model.grid
    column = next(c for c in grid.columns if c.key == key)
    return [column.text(grid.source(row)) for row in range(grid.count)]


def test_a_configuration_opens_the_window_and_no_model(
    shown: LanguageModelDialog, workspace: Workspace
) -> None:
    assert shown.isVisible()
    assert shown.summary.text() == "llama: 8.03 B parameters, context of 8,192 tokens"
    assert cells(shown, "device") == ["NVIDIA GeForce RTX 4090", "Raspberry Pi 5 (CPU)", "Hailo-8"]
    assert cells(shown, "fits")[0] == "fits"
    assert cells(shown, "tokens")[2] == "—"
    assert not workspace.shelf.entries
    assert not workspace.messages.messages


def test_another_run_is_predicted(shown: LanguageModelDialog, qtbot: QtBot) -> None:
    before = cells(shown, "first")
    shown.prompt_box.setFocus()
    shown.prompt_box.selectAll()
    QTest.keyClicks(shown.prompt_box, "2048")
    QTest.keyClick(shown.prompt_box, Qt.Key.Key_Return)
    after = cells(shown, "first")
    assert float(after[0]) > 3 * float(before[0])
    shown.weights_box.setCurrentText("fp16")
    shown.weights_box.activated.emit(shown.weights_box.currentIndex())
    assert set(cells(shown, "weights")) == {"fp16"}
    shown.prompt_box.setValue(9000)
    assert "8,192 tokens, and 9,128 are asked for" in shown._stack.message.text()


def test_ticks_of_devices_are_followed(shown: LanguageModelDialog, workspace: Workspace) -> None:
    workspace.selection.select(["rtx3060"], selected=True)
    assert "NVIDIA GeForce RTX 3060" in cells(shown, "device")
    workspace.selection.select(["rtx3060", "rtx4090", "rpi5", "hailo-8"], selected=False)
    assert shown._stack.message.text().startswith("Tick a device")


@pytest.mark.parametrize("along", list(Along))
def test_a_curve_of_the_chosen_device_is_drawn(shown: LanguageModelDialog, along: Along) -> None:
    shown.along_box.setCurrentIndex(list(Along).index(along))
    shown.along_box.activated.emit(shown.along_box.currentIndex())
    shown.table.selectRow(0)
    assert "NVIDIA GeForce RTX 4090. Prompt bound by" in shown.evidence.text()
    curve = shown.plot._curve
    assert curve is not None
    assert (curve.low < curve.median).all()
    assert (curve.median < curve.high).all()
    # Tokens a second fall with the context; a prompt's ms and a batch's tokens grow.
    assert bool(curve.median[-1] > curve.median[0]) is (along is not Along.CONTEXT)
    shown.table.selectRow(2)
    assert shown.plot._curve is None
    assert "no runtime of language models" in shown.evidence.text()


def test_the_plot_takes_the_theme(shown: LanguageModelDialog, window: MainWindow) -> None:
    def corner() -> str:
        image: QImage = shown.plot.grab().toImage()
        return image.pixelColor(image.width() - 3, 3).name()

    assert corner() == LIGHT.surface
    window.set_theme(DARK)
    assert corner() == DARK.surface


def test_controls_are_named_in_order_and_readable(shown: LanguageModelDialog) -> None:
    for check in (nameless, out_of_order, same_keys, faint):
        assert not check(shown), check


def test_a_wrong_configuration_is_a_message(
    window: MainWindow, workspace: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "zebra"}', encoding="utf-8")
    window.open_paths([str(path)])
    assert window.language_model is None
    assert "zebra" in workspace.messages.messages[-1].text
