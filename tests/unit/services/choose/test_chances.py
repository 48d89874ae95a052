"""Chances of limits against values worked out by hand, and laws that they keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from predictor.services.choose.chances import joint_chance, normal_cdf

LIMITS = st.lists(st.floats(-6, 6), min_size=1, max_size=4)


def at(*z: float) -> NDArray[np.float64]:
    return np.array(z, np.float64)[:, None]


def shared(count: int, correlation: float) -> NDArray[np.float64]:
    """Return one common factor of that correlation, [count, 1, 1]."""
    return np.full((count, 1, 1), math.sqrt(correlation))


def test_the_normal_distribution_function_is_that_of_the_tables() -> None:
    z = np.array([-np.inf, -9.0, -1.2815515655446004, 0.0, 1.0, 1.959963984540054, np.inf])
    expected = [0.0, 0.0, 0.1, 0.5, 0.8413447460685429, 0.975, 1.0]
    assert normal_cdf(z) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("correlation", [0.0, 0.25, 0.5, 0.8])
def test_two_models_at_their_median_keep_it_as_sheppard_says(correlation: float) -> None:
    # P(Z1 < 0, Z2 < 0) = 1/4 + arcsin(r) / (2 pi).
    expected = 0.25 + math.asin(correlation) / (2 * math.pi)
    chance = joint_chance(at(0.0, 0.0), shared(2, correlation))
    assert chance[0] == pytest.approx(expected, abs=2e-3)


def test_three_independent_models_multiply_and_three_alike_are_one() -> None:
    z = at(0.3, 0.3, 0.3)
    one = float(normal_cdf(z)[0, 0])
    assert joint_chance(z, shared(3, 0.0))[0] == pytest.approx(one**3, abs=1e-6)
    assert joint_chance(z, shared(3, 1.0))[0] == pytest.approx(one, abs=5e-3)


def test_what_is_impossible_for_one_is_impossible_for_all() -> None:
    assert joint_chance(at(np.inf, -np.inf), shared(2, 0.5))[0] == 0.0
    assert joint_chance(at(np.inf, 0.7), shared(2, 0.5))[0] == pytest.approx(0.7580, abs=2e-3)


@given(LIMITS, st.floats(0, 1), st.floats(0, 3))
def test_a_looser_limit_never_lowers_a_chance(
    limits: list[float], correlation: float, more: float
) -> None:
    vectors = shared(len(limits), correlation)
    before = joint_chance(at(*limits), vectors)[0]
    for place in range(len(limits)):
        looser = [z + more * (index == place) for index, z in enumerate(limits)]
        assert joint_chance(at(*looser), vectors)[0] >= before


@given(LIMITS, st.floats(0, 1))
def test_one_more_model_never_raises_a_chance(limits: list[float], correlation: float) -> None:
    all_of_them = joint_chance(at(*limits), shared(len(limits), correlation))[0]
    assert all_of_them <= min(normal_cdf(np.array(limits))) + 1e-12
    assert 0 <= all_of_them <= 1
