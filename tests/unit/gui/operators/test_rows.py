"""The Operators view without a widget."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.operators.rows import (
    OperatorFilter,
    OperatorsGrid,
    OperatorSummary,
    cumulative_share,
    operator_unit,
    totals,
    type_details,
)
from predictor.core.units import LatencyUnit
from predictor.presentation.wording import percent


def place(grid, key):
    return [column.key for column in grid.columns].index(key)


def test_time_by_type_is_the_sum_of_its_operators(small_table):
    times = OperatorSummary(small_table).type_times
    assert [(t.label, t.count, t.latency_ms, t.share) for t in times] == [
        ("Conv", 2, 6.0, 0.6),
        ("Gemm", 1, 3.0, 0.3),
        ("Softmax", 1, 1.0, 0.1),
        ("2 types without cost", 2, 0.0, 0.0),
    ]
    assert times[0].by_bound_ms == (5.0, 1.0, 0.0)
    assert type_details(times[0], LatencyUnit.MS).splitlines() == [
        "Conv: 2 operators",
        "6 ms, 60 % of the model",
        "bound by compute: 5 ms",
        "bound by memory: 1 ms",
    ]


def test_types_beyond_the_slowest_six_are_one(make_table):
    kinds = tuple("ABCDEFGHI")
    table = make_table(names=kinds, op_types=kinds, latency_ms=[float(9 - i) for i in range(9)])
    times = OperatorSummary(table).type_times
    assert [time.label for time in times] == [*"ABCDEF", "3 more types"]
    assert times[-1].types == frozenset("GHI")
    assert times[-1].latency_ms == 3.0 + 2.0 + 1.0


@given(
    st.lists(st.tuples(st.sampled_from("ABCDEFGHIJ"), st.floats(0, 100)), min_size=1, max_size=40)
)
def test_times_by_type_add_up_to_the_whole(make_table, operators):
    kinds = tuple(kind for kind, _ in operators)
    table = make_table(
        names=kinds, op_types=kinds, latency_ms=[latency for _, latency in operators]
    )
    times = OperatorSummary(table).type_times
    assert sum(time.latency_ms for time in times) == pytest.approx(table.latency_ms.sum())
    assert sum(time.count for time in times) == len(kinds)
    assert frozenset().union(*(time.types for time in times)) == set(kinds)


def test_filters_narrow_one_another(small_table):
    summary = OperatorSummary(small_table)
    assert summary.mask(OperatorFilter()).all()
    assert summary.mask(OperatorFilter("CONV")).tolist() == [True, False, True] + [False] * 3
    hidden = summary.mask(OperatorFilter(hide_free=True))
    assert hidden.tolist() == [True, False, True, False, True, True]
    chosen = OperatorFilter("2", frozenset({"Conv"}), hide_free=True)
    assert np.flatnonzero(summary.mask(chosen)).tolist() == [2]


def test_a_fused_operator_that_a_target_runs_apart_is_not_hidden(small_table):
    latency_ms = small_table.latency_ms.copy()
    before = OperatorSummary(small_table)
    place = int(np.flatnonzero(before.is_free)[0])
    latency_ms[place] = 0.1

    timed = OperatorSummary(replace(small_table, latency_ms=latency_ms))

    assert not timed.is_free[place]
    assert timed.mask(OperatorFilter(hide_free=True))[place]
    assert timed.is_free.sum() == before.is_free.sum() - 1


@given(st.text(max_size=5), st.booleans())
def test_a_filter_of_what_it_lets_through_lets_all_of_it_through(small_table, search, hide):
    summary = OperatorSummary(small_table)
    once = summary.mask(OperatorFilter(search, hide_free=hide))
    again = summary.mask(OperatorFilter(search, hide_free=hide)) & once
    assert again.tolist() == once.tolist()
    assert not (once & ~summary.mask(OperatorFilter(search))).any()


def test_shares_add_up_in_the_order_shown():
    share = np.array([0.5, 0.2, 0.3])
    assert cumulative_share(share, np.array([2, 0, 1])).tolist() == [0.8, 1.0, 0.3]
    partial = cumulative_share(share, np.array([1]))
    assert partial[1] == 0.2
    assert np.isnan(partial[[0, 2]]).all()


def test_the_cumulative_column_follows_order_and_filter(small_table):
    grid = OperatorsGrid(OperatorSummary(small_table), LatencyUnit.MS)
    grid.sort(place(grid, "latency"), descending=True)
    cumulative = grid.columns[place(grid, "cumulative")]
    shown = [cumulative.text(grid.source(i)) for i in range(grid.count)]
    assert shown == ["50 %", "80 %", "90 %", "100 %", "100 %", "100 %"]
    grid.show_only(np.array([False, False, True, False, True, False]))
    assert [cumulative.text(row) for row in grid.order] == ["30 %", "40 %"]
    grid.sort(place(grid, "number"))
    assert [cumulative.text(row) for row in grid.order] == ["10 %", "40 %"]


def test_cells_are_written_for_people(small_table):
    grid = OperatorsGrid(OperatorSummary(small_table), LatencyUnit.US)
    cells = {column.key: column.text(0) for column in grid.columns}
    assert cells["number"] == "1"
    assert cells["shape"] == "1×64×56×56"
    assert cells["macs"] == "1 k"
    assert cells["bytes"] == "10 B"
    assert cells["latency"] == "5000"
    assert cells["share"] == "50 %"
    assert grid.columns[place(grid, "shape")].text(5) == "scalar"
    assert grid.columns[place(grid, "latency")].title == "Latency (µs)"


def test_shapes_sort_by_their_elements_and_names_by_their_numbers(make_table):
    table = make_table(
        names=("n10", "n9", "n1"),
        op_types=("A",) * 3,
        latency_ms=[1.0] * 3,
        output_shapes=((9, 9), (100,), ()),
    )
    grid = OperatorsGrid(OperatorSummary(table), LatencyUnit.MS)
    grid.sort(place(grid, "shape"))
    assert grid.order.tolist() == [2, 0, 1]
    grid.sort(place(grid, "name"))
    assert grid.order.tolist() == [2, 1, 0]


def test_a_rate_is_never_shown_for_one_operator(small_table):
    assert operator_unit(LatencyUnit.FPS) is LatencyUnit.MS
    grid = OperatorsGrid(OperatorSummary(small_table), LatencyUnit.FPS)
    assert grid.columns[place(grid, "latency")].title == "Latency (ms)"


def test_a_copy_holds_whole_counts_and_escaped_names(make_table):
    table = make_table(
        names=("a\u202e\nb", "=x"),
        op_types=("Conv", "Conv"),
        latency_ms=[1.0, 3.0],
        macs=np.array([123_456_789, 0]),
        bound_type=("—", "memory"),
    )
    grid = OperatorsGrid(OperatorSummary(table), LatencyUnit.MS)
    read = list(csv.DictReader(io.StringIO(grid.as_csv(grid.order), newline="")))
    assert [line["Name"] for line in read] == ["a\\u202e\\x0ab", "'=x"]
    assert [line["MACs"] for line in read] == ["123456789", "0"]
    assert [line["Share"] for line in read] == ["0.25", "0.75"]
    assert [line["Bound by"] for line in read] == ["", "memory"]


def test_totals_tell_the_whole_and_the_part_shown(small_table):
    everything = totals(small_table, np.arange(6), LatencyUnit.MS).replace(
        "\N{NO-BREAK SPACE}", " "
    )
    assert everything == "6 operators: 10 ms, 1.7 k MACs, 100 B moved"
    part = totals(small_table, np.array([4]), LatencyUnit.FPS).replace("\N{NO-BREAK SPACE}", " ")
    assert part == f"{everything}  |  shown: 1 operator, 3 ms, 500 MACs, 30 B moved (30 %)"


def test_a_model_without_any_time_has_shares_of_nothing(make_table):
    table = make_table(names=("a",), op_types=("View",), latency_ms=[0.0], bound_type=("—",))
    grid = OperatorsGrid(OperatorSummary(table), LatencyUnit.MS)
    assert grid.bar_length(0) == 0.0
    assert OperatorSummary(table).type_times[0].share == 0.0
    assert percent(float("nan")) == "—"
