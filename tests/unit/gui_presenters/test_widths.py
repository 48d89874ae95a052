"""Sharing out a width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_gui.presenters.widths import past_mark, shared_widths


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


@pytest.mark.parametrize(
    ("mark", "end", "start"),
    [
        (90.0, 400.0, 100.0),  # left of the words
        (96.5, 400.0, 104.5),  # as good as in them
        (130.0, 400.0, 138.0),  # in them
        (160.0, 400.0, 100.0),  # right of them
        (130.0, 180.0, 100.0),  # in them, and no room after it
    ],
)
def test_words_go_past_a_mark_only_where_they_would_cover_it(
    mark: float, end: float, start: float
) -> None:
    assert past_mark(100.0, width=50.0, mark=mark, end=end, gap=8.0) == start
