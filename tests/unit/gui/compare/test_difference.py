"""Two models' operators side by side: choice, sums by target, rows, filter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from ctm_gui.compare import difference
from ctm_gui.compare.difference import (
    DifferenceGrid,
    DifferencePresenter,
    TargetsGrid,
    difference_summary,
)
from ctm_gui.tasks.serial import SerialWorker
from predictor.core.units import LatencyUnit
from predictor.services.prediction.operator_difference import Change
from tests.support.matrices import comparison_of, model_named
from tests.support.operator_graphs import Named

OPERATORS = {
    "first": [Named(name="/a/x"), Named("Relu", name="/b/x"), Named("Add", name="/c/x")],
    "second": [
        Named(name="/a/x", shape=(1, 4)),
        Named("Mul", name="/d/x"),
        Named("Add", name="/c/x"),
    ],
    "third": [Named(name="/a/x")],
}
LATENCIES = {"first": [1.0, 1.0], "second": [1.0, 1.0], "third": [1.0, 1.0]}


@pytest.fixture
def worker() -> Iterator[SerialWorker]:
    worker = SerialWorker("test")
    yield worker
    worker.close()


@pytest.fixture
def presenter(qtbot: QtBot, worker: SerialWorker) -> DifferencePresenter:
    presenter = DifferencePresenter(worker)
    presenter.set_active(active=True)
    with qtbot.waitSignal(presenter.difference_changed):
        presenter.set_comparison(comparison_of(LATENCIES, OPERATORS))
    return presenter


def cells(grid, key: str) -> list[str]:
    column = next(column for column in grid.columns if column.key == key)
    return [column.text(row) for row in range(grid.count)]


def test_the_first_two_models_are_compared_until_others_are_chosen(
    qtbot: QtBot, presenter: DifferencePresenter
) -> None:
    assert presenter.choice == (0, 1)
    assert difference_summary(presenter.difference) == (
        "From first to second: 1 added, 1 removed, 1 changed, 1 same"
    )
    with qtbot.waitSignal(presenter.difference_changed):
        presenter.choose(2, 0)
    assert difference_summary(presenter.difference) == (
        "From third to first: 2 added, 0 removed, 0 changed, 1 same"
    )
    with qtbot.waitSignal(presenter.difference_changed):
        presenter.exchange()
    assert presenter.choice == (0, 2)


def test_times_by_change_sum_to_the_difference(presenter: DifferencePresenter) -> None:
    grid = TargetsGrid(presenter.difference, LatencyUnit.MS)
    columns = {column.key: column.sort_keys() for column in grid.columns if column.numeric}
    moved = sum(columns[change.value] for change in Change)
    assert moved == pytest.approx(columns["after"] - columns["before"])
    assert columns["difference"] == pytest.approx(moved)
    assert (columns["removed"] < 0).all()
    assert (columns["added"] > 0).all()


def test_a_row_says_what_became_of_an_operator(presenter: DifferencePresenter) -> None:
    grid = DifferenceGrid(presenter.difference, 0, LatencyUnit.MS)
    assert cells(grid, "change") == ["changed", "removed", "added", "same"]
    assert cells(grid, "what") == ["shape", "—", "—", "—"]
    assert cells(grid, "shape")[0] == "1×8×8×8 → 1×4"
    assert cells(grid, "before")[2] == "—"
    assert cells(grid, "moved")[1].startswith("−")


def test_rows_are_filtered_by_words_and_change(presenter: DifferencePresenter) -> None:
    grid = DifferenceGrid(presenter.difference, 0, LatencyUnit.MS)
    assert grid.mask("", Change.ADDED).tolist() == [False, False, True, False]
    assert grid.mask("relu", None).tolist() == [False, True, False, False]
    assert not grid.mask("relu", Change.ADDED).any()


def test_one_model_has_nothing_to_differ_from(qtbot: QtBot, presenter: DifferencePresenter) -> None:
    with qtbot.waitSignal(presenter.difference_changed):
        presenter.set_comparison(comparison_of({"first": [1.0]}, OPERATORS))
    assert presenter.difference is None
    assert "two models" in presenter.message


def test_targets_come_part_by_part(
    qtbot: QtBot, worker: SerialWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(difference, "_PART_S", 0.0)
    presenter = DifferencePresenter(worker)
    presenter.set_active(active=True)
    known: list[int] = []
    presenter.difference_changed.connect(lambda: known.append(len(presenter.difference.times)))
    presenter.set_comparison(comparison_of(LATENCIES, OPERATORS))
    qtbot.waitUntil(lambda: presenter.settled)
    assert known == [1, 2]
    grid = TargetsGrid(presenter.difference, LatencyUnit.MS)
    assert "—" not in cells(grid, "after")


def test_nothing_is_computed_while_nobody_looks(qtbot: QtBot, worker: SerialWorker) -> None:
    presenter = DifferencePresenter(worker)
    presenter.set_comparison(comparison_of(LATENCIES, OPERATORS))
    assert presenter.settled
    assert presenter.difference is None
    with qtbot.waitSignal(presenter.difference_changed):
        presenter.set_active(active=True)
    assert presenter.difference is not None


def test_a_batch_has_its_own_operators(qtbot: QtBot, worker: SerialWorker) -> None:
    comparison = comparison_of({"first": [1.0, 4.0], "second": [1.0, 4.0]}, OPERATORS)
    own, other = comparison.targets
    shapes = [Named(name="/a/x", shape=(8, 4)), Named("Add", name="/c/x")]
    targets = (own, replace(other, configuration=replace(other.configuration, batch=8)))
    models = tuple(
        replace(each, batches={8: model_named(each.label, shapes)}) for each in comparison.models
    )
    presenter = DifferencePresenter(worker)
    presenter.set_active(active=True)
    presenter.set_comparison(replace(comparison, models=models, targets=targets))
    qtbot.waitUntil(lambda: presenter.settled)
    at_eight = DifferenceGrid(presenter.difference, 1, LatencyUnit.MS)
    assert cells(at_eight, "change") == ["same", "same"]
    assert cells(at_eight, "shape")[0] == "8×4"
    assert at_eight.mask("", Change.SAME).tolist() == [True, True]
    assert cells(DifferenceGrid(presenter.difference, 0, LatencyUnit.MS), "change")[0] == "changed"
    assert "—" not in cells(TargetsGrid(presenter.difference, LatencyUnit.MS), "after")
