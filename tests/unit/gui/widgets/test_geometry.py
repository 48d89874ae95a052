"""Geometry of plots and tables: ticks, widths, the nearest of points."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.widgets.geometry import log_ticks, nearest_point, shared_widths


def values(ticks):
    return [pytest.approx(10**tick) for tick in ticks]


def test_wide_decades_have_labels_at_two_and_five():
    labelled, bare = log_ticks(0.0, 2.0, 800.0)
    assert values(labelled) == [1, 2, 5, 10, 20, 50, 100]
    assert values(bare) == [3, 4, 6, 7, 8, 9, 30, 40, 60, 70, 80, 90]


def test_decades_in_between_have_a_label_at_three():
    # 150 pixels a decade: 72 from 1 to 3, 78 from 3 to 10; 5 would stand 45 before 10.
    labelled, bare = log_ticks(0.0, 2.0, 300.0)
    assert values(labelled) == [1, 3, 10, 30, 100]
    assert values(bare) == [2, 4, 5, 6, 7, 8, 9, 20, 40, 50, 60, 70, 80, 90]


def test_labels_of_a_vertical_axis_stand_closer():
    assert values(log_ticks(0.0, 1.0, 120.0, 32.0)[0]) == [1, 2, 5, 10]
    assert values(log_ticks(0.0, 1.0, 80.0, 32.0)[0]) == [1, 3, 10]
    assert values(log_ticks(0.0, 1.0, 60.0, 32.0)[0]) == [1, 10]


def test_narrow_decades_have_labels_at_powers_of_ten_and_the_narrowest_at_some():
    labelled, bare = log_ticks(-1.0, 3.0, 400.0)
    assert labelled == [-1.0, 0.0, 1.0, 2.0, 3.0]
    assert len(bare) == 4 * 8
    labelled, bare = log_ticks(-4.0, 4.0, 400.0)
    assert labelled == [-4.0, -2.0, 0.0, 2.0, 4.0]
    assert bare == [-3.0, -1.0, 1.0, 3.0]


def test_an_axis_between_two_powers_of_ten_has_even_steps():
    # 290 pixels from 95 to 200: 20 apart the upper two would stand 41 apart.
    assert values(log_ticks(np.log10(95), np.log10(199), 290.0, 44.0)[0]) == [100, 150]
    assert values(log_ticks(np.log10(21), np.log10(49), 400.0, 44.0)[0]) == [25, 30, 35, 40, 45]
    assert values(log_ticks(np.log10(3.1), np.log10(4.9), 100.0, 64.0)[0]) == []


def test_an_axis_without_length_has_no_ticks():
    assert log_ticks(1.0, 1.0, 400.0) == ([], [])
    assert log_ticks(0.0, 1.0, 0.0) == ([], [])


@given(st.floats(-8, 8), st.floats(0.05, 16), st.floats(50, 4000))
def test_labels_never_touch_and_ticks_are_on_the_axis_once(low, span, width):
    high = low + span
    labelled, bare = log_ticks(low, high, width)
    assert all(low <= tick <= high for tick in (*labelled, *bare))
    assert len(set(labelled) | set(bare)) == len(labelled) + len(bare)
    gaps = [right - left for left, right in pairwise(labelled)]
    assert all(gap * width / span >= 63.9 for gap in gaps)


def test_the_widest_give_way_first():
    assert shared_widths([50, 300, 100], room=300, minimum=20) == [50, 150, 100]


def test_none_goes_under_the_least_unless_it_is_narrower_by_nature():
    assert shared_widths([10, 300, 300], room=50, minimum=40) == [10, 40, 40]


def test_each_may_have_a_least_of_its_own():
    assert shared_widths([200, 300], room=100, minimum=[90, 120]) == [90, 120]


def test_with_room_enough_all_get_what_they_would_like():
    assert shared_widths([10, 20], room=100, minimum=5) == [10, 20]


@given(st.lists(st.floats(0, 500), max_size=8), st.floats(0, 2000), st.floats(0, 50))
def test_widths_fit_and_none_is_wider_than_it_would_like(natural, room, least):
    widths = shared_widths(natural, room, least)
    assert all(0 <= width <= wish for width, wish in zip(widths, natural, strict=True))
    if least * len(natural) <= room:
        assert sum(widths) <= room + 1e-6
    if sum(natural) <= room:
        assert sum(widths) == pytest.approx(sum(natural))


def test_the_nearest_point_within_reach():
    points = np.array([[0.0, 0.0], [10.0, 0.0], [np.nan, np.nan]])
    assert nearest_point(points, (9.0, 1.0), 5.0) == 1
    assert nearest_point(points, (5.0, 20.0), 5.0) is None
    assert nearest_point(np.full((1, 2), np.nan), (0.0, 0.0), 5.0) is None
