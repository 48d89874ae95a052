"""Models against a baseline: cells, trends, sentences, copies."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest

from ctm_gui.compare.matrix import (
    CellValue,
    MatrixGrid,
    cell_details,
    fastest_models,
    fastest_on,
    matrix_summary,
    variant_matrix,
)
from predictor.core.units import LatencyUnit
from tests.support.matrices import comparison_of

LATENCIES = {"fp32": [10.0, 4.0], "int8": [5.0, 5.0], "npu": [None, 4.0]}


@pytest.fixture
def matrix():
    return variant_matrix(comparison_of(LATENCIES), baseline=0)


def cells(grid: MatrixGrid, target: int) -> list[str]:
    return [column.text(target) for column in grid.columns]


def test_a_row_is_a_target_with_a_number_a_model_and_the_fastest(matrix) -> None:
    grid = MatrixGrid(matrix, LatencyUnit.MS)
    assert [column.title for column in grid.columns] == [
        "Device", "Configuration", "● fp32", "int8", "npu", "Fastest"
    ]  # fmt: skip
    device, configuration, *numbers, fastest = cells(grid, 0)
    assert (device, configuration) == ("Device 0", "pytorch, fp32")
    assert numbers == ["10 ms", "✓ 5 ms", "—"]
    assert fastest == fastest_on(matrix, 0, None)
    assert cells(grid, 1)[2:5] == ["✓ 4 ms", "5 ms", "4 ms"]


def test_changes_stand_against_the_baseline(matrix) -> None:
    grid = MatrixGrid(matrix, LatencyUnit.FPS, value=CellValue.CHANGE)
    assert cells(grid, 0)[2:5] == ["100 FPS", "✓ −50 %", "—"]
    assert cells(grid, 1)[2:5] == ["✓ 250 FPS", "+25 %", "0 %"]


def test_latencies_are_coloured_by_their_logarithm(matrix) -> None:
    heat = MatrixGrid(matrix, LatencyUnit.MS).heat
    assert heat[0].tolist() == pytest.approx([1.0, 0.0])
    assert heat[1, 0] == pytest.approx(math.log(5 / 4) / math.log(10 / 4))
    assert math.isnan(heat[2, 0])


def test_changes_have_their_full_colour_at_twice_and_half(matrix) -> None:
    heat = MatrixGrid(matrix, LatencyUnit.MS, value=CellValue.CHANGE).heat
    assert heat[0].tolist() == [0.0, 0.0]
    assert heat[1].tolist() == pytest.approx([1.0, -math.log2(1.25)])
    assert math.isnan(heat[2, 0])


def test_models_without_a_number_have_no_colour() -> None:
    empty = variant_matrix(comparison_of({"a": [None], "b": [None]}), baseline=0)
    for value in CellValue:
        assert np.isnan(MatrixGrid(empty, LatencyUnit.MS, value=value).heat).all()


def test_details_tell_the_difference_with_its_interval() -> None:
    equal = variant_matrix(
        comparison_of({"a": [10.0], "b": [10.0]}, low80_ms=8.0, high80_ms=12.5), baseline=0
    )
    # Equal graphs share their fingerprint in these rows: they run alike.
    lines = cell_details(equal, 1, 0, LatencyUnit.MS).split("\n")
    assert lines[-2:] == ["0 % (0 % … 0 %)", "0 ms (0 … 0)"]
    assert equal.trend(1, 0) == 0


def test_differences_stay_times_where_rates_are_shown(matrix) -> None:
    assert "−50 % · −5 ms" in cell_details(matrix, 1, 0, LatencyUnit.FPS)
    assert "−50 % · −5000 µs" in cell_details(matrix, 1, 0, LatencyUnit.US)


def test_another_baseline_turns_the_difference_round() -> None:
    found = variant_matrix(comparison_of(LATENCIES), baseline=1)
    assert "+100 % · +5 ms" in cell_details(found, 0, 0, LatencyUnit.MS)
    assert found.trend(0, 0) == 1
    assert found.trend(0, 1) == -1
    assert found.trend(1, 0) == 0


def test_a_baseline_without_a_number_leaves_no_difference() -> None:
    found = variant_matrix(comparison_of(LATENCIES), baseline=2)
    assert cell_details(found, 0, 0, LatencyUnit.MS).endswith("—")
    assert found.trend(0, 0) == 0


def test_details_name_the_baseline_and_the_problem(matrix) -> None:
    assert "Against fp32" in cell_details(matrix, 1, 0, LatencyUnit.MS)
    assert "No number" in cell_details(matrix, 2, 0, LatencyUnit.MS)


def test_the_fastest_by_target(matrix) -> None:
    assert fastest_models(matrix, None).tolist() == [1, 0]
    assert fastest_models(matrix, 4.5).tolist() == [-1, 0]
    sentence = fastest_on(matrix, 0, 6.0)
    assert sentence == "int8 is the fastest that meets 6 ms: 5 ms (1 of 3 models meet it)"
    grid = MatrixGrid(matrix, LatencyUnit.MS, 6.0)
    assert cells(grid, 0)[-1] == sentence
    assert grid.columns[-1].title == "Fastest that meets 6 ms"


def test_the_summary_counts_targets(matrix) -> None:
    assert matrix_summary(matrix) == (
        "Against fp32: int8 is faster on 1 of 2 (−50 % to +25 %); npu is faster on 0 of 1 (0 %)"
    )


def test_a_copy_holds_every_number_in_a_column_of_its_own(matrix) -> None:
    grid = MatrixGrid(matrix, LatencyUnit.MS)
    header, first, second = csv.reader(io.StringIO(grid.as_csv([0, 1])))
    of_first, of_second = (dict(zip(header, row, strict=True)) for row in (first, second))
    assert of_first["Device"] == "Device 0"
    assert of_first["int8: difference ms"] == "-5"
    assert of_second["int8: ratio"] == "1.25"
    assert of_first["int8: ratio, low 80 %"] == ""
    assert of_first["npu: latency ms"] == ""


def test_a_column_sorts_by_latency_with_missing_ones_last(matrix) -> None:
    grid = MatrixGrid(matrix, LatencyUnit.MS)
    column = [column.key for column in grid.columns].index("model 2")
    grid.sort(column)
    assert grid.order.tolist() == [1, 0]
    assert grid.model_of(column) == 2
    assert grid.model_of(0) is None
    assert grid.model_of(len(grid.columns) - 1) is None


def test_the_search_is_for_targets(matrix) -> None:
    grid = MatrixGrid(matrix, LatencyUnit.MS)
    assert grid.search("device 1 fp32").tolist() == [False, True]
    assert not grid.search("int8").any()
