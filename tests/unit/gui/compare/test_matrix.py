"""Models against a baseline: cells, trends, sentences, copies."""

from __future__ import annotations

import csv
import io

import pytest

from ctm_gui.compare.matrix import (
    FastestGrid,
    VariantsGrid,
    cell_details,
    cell_lines,
    fastest_models,
    fastest_on,
    matrix_summary,
    variant_matrix,
)
from predictor.core.units import LatencyUnit
from tests.unit.gui.compare.matrices import comparison_of

LATENCIES = {"fp32": [10.0, 4.0], "int8": [5.0, 5.0], "npu": [None, 4.0]}


@pytest.fixture
def matrix():
    return variant_matrix(comparison_of(LATENCIES), baseline=0)


def test_a_cell_says_latency_and_difference(matrix) -> None:
    assert cell_lines(matrix, 0, 0, LatencyUnit.MS) == ["10 ms", "baseline"]
    assert cell_lines(matrix, 1, 0, LatencyUnit.MS) == ["5 ms", "−50 % · −5 ms"]
    assert cell_lines(matrix, 1, 1, LatencyUnit.MS) == ["5 ms", "+25 % · +1 ms"]
    assert cell_lines(matrix, 2, 0, LatencyUnit.MS) == ["no number"]
    assert cell_lines(matrix, 2, 1, LatencyUnit.MS) == ["4 ms", "0 % · 0 ms"]


def test_variants_stay_times_where_rates_are_shown(matrix) -> None:
    assert cell_lines(matrix, 1, 0, LatencyUnit.FPS) == ["200 FPS", "−50 % · −5 ms"]
    assert cell_lines(matrix, 1, 0, LatencyUnit.US)[1] == "−50 % · −5000 µs"


def test_intervals_of_the_difference_stand_beside_it() -> None:
    found = variant_matrix(
        comparison_of({"a": [10.0], "b": [10.0]}, low80_ms=8.0, high80_ms=12.5), baseline=0
    )
    # Equal graphs share their fingerprint in these rows: they run alike.
    assert cell_lines(found, 1, 0, LatencyUnit.MS)[1:] == ["0 % (0 % … 0 %)", "0 ms (0 … 0)"]
    assert found.trend(1, 0) == 0


def test_another_baseline_turns_the_difference_round() -> None:
    found = variant_matrix(comparison_of(LATENCIES), baseline=1)
    assert cell_lines(found, 0, 0, LatencyUnit.MS) == ["10 ms", "+100 % · +5 ms"]
    assert found.trend(0, 0) == 1
    assert found.trend(0, 1) == -1
    assert found.trend(1, 0) == 0


def test_a_baseline_without_a_number_leaves_no_difference() -> None:
    found = variant_matrix(comparison_of(LATENCIES), baseline=2)
    assert cell_lines(found, 0, 0, LatencyUnit.MS) == ["10 ms"]
    assert found.trend(0, 0) == 0


def test_details_name_the_baseline_and_the_problem(matrix) -> None:
    assert "Against fp32" in cell_details(matrix, 1, 0, LatencyUnit.MS)
    assert "No number" in cell_details(matrix, 2, 0, LatencyUnit.MS)


def test_the_fastest_by_target(matrix) -> None:
    assert fastest_models(matrix, None).tolist() == [1, 0]
    assert fastest_models(matrix, 4.5).tolist() == [-1, 0]
    sentence = fastest_on(matrix, 0, 6.0)
    assert sentence == "int8 is the fastest that meets 6 ms: 5 ms (1 of 3 models meet it)"
    grid = FastestGrid(matrix, 6.0)
    assert [column.text(0) for column in grid.columns] == ["Device 0", sentence]


def test_the_summary_counts_targets(matrix) -> None:
    assert matrix_summary(matrix) == (
        "Against fp32: int8 is faster on 1 of 2 (−50 % to +25 %); npu is faster on 0 of 1 (0 %)"
    )


def test_a_copy_holds_every_number_in_a_column_of_its_own(matrix) -> None:
    grid = VariantsGrid(matrix, LatencyUnit.MS)
    header, _, int8, npu = csv.reader(io.StringIO(grid.as_csv([0, 1, 2])))
    own = dict(zip(header, int8, strict=True))
    assert own["Model"] == "int8"
    assert own["Device 0, pytorch, fp32: difference ms"] == "-5"
    assert own["Device 1, pytorch, fp32: ratio"] == "1.25"
    assert own["Device 0, pytorch, fp32: ratio, low 80 %"] == ""
    assert dict(zip(header, npu, strict=True))["Device 0, pytorch, fp32: latency ms"] == ""


def test_a_column_sorts_by_latency_with_missing_ones_last(matrix) -> None:
    grid = VariantsGrid(matrix, LatencyUnit.MS)
    column = [column.key for column in grid.columns].index("target 0")
    grid.sort(column)
    assert grid.order.tolist() == [1, 0, 2]
    assert grid.target_of(column) == 0
    assert grid.target_of(0) is None
