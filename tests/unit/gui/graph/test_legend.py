"""Words of the graph's legend that fit in a line."""

from __future__ import annotations

import pytest

from ctm_gui.graph.legend_strip import fitting


@pytest.mark.parametrize(
    ("room", "count"),
    [
        (300.0, 3),
        (284.0, 3),  # nothing behind the last word
        (283.0, 2),  # two words, and the ellipsis in a gap of 16
        (216.0, 2),
        (215.0, 1),
        (116.0, 1),
        (115.0, 0),
    ],
)
def test_words_without_room_leave_an_ellipsis(room: float, count: int) -> None:
    assert fitting([100.0, 100.0, 100.0], room) == count


def test_no_word_needs_no_room() -> None:
    assert fitting([], 0.0) == 0
