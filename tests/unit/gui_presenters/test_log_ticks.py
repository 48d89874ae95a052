"""Ticks of a logarithmic axis."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.log_ticks import log_ticks


def values(ticks):
    return [pytest.approx(10**tick) for tick in ticks]


def test_wide_decades_have_labels_at_two_and_five():
    labelled, bare = log_ticks(0.0, 2.0, 800.0)
    assert values(labelled) == [1, 2, 5, 10, 20, 50, 100]
    assert values(bare) == [3, 4, 6, 7, 8, 9, 30, 40, 60, 70, 80, 90]


def test_narrow_decades_have_labels_at_powers_of_ten_and_the_narrowest_at_some():
    labelled, bare = log_ticks(-1.0, 3.0, 400.0)
    assert labelled == [-1.0, 0.0, 1.0, 2.0, 3.0]
    assert len(bare) == 4 * 8
    labelled, bare = log_ticks(-4.0, 4.0, 400.0)
    assert labelled == [-4.0, -2.0, 0.0, 2.0, 4.0]
    assert bare == [-3.0, -1.0, 1.0, 3.0]


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
