"""Devices for the open language model on the page Hardware: its limits in, a ranking out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ctm_gui import settings as table
from ctm_gui.choose.language_rows import LanguageOptionsGrid
from ctm_gui.choose.presenter import NO_LANGUAGE_BUDGET
from ctm_gui.choose.view import ChooseView
from ctm_gui.window.main_window import MainWindow
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from tests.support.accessible import faint, nameless, out_of_order, out_of_reach, same_keys

WAIT_MS = 60_000
NAMED = {"rtx4090", "rtx3060", "rpi5", "hailo-8", "h100-sxm"}
LLAMA = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 128256, "max_position_embeddings": 8192, "_name_or_path": "small",
}  # fmt: skip


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    shipped = load_catalogue().devices
    return Catalogue(d for place, d in enumerate(shipped) if d.id in NAMED or place % 60 == 0)


@pytest.fixture
def view(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> ChooseView:
    path = tmp_path / "small" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA), encoding="utf-8")
    window.resize(1400, 900)
    window.open_paths([str(path)])
    qtbot.waitUntil(lambda: bool(window.workspace.language.state.entries))
    window.show_page("hardware")
    return window.central.choose_view


def wait(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: window.central.choice.settled, timeout=WAIT_MS)


def type_into(field: QWidget, text: str) -> None:
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def cells(view: ChooseView, column: str) -> list[str]:
    keys = [each.key for each in view.table.grid_model.grid.columns]
    model = view.table.model()
    return [model.index(row, keys.index(column)).data() for row in range(model.rowCount())]


def test_limits_of_its_own_rank_the_devices(
    qtbot: QtBot, window: MainWindow, view: ChooseView
) -> None:
    fields = view.language_fields
    assert fields.isVisible()
    assert not view.latency_box.isVisible()
    assert view.model_box.currentText() == "small (tokens)"
    assert view.content.message.text() == NO_LANGUAGE_BUDGET
    type_into(fields.tokens, "20")
    wait(qtbot, window)
    assert "devices keep the budget; first " in view.answer.text()
    chances = cells(view, "chance")
    assert chances[0] == "> 99 %"
    assert float(cells(view, "tokens")[0]) > 20
    assert "cost" not in [column.key for column in view.table.grid_model.grid.columns]
    assert window.settings.get(table.CHOOSE_TOKENS) == 20
    problems = [f(window) for f in (nameless, out_of_order, out_of_reach, same_keys, faint)]
    assert not any(problems), problems
    # With a price a cost is known, and joules are a limit.
    type_into(fields.price, "2")
    type_into(fields.joules, "2")
    wait(qtbot, window)
    devices = cells(view, "device")
    row = devices.index("NVIDIA GeForce RTX 4090")
    assert float(cells(view, "cost")[row]) > 0
    assert float(cells(view, "joules")[row]) > 0
    unknown = [r for r in cells(view, "remark") if "power is not known" in r]
    assert unknown, "a device of unknown power keeps no limit of joules"
    assert any("Pareto front" in remark for remark in cells(view, "remark"))
    choose(view, "npu")
    wait(qtbot, window)
    assert set(cells(view, "family")) <= {"npu"} or view.content.message.isVisible()


def choose(view: ChooseView, family: str) -> None:
    view.family_box.setCurrentIndex(view.family_box.findData(family))
    view.family_box.activated.emit(view.family_box.currentIndex())


def test_another_run_or_model_is_followed_and_rows_lead_to_tokens(
    qtbot: QtBot, window: MainWindow, view: ChooseView, make_model: Callable[..., Path],
    settle: Callable[..., None],
) -> None:  # fmt: skip
    type_into(view.language_fields.tokens, "20")
    wait(qtbot, window)
    before = cells(view, "tokens")[0]
    language = window.workspace.language
    window.central.language_view.counts["batch"].setValue(8)
    wait(qtbot, window)
    assert float(cells(view, "tokens")[0]) > 2 * float(before)
    view.table.select_rows([0, 1], 0)
    grid = view.table.grid_model.grid
    assert isinstance(grid, LanguageOptionsGrid)
    chosen = [grid.language_options[row] for row in (0, 1)]
    view.compare_button.click()
    assert window.page.id == "language"
    ticked = {device.id for device in window.workspace.selection.selected}
    assert {option.generation.device.id for option in chosen} <= ticked
    # Beside a network it is one of two, and closed it is gone.
    window.open_paths([str(make_model())])
    settle(window.workspace)
    window.show_page("hardware")
    assert view.latency_box.isVisible()
    names = [view.model_box.itemText(i) for i in range(view.model_box.count())]
    assert names[1] == "chain.onnx"
    view.model_box.setCurrentIndex(2)
    view.model_box.activated.emit(2)
    assert names[2].endswith(" (tokens)")
    assert view.language_fields.isVisible()
    wait(qtbot, window)
    assert window.central.choice.chosen_language is not None
    language.close_models([language.current_path])
    wait(qtbot, window)
    assert view.latency_box.isVisible()
    assert view.model_box.count() == 2
    assert window.central.choice.chosen_language is None
