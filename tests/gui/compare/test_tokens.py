"""A language model beside other models in the one comparison of the real window."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from ctm_gui.compare.chart import Bar, lay_out
from ctm_gui.compare.tokens import tokens_answer
from ctm_gui.compare.view import CompareView
from ctm_gui.compare.words import details
from ctm_gui.language.state import LanguageResults
from ctm_gui.prediction.columns import ComparisonColumns, target_groups
from ctm_gui.window.main_window import MainWindow
from ctm_gui.window.workspace import Workspace
from predictor.core.units import LatencyUnit
from predictor.presentation.prediction_rows import PredictionRow
from tests.gui.conftest import SETTLE_MS, MakeModel
from tests.support.public_models import CONFIGS

TICKED = ("rtx4090", "rpi5", "hailo-8")


@pytest.fixture
def chart(
    window: MainWindow, workspace: Workspace, tmp_path: Path, make_model: MakeModel, qtbot: QtBot
) -> CompareView:
    """The chart with a chain of products and a language model on three targets."""
    selection = workspace.selection
    selection.select([device.id for device in selection.selected], selected=False)
    selection.select(TICKED, selected=True)
    config = tmp_path / "llama" / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps(CONFIGS["Llama-3-8B"][0]), encoding="utf-8")
    window.open_paths([str(config), str(make_model("chain.onnx"))])
    qtbot.waitUntil(lambda: workspace.settled and workspace.language.settled, timeout=SETTLE_MS)
    window.show_page("compare")
    view = window.central.compare_view
    qtbot.waitUntil(lambda: len(view.rows) == 6, timeout=SETTLE_MS)
    return view


def column(view: CompareView, key: str) -> list[str]:
    """Return the texts of a column in the order shown."""
    grid = view.table.grid_model.grid
    text = next(column.text for column in grid.columns if column.key == key)
    return [text(grid.source(place)) for place in range(grid.count)]


def bar_of(view: CompareView, row: PredictionRow, budget_ms: float | None) -> Bar | None:
    """Return what the chart draws of a row."""
    groups = target_groups(ComparisonColumns(view.rows))
    return lay_out(groups, LatencyUnit.MS, budget_ms).bar_of_row(view.rows.index(row))


def test_latencies_and_tokens_a_second_stand_in_one_table(
    chart: CompareView, workspace: Workspace
) -> None:
    results = {r.device.id: r for r in workspace.language.results}

    assert column(chart, "model")[3:] == ["llama"] * 3  # no latency, so behind those that have one
    assert column(chart, "latency")[3:] == ["—"] * 3
    assert column(chart, "tokens")[:3] == ["—"] * 3
    fast, slow = results["rtx4090"], results["rpi5"]
    assert column(chart, "tokens")[3:] == [
        f"{fast.decode_tokens_per_s:.3g}", f"{slow.decode_tokens_per_s:.3g}", "—"
    ]  # fmt: skip
    assert fast.first_token is not None
    assert float(column(chart, "first")[3]) == pytest.approx(fast.first_token.median, rel=0.01)
    assert column(chart, "precision")[3] == "q4_k_m"
    assert chart.heading.text() == "2 models on 3 targets"
    assert "llama: fastest " in chart.summary.text()
    chart.table.sort_by("tokens", descending=True)
    assert column(chart, "model")[:2] == ["llama"] * 2


def test_the_dot_of_a_language_model_is_its_first_token(
    chart: CompareView, workspace: Workspace
) -> None:
    fast = next(r for r in workspace.language.results if r.device.id == "rtx4090")
    row = next(r for r in chart.rows if r.tokens and r.prediction.device_id == "rtx4090")
    bar = bar_of(chart, row, None)

    assert fast.first_token is not None
    assert bar is not None
    assert bar.value == pytest.approx(fast.first_token.median)
    assert bar.label.startswith(f"{fast.decode_tokens_per_s:.3g} tokens/s, first token ")
    over = bar_of(chart, row, 0.001)  # which every latency is over; a first token has no budget
    assert over is not None
    assert not over.over
    words = details(row, LatencyUnit.MS, None)
    assert "after a prompt of 512 tokens" in words
    assert "llama.cpp, q4_k_m" in words
    failed = next(r for r in chart.rows if r.tokens and r.prediction.device_id == "hailo-8")
    assert "No number: " in details(failed, LatencyUnit.MS, None)


def test_enter_on_its_row_leads_to_its_page_with_the_device(
    chart: CompareView, window: MainWindow, workspace: Workspace
) -> None:
    place = column(chart, "device").index("Raspberry Pi 5 (CPU)", 3)
    chart.table.setCurrentIndex(chart.table.model().index(place, 0))
    QTest.keyClick(chart.table, Qt.Key.Key_Return)

    assert window.page.id == "language"
    assert window.central.language_view.subject.text() == "Raspberry Pi 5 (CPU)"
    strip = window.places.page_strip
    assert strip.tabText(strip.currentIndex()) == "Language Model"
    workspace.language.close_models([workspace.language.current_path])
    window.show_page("compare")
    assert len(chart.rows) == 3


def test_each_of_several_language_models_has_its_rows_and_its_line(
    chart: CompareView, window: MainWindow, workspace: Workspace, tmp_path: Path, qtbot: QtBot
) -> None:
    second = tmp_path / "qwen" / "config.json"
    second.parent.mkdir()
    second.write_text(json.dumps(CONFIGS["Qwen2-0.5B"][0]), encoding="utf-8")
    window.open_paths([str(second)])
    language = workspace.language
    qtbot.waitUntil(lambda: len(language.by_path) == 2, timeout=SETTLE_MS)
    window.show_page("compare")
    qtbot.waitUntil(lambda: len(chart.rows) == 9, timeout=SETTLE_MS)

    tokens = {
        (label, result.device.name): result.decode_tokens_per_s
        for label, made in zip(("llama", "qwen"), language.by_path.values(), strict=True)
        for result in made.results
    }
    names = zip(column(chart, "model"), column(chart, "device"), strict=True)
    texts = dict(zip(names, column(chart, "tokens"), strict=True))
    for row, rate in tokens.items():
        assert texts[row] == ("—" if rate is None else f"{rate:.3g}")
    device = "NVIDIA GeForce RTX 4090"
    assert tokens["qwen", device] > 2 * tokens["llama", device]  # a sixteenth of the parameters
    assert [line.split(":")[0] for line in chart.summary.text().splitlines()[-2:]] == [
        "llama",
        "qwen",
    ]
    assert chart.heading.text() == "3 models on 3 targets"

    # Enter on a row of the first one shows that one, and Remove closes the one that is selected.
    chart.table.setCurrentIndex(chart.table.model().index(column(chart, "model").index("llama"), 0))
    QTest.keyClick(chart.table, Qt.Key.Key_Return)
    view = window.central.language_view
    assert view.summary.text().startswith("llama: ")
    assert view.model_box.currentText() == "llama"
    view.model_box.setCurrentIndex(1)
    view.model_box.activated.emit(1)
    assert view.summary.text().startswith("qwen: ")
    window.models_panel.select_language(language.current_path)
    window.models_panel.remove_selected()
    assert view.model_box.isHidden()
    window.show_page("compare")
    qtbot.waitUntil(lambda: len(chart.rows) == 6, timeout=SETTLE_MS)
    workspace.undo_stack.undo()
    assert view.summary.text().startswith("qwen: ")


def test_a_model_whose_context_does_not_hold_the_run_says_so_beside_the_others() -> None:
    tokens = tokens_answer([LanguageResults("short", message="a: 9,128 tokens are asked for")])
    assert (tokens.rows, tokens.text) == ([], "short: a: 9,128 tokens are asked for")


def test_nothing_is_said_without_results() -> None:
    assert not tokens_answer([]).rows
    assert not tokens_answer([]).text
