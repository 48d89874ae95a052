"""Lines of the names of a bar's parts."""

from __future__ import annotations

import pytest

from ctm_gui.language.parts_plot import lines_of


@pytest.mark.parametrize(
    ("room", "lines"),
    [
        (400.0, [[0, 1, 2]]),
        (340.0, [[0, 1, 2]]),  # the gap of 10 behind the last one is free
        (339.0, [[0, 1], [2]]),
        (189.0, [[0], [1], [2]]),
        (50.0, [[0], [1], [2]]),  # one at least, cut by who paints it
    ],
)
def test_names_go_on_in_the_next_line(room: float, lines: list[list[int]]) -> None:
    assert lines_of([100.0, 100.0, 150.0], room) == lines


def test_a_bar_without_parts_has_no_line() -> None:
    assert lines_of([], 100.0) == []
