"""The comparison table without a widget."""

import csv
import io

from ctm_gui.compare.comparison_grid import ComparisonGrid
from ctm_gui.prediction.columns import ComparisonColumns
from predictor.core.units import LatencyUnit
from predictor.presentation.prediction_rows import Place, TableContext


def grid_of(rows, unit=LatencyUnit.MS, budget_ms=None):
    return ComparisonGrid(ComparisonColumns(rows), TableContext(Place.COMPARE, unit, budget_ms))


def cells(grid, row):
    return {column.key: column.text(row) for column in grid.columns}


def place(grid, key):
    return [column.key for column in grid.columns].index(key)


def test_a_row_shows_the_facts_of_its_prediction(make_row):
    row = make_row(latency_ms=45.0, low80_ms=40.0, high80_ms=60.0, bound_ms=9.0, fits_memory=True)
    assert cells(grid_of([row], budget_ms=30.0), 0) == {
        "model": "resnet50",
        "device": "RPI5",
        "runtime": "ncnn",
        "precision": "fp32",
        "threads": "4",
        "batch": "1",
        "latency": "45",
        "tokens": "—",
        "tokens80": "—",
        "first": "—",
        "interval80": "40 – 60",
        "surer": "Make It Surer…",
        "predicted": "—",
        "fps": "22.2",
        "bound": "9",
        "memory": "fits",
        "basis": "analytic",
        "verdict": "over (1.5×)",
        "remarks": "",
    }


def test_units_change_numbers_and_titles(make_row):
    rows = [make_row(latency_ms=2.0, bound_ms=1.0, batch=8)]
    micro = grid_of(rows, LatencyUnit.US)
    assert cells(micro, 0)["latency"] == "2000"
    titles = [column.title for column in micro.columns]
    assert {"Latency (µs)", "FPS", "Bound (µs)", "80 % interval (µs)"} <= set(titles)
    rate = grid_of(rows, LatencyUnit.FPS)
    titles = [column.title for column in rate.columns]
    assert titles.count("FPS") == 1
    assert {"Latency (ms)", "Bound (FPS)"} <= set(titles)
    assert cells(rate, 0)["latency"] == "4000"
    assert cells(rate, 0)["fps"] == "2"


def test_sorting_by_latency_puts_rows_without_a_number_last_in_both_directions(make_row):
    rows = [make_row("a", 30.0), make_row("b", None), make_row("c", 4.0), make_row("d", 30.0)]
    grid = grid_of(rows)
    grid.sort(place(grid, "latency"))
    assert grid.order.tolist() == [2, 0, 3, 1]
    grid.sort(place(grid, "latency"), descending=True)
    assert grid.order.tolist() == [0, 3, 2, 1]
    grid.sort(None)
    assert grid.order.tolist() == [0, 1, 2, 3]


def test_further_configurations_stand_under_their_device(make_row):
    rows = [make_row("x", 30.0), make_row("y", 4.0)]
    further = [make_row("x", 1.0), make_row("x", 50.0)]
    data = ComparisonColumns(rows, further)
    grid = ComparisonGrid(data, TableContext(Place.COMPARE), {"x": True})
    grid.sort(place(grid, "latency"))
    assert grid.order.tolist() == [1, 0, 2, 3]
    grid.sort(place(grid, "latency"), descending=True)
    assert grid.order.tolist() == [0, 3, 2, 1]
    names = [cells(grid, row)["device"] for row in range(4)]
    assert names[:2] == ["▾ X", "Y"]
    assert all(name.strip().startswith("└ ncnn") for name in names[2:])
    copied = next(csv.reader(io.StringIO(grid.as_csv([2], titled=False))))
    assert "X" in copied


def test_a_narrow_interval_and_a_measured_latency_are_sure(make_row):
    narrow = make_row(latency_ms=10.0, low80_ms=9.5, high80_ms=10.5)
    assert cells(grid_of([narrow]), 0)["surer"] == ""
    assert cells(grid_of([make_row(latency_ms=None)]), 0)["surer"] == ""


def test_the_problem_names_all_that_is_wrong(make_row):
    row = make_row(
        latency_ms=None,
        problem="missing metric dram_bw_gbps",
        out_of_distribution="wide",
        flagged_operators=("x", "y"),
    )
    assert cells(grid_of([row]), 0)["remarks"] == (
        "no number: missing metric dram_bw_gbps; 2 operators not counted in full"
    )


def test_a_copy_holds_more_digits_and_leaves_out_dashes(make_row):
    rows = [make_row("=cmd", 1 / 3), make_row("b", None)]
    grid = grid_of(rows, budget_ms=30.0)
    read = list(csv.DictReader(io.StringIO(grid.as_csv([1, 0]), newline="")))
    assert [line["Latency (ms)"] for line in read] == ["", "0.333333"]
    assert [line["Device"] for line in read] == ["B", "'=CMD"]
    assert [line["Budget"] for line in read] == ["", "meets"]
    assert grid.as_markdown([0]).splitlines()[1].count("---:") == 8


def test_columns_that_a_comparison_needs_are_found_in_a_few_rows(make_row):
    plain = make_row(latency_ms=4.0)
    measured = make_row(latency_ms=4.0, predicted_ms=5.0)
    interval = make_row(latency_ms=4.0, low80_ms=3.0, high80_ms=5.0)
    rows = [plain] * 50 + [measured] + [plain] * 50 + [interval]
    assert len(ComparisonColumns(rows).examples) <= 4
    needed = grid_of(rows).needed_columns()
    assert needed["predicted"]
    assert needed["interval80"]
    assert not needed["tokens"]
    needed = grid_of([plain] * 50).needed_columns()
    assert not needed["predicted"]
    assert not needed["interval80"]


def test_a_number_wins_over_a_missing_one_in_the_badge_of_a_device(make_row):
    known, missing = make_row(latency_ms=4.0), make_row(latency_ms=None, problem="why")
    for rows in ([known, missing], [missing, known]):
        assert ComparisonColumns(rows).badges == {
            known.prediction.device_id: ("analytic", "The numbers are analytic (roofline 1).")
        }
    (badge,) = ComparisonColumns([missing]).badges.values()
    assert badge == ("no number", "why")
