"""Sharing out a width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.presenters.widths import shared_widths


def test_the_widest_give_way_first():
    assert shared_widths([50, 300, 100], room=300, least=20) == [50, 150, 100]


def test_none_goes_under_the_least_unless_it_is_narrower_by_nature():
    assert shared_widths([10, 300, 300], room=50, least=40) == [10, 40, 40]


def test_with_room_enough_all_get_what_they_would_like():
    assert shared_widths([10, 20], room=100, least=5) == [10, 20]


@given(st.lists(st.floats(0, 500), max_size=8), st.floats(0, 2000), st.floats(0, 50))
def test_widths_fit_and_none_is_wider_than_it_would_like(natural, room, least):
    widths = shared_widths(natural, room, least)
    assert all(0 <= width <= wish for width, wish in zip(widths, natural, strict=True))
    if least * len(natural) <= room:
        assert sum(widths) <= room + 1e-6
    if sum(natural) <= room:
        assert sum(widths) == pytest.approx(sum(natural))
