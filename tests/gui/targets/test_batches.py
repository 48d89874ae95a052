"""Variants at other batches: a row each, from the model as it is read at that batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox, QMenu, QWidget
from pytestqt.qtbot import QtBot

from ctm_gui.application import Application
from ctm_gui.compare.answers import summary
from ctm_gui.prediction.columns import ComparisonColumns
from ctm_gui.prediction.comparison import Comparison, target_names
from ctm_gui.targets.panel import target_menu
from ctm_gui.targets.ranking import ConfigurationRanking
from ctm_gui.targets.variant_dialog import VariantDialog
from ctm_gui.window.workspace import Workspace
from predictor.core.errors import CtmError
from predictor.core.records import Basis, Configuration, Device, Precision
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import number, target_text
from predictor.services.history.history import open_history
from predictor.services.history.past_predictions import NewTruth
from predictor.services.prediction.configurations import (
    further_configurations,
    ranked_configurations,
)
from predictor.services.prediction.explain import explain
from tests.gui.conftest import MakeModel
from tests.support.what_ifs import ask_what_if

Settle = Callable[[Workspace], None]
GPU = "rtx3060"
OK = QDialogButtonBox.StandardButton.Ok


@pytest.fixture
def gpu(workspace: Workspace) -> Device:
    return workspace.library.by_id()[GPU]


@pytest.fixture
def opened(workspace: Workspace, gpu: Device, make_model: MakeModel, settle: Settle) -> Workspace:
    """One model of a dynamic batch on one GPU."""
    workspace.selection.select(workspace.selection.selected_ids, selected=False)
    workspace.selection.select([gpu.id], selected=True)
    workspace.open_paths([str(make_model("chain.onnx", layers=3, batch="batch"))])
    settle(workspace)
    return workspace


def at_batch(device: Device, batch: int) -> Configuration:
    return replace(device.configurations[0], batch=batch)


def fingerprints(comparison: Comparison) -> list[str]:
    return [row.prediction.fingerprint for row in comparison.rows]


def test_a_batch_is_a_row_of_its_own(opened: Workspace, gpu: Device, settle: Settle) -> None:
    opened.selection.add_variant(gpu, at_batch(gpu, 8))
    settle(opened)
    comparison = opened.comparison
    first, eighth = (row.prediction for row in comparison.rows)
    assert [p.configuration.batch for p in (first, eighth)] == [1, 8]
    assert first.fingerprint != eighth.fingerprint
    # A call takes longer with more in it, an item no longer.
    assert first.latency_ms
    assert eighth.latency_ms
    assert first.latency_ms <= eighth.latency_ms <= 8 * first.latency_ms
    assert target_names(comparison.targets)[1].endswith("batch 8)")
    words = summary(ComparisonColumns(comparison.rows), None, LatencyUnit.MS)
    assert "shortest call" in words
    rate = number(8e3 / eighth.latency_ms)
    assert f"most a second {rate} FPS on NVIDIA GeForce RTX 3060 (tensorrt, fp16, batch 8)" in words


def test_every_view_takes_the_graph_of_the_batch(
    opened: Workspace, gpu: Device, settle: Settle
) -> None:
    opened.selection.add_variant(gpu, at_batch(gpu, 8))
    settle(opened)
    (own, target), (eighth, same) = (opened.comparison.pair(0, place) for place in (0, 1))
    assert target.id == same.id
    assert target.run_id != same.run_id
    # Three products of [n, 16] with [16, 16].
    assert int(own.model.graph.macs.sum()) == 3 * 16 * 16
    assert int(eighth.model.graph.macs.sum()) == 8 * 3 * 16 * 16
    table = explain(eighth.model, same)
    assert table.output_shapes[0] == (8, 16)
    latency_ms = opened.comparison.rows[1].prediction.latency_ms
    assert table.latency_ms.sum() == pytest.approx(latency_ms, rel=1e-6)


def test_it_is_read_once_undone_and_let_go(opened: Workspace, gpu: Device, settle: Settle) -> None:
    (entry,) = opened.shelf.entries
    opened.selection.add_variant(gpu, at_batch(gpu, 8))
    settle(opened)
    read = entry.batches[8]
    opened.selection.set_configuration(
        gpu, replace(gpu.configurations[0], precision=Precision.FP32)
    )
    settle(opened)
    assert entry.batches[8] is read
    opened.undo_stack.undo()
    opened.undo_stack.undo()
    settle(opened)
    assert entry.batches == {}
    assert len(opened.comparison.rows) == 1
    opened.undo_stack.redo()
    settle(opened)
    assert [p.prediction.configuration.batch for p in opened.comparison.rows] == [1, 8]


def test_a_dimension_that_the_user_set_gives_way_to_the_batch(
    opened: Workspace, gpu: Device, settle: Settle
) -> None:
    opened.shelf.bind(0, "batch", 4)
    opened.selection.add_variant(gpu, at_batch(gpu, 8))
    settle(opened)
    assert [row.prediction.configuration.batch for row in opened.comparison.rows] == [4, 8]
    assert all(row.prediction.latency_ms for row in opened.comparison.rows)


def test_a_what_if_batch_is_of_the_first_row_of_a_target(
    opened: Workspace, gpu: Device, settle: Settle
) -> None:
    opened.selection.add_variant(gpu, at_batch(gpu, 8))
    ask_what_if(opened, batch=2)
    settle(opened)
    assert [row.prediction.configuration.batch for row in opened.comparison.rows] == [2, 8]
    opened.selection.reset_what_ifs()
    settle(opened)
    assert [row.prediction.configuration.batch for row in opened.comparison.rows] == [1, 8]


def test_a_model_that_pins_its_batch_says_so(
    opened: Workspace, gpu: Device, make_model: MakeModel, settle: Settle
) -> None:
    opened.open_paths([str(make_model("pinned.onnx", pinned=True))])
    opened.selection.add_variant(gpu, at_batch(gpu, 8))
    settle(opened)
    chain, chain8, pinned, pinned8 = (row.prediction for row in opened.comparison.rows)
    assert chain.latency_ms
    assert chain8.latency_ms
    assert pinned.latency_ms
    assert pinned8.latency_ms is None
    assert pinned8.problem.startswith("it cannot run at batch 8: ")
    assert "pinned_squeeze" in pinned8.problem
    assert "dynamic batch dimension" in pinned8.problem


def test_the_store_keeps_batches_apart(
    qtbot: QtBot, opened: Workspace, gpu: Device, settle: Settle, store: Path
) -> None:
    opened.selection.add_variant(gpu, at_batch(gpu, 8))
    settle(opened)
    expected = {
        (p.fingerprint, p.configuration.batch, p.latency_ms)
        for p in (row.prediction for row in opened.comparison.rows)
    }

    def stored() -> set[tuple[str, int, float | None]]:
        with open_history(store) as history:
            every = [each.prediction for each in history.past.read(10).predictions]
        return {(p.fingerprint, p.configuration.batch, p.latency_ms) for p in every}

    qtbot.waitUntil(lambda: stored() == expected, timeout=10_000)


def test_the_dialog_offers_a_batch_and_tells_who_cannot_run_it(
    qtbot: QtBot, opened: Workspace, gpu: Device, make_model: MakeModel, settle: Settle
) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    ranking = ConfigurationRanking(opened.predictor, opened.shelf, opened.user_measurements)
    dialog = VariantDialog(opened.selection, opened.shelf, ranking, gpu, owner)
    dialog.show()
    add = dialog.buttons.button(OK)
    assert [dialog.batch_box.itemText(i) for i in (0, 1, 4)] == ["auto: 1", "1", "8"]
    dialog.batch_box.setEditText("many")
    assert "number from 1 to" in dialog.problem.text()
    assert not add.isEnabled()
    dialog.batch_box.setEditText("1")
    qtbot.waitUntil(lambda: "predicted already" in dialog.problem.text())
    dialog.batch_box.setEditText("24")
    assert dialog.problem.text() == "Reading 1 model at batch 24…"
    qtbot.waitUntil(add.isEnabled)
    qtbot.mouseClick(add, Qt.MouseButton.LeftButton)
    assert opened.undo_stack.undoText().endswith("batch 24")
    settle(opened)
    assert set(opened.shelf.entries[0].batches) == {24}, "those that were only tried are let go"

    opened.open_paths([str(make_model("pinned.onnx", pinned=True))])
    settle(opened)
    again = VariantDialog(opened.selection, opened.shelf, ranking, gpu, owner)
    again.batch_box.setEditText("8")
    qtbot.waitUntil(lambda: "pinned.onnx: it cannot run at batch 8" in again.problem.text())
    assert again.buttons.button(OK).isEnabled(), "the other one can"
    opened.shelf.remove([0])
    again.batch_box.setEditText("16")
    qtbot.waitUntil(lambda: "it cannot run at batch 16" in again.problem.text())
    assert not again.buttons.button(OK).isEnabled()
    again.reject()
    assert 16 not in opened.shelf.entries[0].batches


def test_a_cancelled_reading_is_said_and_reloading_reads_it(
    opened: Workspace, gpu: Device, settle: Settle
) -> None:
    (entry,) = opened.shelf.entries
    opened.selection.add_variant(gpu, at_batch(gpu, 8))
    opened.shelf.cancel_all()
    settle(opened)
    assert isinstance(entry.batches[8], CtmError)
    assert "was cancelled" in opened.comparison.rows[1].prediction.problem
    opened.shelf.read_again(0)
    settle(opened)
    assert all(row.prediction.latency_ms for row in opened.comparison.rows)


def test_what_was_measured_at_a_batch_stands_in_its_row_alone(
    qtbot: QtBot, opened: Workspace, gpu: Device, settle: Settle
) -> None:
    opened.selection.add_variant(gpu, at_batch(gpu, 8))
    settle(opened)
    eighth = opened.comparison.rows[1].prediction
    history = opened.history
    with qtbot.waitSignal(history.truth_requested, timeout=10_000) as found:
        history.find(eighth, gpu.name)
    stored = found.args[0]
    assert stored.prediction.configuration.batch == 8
    # 800 items a second: a call of 8 takes 10 ms.
    history.add_truth(stored, NewTruth("800", LatencyUnit.FPS))

    def bases() -> list[Basis | None]:
        return [row.prediction.basis for row in opened.comparison.rows]

    qtbot.waitUntil(lambda: Basis.MEASURED in bases(), timeout=10_000)
    settle(opened)
    again, measured = (row.prediction for row in opened.comparison.rows)
    assert measured.latency_ms == pytest.approx(10.0)
    assert measured.predicted_ms == pytest.approx(eighth.latency_ms)
    assert again.basis is Basis.PROBED, "it tells of the target, and so of the other row"


def test_the_next_session_has_the_batch_again(
    qtbot: QtBot, make_application: Callable[..., Application], make_model: MakeModel
) -> None:
    path = make_model("chain.onnx", batch="batch")
    before = make_application()
    before.start()
    gpu = before.workspace.library.by_id()[GPU]
    before.workspace.open_paths([str(path)])
    before.workspace.selection.add_variant(gpu, at_batch(gpu, 8))
    qtbot.waitUntil(lambda: 8 in batches_of(before.workspace), timeout=30_000)
    before.window.close()
    before.close()
    after = make_application()
    after.start()
    qtbot.waitUntil(lambda: 8 in batches_of(after.workspace), timeout=30_000)


def batches_of(workspace: Workspace) -> list[int]:
    predictions = [row.prediction for row in workspace.comparison.rows]
    return [p.configuration.batch for p in predictions if p.latency_ms is not None]


def test_the_dialog_lists_configurations_the_fastest_first(
    qtbot: QtBot, opened: Workspace, gpu: Device
) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    ranking = ConfigurationRanking(opened.predictor, opened.shelf, opened.user_measurements)
    dialog = VariantDialog(opened.selection, opened.shelf, ranking, gpu, owner)
    dialog.show()
    listed = opened.selection.choices(gpu)

    def rows() -> list[str]:
        return [dialog.list.item(row).text() for row in range(dialog.list.count())]

    assert len(rows()) == len(listed), "there before they are predicted"
    qtbot.waitUntil(lambda: all(" ms" in row for row in rows()))
    models = opened.shelf.models()
    ranked = ranked_configurations(models, gpu, listed)
    assert rows() == [each.words for each in ranked]

    last = ranked[-1].configuration
    dialog.list.setCurrentRow(len(ranked) - 1)
    assert dialog.runtime_box.currentText() == last.runtime
    assert dialog.precision_box.currentText() == str(last.precision)


def test_the_menu_lists_configurations_the_fastest_first(
    qtbot: QtBot, opened: Workspace, gpu: Device
) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    ranking = ConfigurationRanking(opened.predictor, opened.shelf, opened.user_measurements)
    menu = target_menu(opened.selection, opened.shelf, ranking, gpu, owner)
    choices = next(each for each in menu.findChildren(QMenu) if each.title() == "Configuration")

    def rows() -> list[str]:
        plain = (each for each in choices.actions() if each.menu() is None)
        return [each.text() for each in plain if not each.isSeparator()]

    qtbot.waitUntil(lambda: all(" ms" in row for row in rows()))
    ranked = ranked_configurations(opened.shelf.models(), gpu, opened.selection.choices(gpu))
    assert [row.removesuffix(" (default)") for row in rows()] == [each.words for each in ranked]
    (default,) = (row for row in rows() if row.endswith(" (default)"))
    assert default.startswith(target_text(gpu.configurations[0]))


def test_a_runtime_that_a_device_does_not_list_is_chosen_from_the_menu(
    qtbot: QtBot, opened: Workspace, gpu: Device
) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    ranking = ConfigurationRanking(opened.predictor, opened.shelf, opened.user_measurements)
    menu = target_menu(opened.selection, opened.shelf, ranking, gpu, owner)
    ranked: list[object] = []
    ranking.submit(gpu, opened.selection.choices(gpu), ranked.append)
    qtbot.waitUntil(lambda: bool(ranked))  # after the menu's, which fills it again
    (other,) = (each for each in menu.findChildren(QMenu) if each.title() == "Other Runtimes")
    further = further_configurations(gpu)
    assert [each.text() for each in other.actions()] == [target_text(each) for each in further]

    action = next(each for each in other.actions() if each.text() == "tensorflow, fp16")
    action.trigger()

    assert opened.selection.configuration_of(gpu) == Configuration("tensorflow", Precision.FP16)
    assert opened.selection.choices(gpu)[-1].runtime == "tensorflow"
