"""Quantiles and means of groups are those of numpy, group by group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctm_research.evaluation.judge.groups import (
    means,
    members,
    numbered,
    quantiles,
)

PAIRS = st.lists(
    st.tuples(st.integers(0, 4), st.floats(-100, 100) | st.just(float("nan"))), max_size=40
)


@given(PAIRS, st.sampled_from([0.0, 0.25, 0.5, 0.8, 1.0]))
def test_quantiles_and_means_of_each_group(pairs: list[tuple[int, float]], share: float) -> None:
    group = np.array([number for number, _ in pairs], np.int64)
    values = np.array([value for _, value in pairs], np.float64)

    of_quantile, of_mean = quantiles(group, values, share, 6), means(group, values, 6)

    for number in range(6):
        mine = values[(group == number) & ~np.isnan(values)]
        if len(mine):
            assert of_quantile[number] == pytest.approx(np.quantile(mine, share), abs=1e-9)
            assert of_mean[number] == pytest.approx(mine.mean(), abs=1e-9)
        else:
            assert np.isnan([of_quantile[number], of_mean[number]]).all()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30))
def test_combinations_are_numbered_in_their_order(pairs: list[tuple[int, int]]) -> None:
    one, other = np.array(pairs).T

    first, number = numbered(one, other)

    assert [pairs[place] for place in first] == sorted(set(pairs))
    assert [sorted(set(pairs))[place] for place in number] == pairs
    assert all(pairs.index(pairs[place]) == place for place in first.tolist())


def test_members_of_nothing_and_of_two_groups() -> None:
    assert list(members(np.empty(0, np.int64))) == []
    parts = {number: places.tolist() for number, places in members(np.array([7, 3, 7]))}
    assert parts == {3: [1], 7: [0, 2]}
