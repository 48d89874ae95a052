"""The search for the least strain: as good as all choices compared, and far beyond their number."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.services.loads.branches import OPEN, Option, Stages, lowest_strain

_WORKS = st.one_of(st.floats(0.01, 1.0), st.sampled_from([0.1, 0.2]))  # some are alike


def stages(works: Sequence[Sequence[float]], late: Sequence[float] = ()) -> Stages:
    """Return stages with their work by unit; each waits for all, and takes its work in time."""
    options = [[Option(unit, work) for unit, work in enumerate(row)] for row in works]
    scale = late[0] if late else 0.0

    def lateness(choice: Sequence[int]) -> float:
        times = [
            min(row) if place == OPEN else row[place]
            for row, place in zip(works, choice, strict=True)
        ]
        return scale * sum(times)

    def strain(choice: Sequence[int]) -> float:
        loads = [0.0] * max(map(len, works))
        for row, place in zip(works, choice, strict=True):
            loads[place] += row[place]
        return max(*loads, lateness(choice))

    kinds = {tuple(row) for row in works}
    alike = [[(i,) for i, row in enumerate(works) if tuple(row) == kind] for kind in sorted(kinds)]
    return Stages(options, strain, lateness, alike)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 3).flatmap(
        lambda units: st.lists(
            st.lists(_WORKS, min_size=units, max_size=units), min_size=1, max_size=6
        )
    ),
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_the_search_finds_what_all_choices_compared_find(
    works: list[list[float]], scale: float
) -> None:
    problem = stages(works, [scale])
    every = itertools.product(*(range(len(row)) for row in works))
    least = min(problem.strain(choice) for choice in every)
    chosen = lowest_strain(problem)
    assert chosen is not None
    assert problem.strain(chosen) <= least * (1 + 1e-8)


def test_of_equal_units_the_first_is_taken() -> None:
    assert lowest_strain(stages([[0.2, 0.2]], [2.0])) == (0,)
    assert lowest_strain(stages([[0.5, 0.5], [0.4, 0.4]])) == (0, 1)


def test_equal_stages_are_placed_by_their_numbers_alone() -> None:
    # 6, 5 and 5 of 16 stages on units alike.
    alike = stages([[0.1, 0.1, 0.1]] * 16)
    chosen = lowest_strain(alike, max_nodes=2_000)
    assert chosen is not None
    assert alike.strain(chosen) == pytest.approx(0.6)
    # 8, 6 and 2 of them take 0.8, 0.78 and 0.74: one more on the first takes 0.9, on the second
    # 0.91, on the third 1.11.
    unlike = stages([[0.1, 0.13, 0.37]] * 16)
    chosen = lowest_strain(unlike, max_nodes=2_000)
    assert chosen is not None
    assert [chosen.count(unit) for unit in range(3)] == [8, 6, 2]


def test_streams_that_are_alike_change_places_with_all_their_stages() -> None:
    # Each stage of twelve streams is another, so that no two stages are alike within one.
    pair = [[0.06, 0.08, 0.11], [0.05, 0.03, 0.07]]
    alone = replace(stages(pair * 6), alike=())
    together = replace(alone, alike=[[(2 * i, 2 * i + 1) for i in range(6)]])
    every, chosen = lowest_strain(alone), lowest_strain(together, 200)
    assert every is not None
    assert chosen is not None
    assert together.strain(chosen) == pytest.approx(alone.strain(every), rel=1e-8)


def test_far_more_choices_than_can_be_compared_are_searched() -> None:
    random = np.random.default_rng(4)
    works = random.uniform(0.05, 0.4, (14, 4)).tolist()  # 4 to the 14th choices
    problem = stages(works)
    chosen = lowest_strain(problem)
    assert chosen is not None
    best = problem.strain(chosen)
    # No single stage elsewhere, nor two that change places, is better.
    for place, unit in itertools.product(range(14), range(4)):
        moved = [*chosen[:place], unit, *chosen[place + 1 :]]
        assert problem.strain(moved) >= best * (1 - 1e-8)


def test_a_search_that_is_too_long_comes_close_or_is_given_up() -> None:
    sizes = np.random.default_rng(0).uniform(0.05, 0.3, 18)
    related = stages(np.outer(sizes, [1.0, 1.3, 2.0]).tolist())
    chosen = lowest_strain(related, max_nodes=2_000)
    assert chosen is not None
    # Work that is split at will: each unit by its speed.
    assert related.strain(chosen) <= 1.05 * sizes.sum() / (1 + 1 / 1.3 + 1 / 2)
    assert lowest_strain(related, max_nodes=10) is None


def test_a_search_that_is_given_up_near_the_bound_is_not_searched_again() -> None:
    sizes = np.random.default_rng(0).uniform(0.01, 0.1, 40)
    problem = stages(np.outer(sizes, [1.0, 1.3, 2.0]).tolist())
    strained: list[int] = []
    looked: list[int] = []

    def strain(choice: Sequence[int]) -> float:
        strained.append(1)
        return problem.strain(choice)

    def late(choice: Sequence[int]) -> float:
        looked.append(1)
        return problem.late(choice)

    chosen = lowest_strain(Stages(problem.options, strain, late), max_nodes=2_000)
    assert chosen is not None
    # One search: a complete choice counts as ten, and each partial one looks at three units.
    assert len(strained) <= 200
    assert len(looked) <= 3 * 2_000 + 1
