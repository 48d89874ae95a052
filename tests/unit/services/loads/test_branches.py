"""The search for the least strain: as good as all choices compared, and far beyond their number."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.services.loads.branches import OPEN, Option, Stages, lowest_strain

_WORKS = st.floats(0.01, 1.0)


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

    return Stages(options, strain, lateness)


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


def test_a_search_that_is_too_long_is_given_up() -> None:
    works = np.random.default_rng(4).uniform(0.05, 0.4, (14, 4)).tolist()
    assert lowest_strain(stages(works), max_nodes=100) is None
