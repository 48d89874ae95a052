from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.probing.selection.dbsel import DBSel
from predictor.probing.selection.information import (
    D_OPTIMAL,
    I_OPTIMAL,
    largest_variances,
    smallest_mean_variance,
    standardised,
)
from predictor.probing.selection.interface import Pool, Selector
from predictor.probing.selection.random import RandomSelector

ROOT = Path(__file__).resolve().parents[3]

SELECTORS: list[Selector] = [
    RandomSelector(),
    D_OPTIMAL,
    I_OPTIMAL,
    DBSel(),
]


def pool_of(size: int, seed: int = 0) -> Pool:
    random = np.random.default_rng(seed)
    return Pool(random.lognormal(size=(size, 3)), random.normal(size=(size, 4)))


def test_choosing_probes_loads_neither_onnx_nor_torch() -> None:
    modules = "dbsel, information, interface, random"
    program = (
        f"import sys; from predictor.probing.selection import {modules};"
        "sys.exit(bool({'onnx', 'onnxruntime', 'torch'} & sys.modules.keys()))"
    )

    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


def test_posterior_variances_by_hand() -> None:
    # Prior variances 4, 1, 2.25 and 3.24; noise 1.
    features = np.array([[2.0, 0.0], [0.0, 1.0], [1.5, 0.0], [0.0, 1.8]])

    # First: row 0 with variance 4. It leaves row 2 with 2.25 - (2 * 1.5)^2 / (4 + 1) = 0.45; rows 1
    # and 3 share nothing with it. Second: row 3 with 3.24, which leaves row 1 with
    # 1 - 1.8^2 / (3.24 + 1) = 0.236. Third: row 2 with 0.45. Fourth: row 1.
    assert largest_variances(features, 1.0, 4) == (0, 3, 2, 1)


def posterior_variances(
    features: NDArray[np.float64], noise: float, chosen: list[int]
) -> NDArray[np.float64]:
    """Textbook form: x^T (I + X^T X / noise)^-1 x."""
    x = features[chosen]
    precision = np.eye(features.shape[1]) + x.T @ x / noise
    return np.einsum("ij,jk,ik->i", features, np.linalg.inv(precision), features)


def test_it_equals_the_textbook_posterior() -> None:
    features = np.random.default_rng(5).normal(size=(60, 7))
    chosen: list[int] = []
    for _ in range(15):
        variances = posterior_variances(features, 0.1, chosen)
        variances[chosen] = -1
        chosen.append(int(np.argmax(variances)))

    assert list(largest_variances(features, 0.1, 15)) == chosen


def test_each_choice_has_the_largest_determinant() -> None:
    pool = pool_of(30)
    selection = replace(D_OPTIMAL, noise_variance=0.5).select(pool, 8)
    rows = standardised(pool.needed_features("test"))

    def determinant(chosen: tuple[int, ...]) -> float:
        x = rows[list(chosen)]
        return float(np.linalg.det(np.eye(rows.shape[1]) + x.T @ x / 0.5))

    for step in range(8):
        before = selection.indices[:step]
        candidates = [i for i in range(30) if i not in before]
        best = max(candidates, key=lambda i, before=before: determinant((*before, i)))
        assert selection.indices[step] == best


def test_mean_variances_by_hand() -> None:
    # One direction each: two rows of 2 and 1 in the first, four of 1 in the second; noise 1.
    features = np.array([[2.0, 0.0], [1.0, 0.0], *[[0.0, 1.0]] * 4])

    # Squared covariances with row 0: 16 + 4 = 20, over 4 + 1: 4. With row 1: 4 + 1 = 5, over 2:
    # 2.5. With row 2: 4 * 1, over 2: 2. So row 0, after which the first direction has 1 / 5 of its
    # variance: row 1 has 0.2, covariances with 0 and 1 0.4 and 0.2: (0.16 + 0.04) / 1.2 = 0.167.
    # Row 2 still has 2 and is chosen.
    assert smallest_mean_variance(features, 1.0, 2) == (0, 2)
    # Largest variance takes row 0 and then the first of the ones.
    assert largest_variances(features, 1.0, 2) == (0, 2)
    # With row 0 at 1.3 the four rows of 1 say more together; alone, row 0 varies more.
    features[0, 0] = 1.3
    assert smallest_mean_variance(features, 1.0, 1) == (2,)
    assert largest_variances(features, 1.0, 1) == (0,)


def test_each_choice_leaves_the_smallest_mean_posterior_variance() -> None:
    features = np.random.default_rng(5).normal(size=(40, 6)) * [3, 1, 1, 2, 0.5, 1]
    chosen: list[int] = []
    for _ in range(10):
        means = [
            np.inf if i in chosen else posterior_variances(features, 0.3, [*chosen, i]).mean()
            for i in range(40)
        ]
        chosen.append(int(np.argmin(means)))

    assert list(smallest_mean_variance(features, 0.3, 10)) == chosen


