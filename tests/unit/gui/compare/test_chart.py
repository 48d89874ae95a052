"""Where bars lie, which way the axis reaches, what a dragged line means."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.compare.chart import (
    GROUP_GAP_PX,
    ROW_PX,
    SINGLE_ROW_PX,
    bars_share,
    budget_in_ms,
    is_budget_visible,
    label_rooms,
    lay_out,
    prefers_log,
    value_range,
)
from ctm_gui.compare.words import Badge, BadgeStyle, badges_of
from ctm_gui.prediction.columns import ComparisonColumns, target_groups
from predictor.core.records import Basis
from predictor.core.units import LatencyUnit


def laid_out(rows, unit=LatencyUnit.MS, budget_ms=None):
    return lay_out(target_groups(ComparisonColumns(rows)), unit, budget_ms)


def bars(layout):
    return list(layout.bars_between(0, layout.height_px))


def test_one_model_has_one_row_a_target(make_row):
    layout = laid_out([make_row("a"), make_row("b"), make_row("c")])
    assert [bar.top_px for bar in bars(layout)] == [0, SINGLE_ROW_PX, 2 * SINGLE_ROW_PX]
    assert layout.height_px == 3 * SINGLE_ROW_PX


def test_several_models_stand_in_groups_with_a_gap(make_row):
    rows = [make_row(d, model=m) for m in ("x", "y") for d in ("a", "b")]
    layout = laid_out(rows)
    half = GROUP_GAP_PX // 2
    step = 2 * ROW_PX + GROUP_GAP_PX
    assert [(bar.row, bar.series, bar.top_px) for bar in bars(layout)] == [
        (0, 0, half),
        (2, 1, half + ROW_PX),
        (1, 0, step + half),
        (3, 1, step + half + ROW_PX),
    ]
    assert layout.height_px == 2 * step
    assert layout.bar_at(half + ROW_PX).row == 2
    assert layout.bar_at(0) is None
    assert layout.group_at(step).name == "B"
    assert layout.group_at(layout.height_px) is None
    assert layout.bar_of_row(3).top_px == step + half + ROW_PX
    assert layout.bar_of_row(9) is None


def test_labels_say_in_words_what_is_wrong(make_row):
    rows = [
        make_row("a", 45.0, fits_memory=False, out_of_distribution="wide"),
        make_row("b", None, problem="not supported: fp32"),
        make_row("c", 12.0),
    ]
    assert [bar.label for bar in bars(laid_out(rows, budget_ms=30.0))] == [
        "45 ms · over · exceeds memory",
        "no number: not supported: fp32",
        "12 ms",
    ]


def test_badges_say_what_a_number_rests_on_and_whether_it_is_in_doubt(make_row):
    measured = make_row("a", 4.0, predicted_ms=5.0)
    prediction = replace(measured.prediction, basis=Basis.MEASURED)
    rows = [
        replace(measured, prediction=prediction),
        make_row("b", 9.0, out_of_distribution="an operator of\u202e its own"),
        make_row("c", None, problem="not supported"),
    ]
    first, second, third = bars(laid_out(rows))

    assert (first.label, first.predicted) == ("4 ms · predicted 5 ms", 5.0)
    assert first.badges == (Badge("measured", BadgeStyle.FILLED),)
    assert second.badges == (
        Badge("analytic", BadgeStyle.PLAIN),
        Badge("uncertain", BadgeStyle.WARNING),
    )
    assert second.doubt == "an operator of\\u202e its own"
    assert third.badges == ()


def test_a_number_of_a_probing_that_failed_its_checks_is_unstable(make_row):
    (bar,) = bars(laid_out([make_row("a", 4.0, unstable="it drifted")]))
    assert bar.badges[1:] == (Badge("unstable", BadgeStyle.WARNING),)


def test_every_basis_has_a_frame_of_its_own(make_row):
    row = make_row("a", 4.0)
    styles = {badges_of(replace(row.prediction, basis=basis))[0].style for basis in Basis}
    assert len(styles) == len(Basis)


def test_a_prediction_beyond_the_measured_bar_is_on_the_axis(make_row):
    rows = [make_row("a", 10.0, predicted_ms=40.0)]
    assert value_range(laid_out(rows), log=False) == (0.0, 40.0)
    assert value_range(laid_out([make_row("a", 10.0, predicted_ms=0.5)]), log=True)[0] == 0.2


def test_a_budget_has_one_line_unless_rates_of_several_batches_are_shown(make_row):
    rows = [make_row("a", batch=1), make_row("b", batch=8)]
    assert laid_out(rows, LatencyUnit.MS, 20.0).budget == 20.0
    assert laid_out(rows, LatencyUnit.US, 20.0).budget == 20_000.0
    assert laid_out(rows, LatencyUnit.FPS, 20.0).budget is None
    assert laid_out(rows[1:], LatencyUnit.FPS, 20.0).budget == 400.0


def test_over_means_slow_in_every_unit(make_row):
    rows = [make_row("slow", 50.0), make_row("fast", 10.0)]
    for unit in LatencyUnit:
        assert [bar.over for bar in bars(laid_out(rows, unit, 20.0))] == [True, False]


@given(
    st.floats(0.001, 1e5),
    st.sampled_from(list(LatencyUnit)),
    st.integers(1, 64),
)
def test_a_line_dragged_to_where_the_budget_is_means_that_budget(make_row, budget, unit, batch):
    budget = float(f"{budget:.3g}")
    rows = [make_row(batch=batch)]
    layout = laid_out(rows, unit, budget)
    assert budget_in_ms(layout, layout.budget) == pytest.approx(budget)


@pytest.mark.parametrize("value", [0.0, -3.0, math.inf])
def test_a_line_dragged_off_the_axis_means_no_budget(make_row, value):
    rows = [make_row()]
    assert budget_in_ms(laid_out(rows), value) is None


def test_the_axis_holds_bars_intervals_and_a_budget_in_reach(make_row):
    rows = [make_row("a", 10.0, low80_ms=8.0, high80_ms=40.0)]
    assert value_range(laid_out(rows), log=False) == (0.0, 40.0)
    near = laid_out(rows, budget_ms=100.0)
    assert value_range(near, log=False) == (0.0, 100.0)
    assert is_budget_visible(near, log=False)
    far = laid_out(rows, budget_ms=500.0)
    assert value_range(far, log=False) == (0.0, 40.0)
    assert not is_budget_visible(far, log=False)


def test_a_logarithmic_axis_is_near_the_data_whatever_the_bound(make_row):
    rows = [make_row("a", 20.0, bound_ms=0.003), make_row("b", 700.0)]
    assert value_range(laid_out(rows), log=True) == (10.0, 700.0)
    exact = [make_row("a", 10.0), make_row("b", 60.0)]
    assert value_range(laid_out(exact), log=True) == (5.0, 60.0)
    assert value_range(laid_out([make_row("a", 48.0)]), log=True) == (20.0, 200.0)


def test_a_linear_axis_starts_at_zero_unless_all_is_far_from_it(make_row):
    near = [make_row("a", 52.0, low80_ms=40.0, high80_ms=68.0)]
    assert value_range(laid_out(near), log=False) == (pytest.approx(37.2), 68.0)
    assert value_range(laid_out([*near, make_row("b", 9.0)]), log=False) == (0.0, 68.0)
    below = laid_out(near, budget_ms=30.0)
    assert value_range(below, log=False)[0] < 30.0
    assert is_budget_visible(below, log=False)


def test_an_empty_chart_has_an_axis(make_row):
    for rows in ([], [make_row(latency_ms=None)]):
        for log in (False, True):
            low, high = value_range(laid_out(rows), log=log)
            assert low < high


@given(st.lists(st.floats(0.01, 1e4), min_size=1, max_size=40), st.integers(1, 30), st.booleans())
def test_every_label_fits_after_its_bar_where_the_least_share_allows(make_row, values, em, log):
    layout = laid_out([make_row(f"d{i}", value) for i, value in enumerate(values)])
    share = bars_share(label_rooms(layout, lambda bar: em * len(bar.label), log=log), 800.0)
    assert 0.55 <= share <= 1.0
    low, high = value_range(layout, log=log)
    for bar in bars(layout):
        reach = math.log(bar.value / low) / math.log(high / low) if log else bar.value / high
        if share > 0.55:
            assert reach * share * 800.0 + em * len(bar.label) <= 800.0 + 1e-6


@given(st.integers(1, 30), st.integers(1, 3), st.floats(0, 600), st.floats(0, 300))
def test_what_is_in_view_is_what_would_be_there_among_all(make_row, devices, models, top, height):
    rows = [make_row(f"d{d}", d + 1.0, f"m{m}") for m in range(models) for d in range(devices)]
    layout = laid_out(rows)
    near = list(layout.bars_between(top, top + height))
    assert [bar for bar in bars(layout) if bar in near] == near
    for bar in bars(layout):
        if bar.top_px < top + height and bar.top_px + layout.row_px > top:
            assert bar in near
    # A large group is not painted whole where one of its rows is in view.
    assert all(bar.top_px + layout.row_px >= top for bar in near)
    assert all(bar.top_px <= top + height + GROUP_GAP_PX for bar in near)


def test_a_wide_span_asks_for_a_logarithmic_axis(make_row):
    assert prefers_log(ComparisonColumns([make_row("a", 1.0), make_row("b", 11.0)]))
    assert not prefers_log(
        ComparisonColumns([make_row("a", 1.0), make_row("b", 9.0), make_row("c", None)])
    )
    assert not prefers_log(ComparisonColumns([make_row("a", 1.0)]))


def test_labels_tell_items_a_second_where_batches_differ(make_row):
    rows = [make_row("a", 4.0), make_row("b", 16.0, batch=8)]
    assert [bar.label for bar in bars(laid_out(rows))] == ["4 ms · 250 FPS", "16 ms · 500 FPS"]
    assert [bar.label for bar in bars(laid_out(rows, LatencyUnit.FPS))] == ["250 FPS", "500 FPS"]
    assert [bar.label for bar in bars(laid_out(rows[:1]))] == ["4 ms"]


def test_a_lower_limit_is_drawn_as_one_and_has_no_interval(make_row):
    limit = make_row("a", 2.0, low80_ms=1.0, high80_ms=4.0, flagged_operators=("MyOp",))
    counted = make_row("b", 8.0, low80_ms=6.0, high80_ms=9.0)
    first, second = bars(laid_out([limit, counted], budget_ms=5.0))
    assert (first.limit, first.low, first.high) == (1, None, None)
    assert first.label == "≥ 2 ms"
    assert (second.limit, second.low, second.high) == (0, 6.0, 9.0)
    (of_rate, _) = bars(laid_out([limit, counted], LatencyUnit.FPS))
    assert (of_rate.limit, of_rate.label) == (-1, "≤ 500 FPS")


def test_what_needs_a_quantised_model_says_so_beside_its_number(make_row):
    row = replace(make_row("npu", 2.0), notes=("INT8 assumes much.",))
    (bar,) = bars(laid_out([row]))
    assert bar.label == "2 ms · needs a quantised model"
