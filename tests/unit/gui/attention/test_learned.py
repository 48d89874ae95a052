"""What was learned of operators, as maps worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ctm_gui.attention.grid import AttentionGrid
from ctm_gui.attention.learned import LearnedSummary, changes_of
from ctm_gui.attention.map import MapLayout
from ctm_gui.attention.map_items import change_marks, heat_table, share_marks
from ctm_gui.widgets.theme import DARK, LIGHT, Theme
from tests.support.attention_summary import GPU, make_summary

# Of (stem, join, head) by (cores, bandwidth): 2 adds half of the time now, 0.5 as much as it is.
FACTORS = np.array([[2.0, 1.0], [1.0, 0.5], [1.0, 1.0]], np.float32)


def learned(factors: np.ndarray = FACTORS) -> LearnedSummary:
    table = make_summary().table
    assert table.attention is not None
    maps = replace(table.attention, is_time=True, learned=factors, network=1.04)
    return LearnedSummary(replace(table, attention=maps), GPU)


def test_cells_are_what_learning_adds_to_the_time_now() -> None:
    rows = learned().operators

    # Three quarters of stem's time are on cores, half of them added; join's bandwidth was halved.
    assert rows.to_metrics.tolist() == [[0.375, 0.0], [0.0, -0.875], [0.0, 0.0]]
    assert rows.from_metrics.tolist() == [[0.25, 0.0], [0.0, -0.125], [0.0, 0.0]]
    # 1 ms is 0.625 ms without it; 1 ms would be 1.875 ms.
    assert changes_of(rows) == pytest.approx([0.375 / 0.625, -0.875 / 1.875, 0.0])


def test_a_type_changes_as_its_operators_together() -> None:
    rows = learned().types

    # Of 3 ms of Conv, 0.375 are added.
    assert changes_of(rows)[0] == pytest.approx(0.375 / (3 - 0.375))


def test_the_slowest_rows_are_compared_with_their_kind() -> None:
    assert learned().pairs(learned().operators) == (
        "Learned: Conv stem 60 % longer and Add join 47 % shorter than others of their kind"
    )
    nothing = learned(np.ones((3, 2), np.float32))
    assert nothing.pairs(nothing.operators) == (
        "The slowest operators take as long as their kind does"
    )
    assert "× 1.04" in nothing.meaning()


def test_a_cell_says_what_is_added_or_saved() -> None:
    summary = learned()
    rows = summary.operators

    assert summary.cell_sentence(rows, 0, 0, backward=False) == (
        "What was learned adds 37.5 % of the time of Conv stem, on SMs or compute units"
    )
    assert summary.cell_sentence(rows, 1, 1, backward=True) == (
        "What was learned saves 12.5 % of the time that goes to memory bandwidth, in Add join"
    )
    assert summary.cell_sentence(rows, 2, 0, backward=False).startswith(
        "What was learned changes 0 % of"
    )


def test_nothing_is_in_the_middle_of_the_colours() -> None:
    summary = learned()
    layout = MapLayout(summary, summary.operators, np.arange(3))

    assert layout.scale(backward=False) == (-0.875, 0.875)
    assert change_marks(0.8, 0.1)[1:4] == [(0.25, -0.2), (0.5, 0.0), (0.75, 0.2)]
    assert change_marks(0.8, 0.3) == [(0.0, -0.8), (0.5, 0.0), (1.0, 0.8)]
    empty = learned(np.ones((3, 2), np.float32))
    assert MapLayout(empty, empty.operators, np.arange(3)).scale(backward=True) == (-1.0, 1.0)


@pytest.mark.parametrize("high", [0.0715, 0.153, 0.5, 0.957, 1.0])
def test_no_share_is_written_over_another(high: float) -> None:
    gap = 0.2
    places = [place for place, _ in share_marks((0.0, high), gap)]
    # The words at the ends stand inside the bar, half of their width from it.
    middles = [min(max(place, gap / 2), 1 - gap / 2) for place in places]
    assert (np.diff(middles) >= gap - 1e-9).all()
    assert (places[0], places[-1]) == (0.0, 1.0)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_middle_colour_is_that_of_no_share(theme: Theme) -> None:
    table, shares = heat_table(theme, is_signed=True), heat_table(theme)
    middle = table[len(table) // 2].astype(int)
    assert np.abs(middle - shares[0]).max() < 40
    assert np.abs(table[0].astype(int) - table[-1]).max() > 60


def test_the_table_has_the_change_and_what_it_comes_from() -> None:
    summary = learned()
    grid = AttentionGrid(summary, summary.operators)

    titles = [column.title for column in grid.columns]
    assert titles[-2:] == ["Change", "Most by"]
    assert [grid.columns[-2].text(row) for row in range(3)] == ["60 %", "−46.7 %", "0 %"]
    assert grid.columns[-1].text(1) == "Memory bandwidth"
    assert grid.columns[-1].text(2) == "—"
