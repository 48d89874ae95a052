"""Rows, words and geometry of the maps of attention, worked out by hand."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.attention.grid import AttentionGrid
from ctm_gui.attention.map import GAP, ROW_PX, Cell, MapLayout
from ctm_gui.attention.summary import AttentionSummary
from predictor.cost.engine import AttentionMaps
from tests.support.attention_summary import BACKWARD, GPU, make_summary


@pytest.fixture
def summary() -> AttentionSummary:
    return make_summary()


def test_types_look_at_the_mean_and_are_seen_by_the_sum(summary: AttentionSummary) -> None:
    rows = summary.types

    assert rows.names == ("Conv", "Add")
    assert rows.counts.tolist() == [2, 1]
    assert rows.row_of.tolist() == [0, 1, 0]
    assert rows.latency_share.tolist() == [0.75, 0.25]
    assert rows.to_metrics.tolist() == [[0.5, 0.5], [0.125, 0.875]]
    assert rows.from_metrics.tolist() == [[0.75, 0.875], [0.25, 0.125]]


def test_the_slowest_rows_are_named_with_what_they_look_at(summary: AttentionSummary) -> None:
    assert summary.pairs(summary.operators) == (
        "Conv head\\u202e and Add join are most sensitive to memory bandwidth (75 to 87.5 %); "
        "Conv stem is most sensitive to SMs or compute units (75 %)"
    )
    assert summary.pairs(summary.types).startswith(
        "Conv (2 operators) are about evenly sensitive to all 2 metrics, most to "
    )


def test_a_name_that_says_its_type_stands_alone(summary: AttentionSummary) -> None:
    rows = replace(summary.operators, names=("Conv_3", "/layer1/ADD", "stem"))
    assert [rows.label(row) for row in range(3)] == ["Conv_3", "/layer1/ADD", "Conv stem"]


def test_a_cell_is_said_with_the_value_of_the_metric(summary: AttentionSummary) -> None:
    rows = summary.operators

    assert summary.cell_sentence(rows, 0, 1, backward=False) == (
        "Conv stem gives 25 % of attention to Memory bandwidth (1555 GB/s)"
    )
    assert summary.cell_sentence(rows, 1, 0, backward=True) == (
        "SMs or compute units (108) gives 25 % of its attention to Add join"
    )


def test_both_weights_are_explained(summary: AttentionSummary) -> None:
    assert "λ = 0.62" in summary.meaning()
    assert "62 % from operators" in summary.meaning()
    assert "38 % from metrics" in summary.meaning()
    assert "α = 0.50" in summary.meaning()


def test_shares_of_time_are_no_weights_of_a_network(summary: AttentionSummary) -> None:
    maps = replace(summary.attention, is_time=True)
    estimated = AttentionSummary(replace(summary.table, attention=maps), GPU)

    assert estimated.meaning().startswith("Shares of time, estimated:")
    assert estimated.pairs(estimated.operators) == (
        "Conv head\\u202e and Add join wait mostly for memory bandwidth (75 to 87.5 % of their "
        "time); Conv stem waits mostly for SMs or compute units (75 % of its time)"
    )
    assert "λ" not in estimated.meaning()
    assert estimated.cell_sentence(estimated.types, 0, 1, backward=False).startswith(
        "Conv (2 operators) spend "
    )
    assert estimated.cell_sentence(estimated.operators, 1, 0, backward=True) == (
        "25 % of the time that goes to SMs or compute units is in Add join"
    )


def test_shares_of_time_are_weighed_by_it_and_no_time_has_none(summary: AttentionSummary) -> None:
    maps = replace(summary.attention, is_time=True)
    timed = replace(summary.table, attention=maps, share=np.array([0.25, 0.0, 0.75]))
    estimated = AttentionSummary(timed, GPU)

    assert estimated.operators.to_metrics[1].tolist() == [0.0, 0.0]
    # A quarter of (0.75, 0.25) and three quarters of (0.25, 0.75).
    assert estimated.types.to_metrics.tolist() == [[0.375, 0.625], [0.0, 0.0]]
    assert estimated.pairs(estimated.types) == (
        "Conv (2 operators) are about evenly sensitive to all 2 metrics, "
        "most to memory bandwidth (62.5 %)"
    )


def test_a_copy_holds_both_maps_whole(summary: AttentionSummary) -> None:
    grid = AttentionGrid(summary, summary.operators)
    header, *lines = csv.reader(io.StringIO(grid.as_csv([2, 0])))

    assert header[-4:] == [
        "to SMs or compute units",
        "to Memory bandwidth",
        "from SMs or compute units",
        "from Memory bandwidth",
    ]
    assert [line[1] for line in lines] == ["head\\u202e", "stem"]
    assert [[float(cell) for cell in line[-4:]] for line in lines] == [
        [0.25, 0.75, 0.25, 0.75],
        [0.75, 0.25, 0.5, 0.125],
    ]


def test_the_table_sorts_by_what_rows_look_at(summary: AttentionSummary) -> None:
    grid = AttentionGrid(summary, summary.operators)
    keys = [column.key for column in grid.columns]

    grid.sort(keys.index("attention"), descending=True)
    assert grid.order.tolist() == [1, 0, 2]
    grid.sort(keys.index("looks"))
    assert grid.order.tolist() == [1, 2, 0]
    looks = grid.columns[keys.index("looks")].text
    assert [looks(row) for row in (0, 1)] == ["SMs or compute units", "Memory bandwidth"]


@given(place=st.integers(0, 2), metric=st.integers(0, 1), backward=st.booleans())
def test_a_cell_is_found_where_it_is_painted(place: int, metric: int, backward: bool) -> None:
    layout = layout_of([2, 0, 1])
    cell = Cell(int(layout.order[place]), metric, backward)

    x, y = layout.x_of(cell) + 0.5, (place + 0.5) * ROW_PX
    assert layout.cell_at(x, y) == cell
    assert layout.place_of(cell.row) == place


def test_the_gap_and_the_outside_hold_no_cell() -> None:
    layout = layout_of([2, 0])

    for x, y in ((2 + GAP / 2, 5.0), (-0.5, 5.0), (layout.columns + 0.5, 5.0), (0.5, 2.5 * ROW_PX)):
        assert layout.cell_at(x, y) is None


def test_the_cursor_steps_from_one_map_into_the_other_and_stops_at_the_edges() -> None:
    layout = layout_of([2, 0])

    assert layout.stepped(None, 1, 0) == Cell(2, 0, backward=False)
    assert layout.stepped(Cell(2, 1, backward=False), 0, 1) == Cell(2, 0, backward=True)
    assert layout.stepped(Cell(0, 1, backward=True), 5, 5) == Cell(0, 1, backward=True)
    assert layout_of([]).stepped(None, 0, 1) is None


def test_a_filter_changes_no_colour_and_a_tall_map_gets_thin_rows() -> None:
    assert layout_of([1]).scale(backward=False) == layout_of([0, 1, 2]).scale(backward=False)
    assert layout_of([1]).scale(backward=False) == (0.0, 0.875)
    assert layout_of([0, 1, 2]).full().row_px == ROW_PX
    tall = MapLayout(layout_of([]).summary, layout_of([]).rows, np.arange(10_000))
    assert tall.full().row_px == 1


def test_shares_that_are_about_equal_are_said_to_be_and_fill_the_scale() -> None:
    alike = np.array([[0.48, 0.52], [0.5, 0.5], [0.49, 0.51]], np.float32)
    table = make_summary().table
    maps = AttentionMaps(
        metrics=("core_count", "threads_in_use"),
        operator_to_metric=alike,
        metric_to_operator=BACKWARD,
        blend=0.5,
        residual=0.5,
    )
    summary = AttentionSummary(replace(table, attention=maps), GPU)
    layout = MapLayout(summary, summary.operators, np.arange(3))

    assert summary.pairs(summary.operators) == (
        "Conv head\\u202e is about evenly sensitive to all 2 metrics, "
        "most to threads in use (51 %); so are the next slowest"
    )
    assert layout.scale(backward=False) == pytest.approx((0.48, 0.52))
    assert layout.scale(backward=True) == (0.0, 0.75)
    said = layout.sentence(Cell(0, 1, backward=False))
    assert said.startswith("Conv stem gives 52 % of attention to ")
    assert "—" not in said


def layout_of(order: list[int]) -> MapLayout:
    made = make_summary()
    return MapLayout(made, made.operators, np.array(order, dtype=np.intp))