def test_standardising_by_hand() -> None:
    rows = standardised(np.array([[1.0, 7.0], [3.0, 7.0]]))

    assert rows.tolist() == [[1, -1, 0], [1, 1, 0]]


def test_d_optimal_choices_do_not_depend_on_units() -> None:
    pool = pool_of(40)
    scaled = Pool(features=pool.needed_features("test") * [1e6, 1e-3, 2.0, 5.0] + [0, 1, 0, -3])

    choices = [D_OPTIMAL.select(p, 12).indices for p in (pool, scaled)]

    assert choices[0] == choices[1]


def test_equal_networks_are_chosen_by_index() -> None:
    pool = Pool(features=np.ones((5, 2)))

    for selector in (D_OPTIMAL, I_OPTIMAL):
        assert selector.select(pool, 5).indices == (0, 1, 2, 3, 4)


def test_random_choices_are_spread_evenly() -> None:
    counts = np.zeros(10)
    for seed in range(2000):
        counts[list(RandomSelector().select(pool_of(10), 3, seed=seed).indices)] += 1

    # Binomial with n = 2000, p = 0.3: deviation 20.5; five of them.
    assert abs(counts - 600).max() < 5 * math.sqrt(2000 * 0.3 * 0.7)


@pytest.mark.slow
@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: getattr(s, "name", type(s).__name__))
@given(size=st.integers(1, 30), data=st.data())
@settings(max_examples=40, deadline=None)
def test_invariants_of_every_selector(selector: Selector, size: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(1, size))
    seed = data.draw(st.integers(0, 3))
    pool = pool_of(size, data.draw(st.integers(0, 3)))
    read: list[int] = []

    def measure(index: int) -> float:
        read.append(index)
        return 1.0 + index

    selection = selector.select(pool, k, measure, seed)

    assert len(set(selection.indices)) == len(selection.indices) == k
    assert all(0 <= index < size for index in selection.indices)
    assert read == list(selection.indices)
    assert selection.latency_ms == tuple(1.0 + index for index in selection.indices)
    assert selector.select(pool, k, lambda index: 1.0 + index, seed) == selection
    plan = selector.select(pool, k, None, seed)
    assert len(plan.indices) == k
    assert plan.latency_ms == ()


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: getattr(s, "name", type(s).__name__))
@pytest.mark.parametrize("k", [0, -1, 6])
def test_a_budget_beyond_the_pool_is_refused_before_anything_is_measured(
    selector: Selector, k: int
) -> None:
    def measure(index: int) -> float:
        raise AssertionError(index)

    with pytest.raises(InputError, match=f"k is {k}, the pool has 5 networks; choose from 1 to 5"):
        selector.select(pool_of(5), k, measure)


@pytest.mark.parametrize("latency", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: getattr(s, "name", type(s).__name__))
def test_a_measured_latency_that_is_no_positive_number_is_refused(
    selector: Selector, latency: float
) -> None:
    with pytest.raises(InputError, match=r"probe \d+: its measured latency is"):
        selector.select(pool_of(12), 8, lambda _: latency)


def test_a_pool_without_what_the_selector_needs_is_refused() -> None:
    without_features = Pool(np.ones((4, 2)))
    without_latencies = Pool(features=np.ones((4, 2)))

    with pytest.raises(InputError, match="D-optimal: the pool has no features of its networks"):
        D_OPTIMAL.select(without_features, 2)
    with pytest.raises(InputError, match="DBSel: the pool has no latencies on training targets"):
        DBSel().select(without_latencies, 2)
    assert len(RandomSelector().select(without_latencies, 2).indices) == 2


@pytest.mark.parametrize(
    ("latency", "features", "words"),
    [
        (np.array([[1.0, math.nan]]), None, "row 0, column 1 is nan ms"),
        (np.array([[1.0], [-2.0]]), None, "row 1, column 0 is -2.0 ms"),
        (np.ones(3), None, "they have the shape (3,)"),
        (None, np.array([[math.inf]]), "probe features: row 0, column 0 is inf"),
        (None, np.ones((3, 0)), "they have the shape (3, 0)"),
        (np.ones((3, 2)), np.ones((4, 2)), "its parts have [3, 4] rows"),
        (None, None, "give latencies or features"),
    ],
)
def test_a_wrong_pool_is_refused(
    latency: NDArray[np.float64] | None, features: NDArray[np.float64] | None, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        Pool(latency, features)

    assert words in str(caught.value)


@pytest.mark.parametrize("noise", [0.0, -1.0, math.nan, math.inf])
def test_a_wrong_noise_variance_is_refused(noise: float) -> None:
    for selector in (D_OPTIMAL, I_OPTIMAL):
        with pytest.raises(InputError, match="give a number above 0"):
            replace(selector, noise_variance=noise)
