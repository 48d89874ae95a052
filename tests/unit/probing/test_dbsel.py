from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from predictor.core.errors import InputError
from predictor.probing.selection.dbsel import (
    EPSILON,
    DBSel,
    alignment_weights,
    coverage_gain,
    diversity_coverage_score,
    hybrid_similarity,
)
from predictor.probing.selection.interface import Pool


class Device:
    """A live device that counts what is read from it."""

    def __init__(self, latency_ms: NDArray[np.float64]) -> None:
        self.latency_ms = latency_ms
        self.read: list[int] = []

    def __call__(self, index: int) -> float:
        self.read.append(index)
        return float(self.latency_ms[index])


def test_hybrid_similarity_by_hand() -> None:
    train = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])  # two devices, three probes
    test = np.array([2.0, 4.0, 6.0])

    similarity = hybrid_similarity(train, test)

    # Device 0 is half of the test device: cosine 1, correlation 1, mean 1.
    # Device 1: products 6 + 8 + 6 = 20, norms sqrt(14) and sqrt(56), whose product is 28: cosine
    # 5 / 7. It falls where the test device rises: correlation -1. Mean (5 / 7 - 1) / 2 = -1 / 7.
    np.testing.assert_allclose(similarity, [1, -1 / 7], rtol=1e-12)


def test_latencies_that_do_not_vary_have_no_correlation() -> None:
    train = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]])

    similarity = hybrid_similarity(train, np.array([1.0, 2.0, 4.0]))

    # Device 0: cosine 7 / (sqrt(3) * sqrt(21)), correlation 0.
    np.testing.assert_allclose(similarity, [7 / math.sqrt(63) / 2, 1], rtol=1e-12)


def test_equation_1_by_hand() -> None:
    similarity = np.array([0.9, 0.5, 0.1])

    weights = alignment_weights(similarity, tau=0.5, alpha_sim=2.0)

    # Mean 0.5, deviation sqrt((0.16 + 0 + 0.16) / 3) = 0.326599; z = 1.224745, 0, -1.224745.
    # Exponents 2 * z / 0.5 = 4.898979, 0, -4.898979.
    powers = [math.exp(4.898979), 1.0, math.exp(-4.898979)]
    np.testing.assert_allclose(weights, np.array(powers) / sum(powers), rtol=1e-5)
    assert weights.sum() == pytest.approx(1)


def test_equation_1_of_equal_similarities_is_uniform() -> None:
    assert alignment_weights(np.full(4, 0.7), 0.01, 50.0).tolist() == [0.25] * 4


def test_equation_2_by_hand() -> None:
    scaled = np.array([[1.0, 3.0], [2.0, 2.0], [0.0, 8.0]])
    weights = np.array([0.75, 0.25])

    score = diversity_coverage_score(scaled, weights, gamma=0.6)

    # Means 2, 2, 4; their median is 2.
    # Diversity: 0.75 * 1 + 0.25 * 1 = 1; 0; 0.75 * 16 + 0.25 * 16 = 16.
    # Centrality: 1, 1, 1 / (1 + 2).
    np.testing.assert_allclose(
        score, [0.6 * 1 + 0.4 * 1, 0.6 * 0 + 0.4 * 1, 0.6 * 16 + 0.4 / 3], rtol=1e-12
    )


def test_the_coverage_term_by_hand() -> None:
    scaled = np.array([[1.0, 10.0], [3.0, 20.0], [2.0, 15.0], [4.0, 5.0]])
    weights = np.array([0.75, 0.25])

    gain = coverage_gain(scaled, weights, [0, 1])

    # The range over networks 0 and 1 is [1, 3] and [10, 20]. Network 3 extends the first by 1 of 2
    # above and the second by 5 of 10 below: 0.75 * 0.5 + 0.25 * 0.5.
    np.testing.assert_allclose(gain, [0, 0, 0, 0.5], rtol=1e-7)


# Five networks on two training devices, each with the mean 1: scaling changes nothing.
TINY = np.array([[0.5, 0.5], [1.0, 1.0], [1.5, 0.5], [0.5, 1.5], [1.5, 1.5]])


def test_algorithm_1_by_hand() -> None:
    # k = 4 is a small budget: uniform weights 1/2, no random probes.
    # Means 0.5, 1, 1, 1, 1.5, median 1. Eq. 2 with gamma = 0.5:
    # diversity 0, 0, 0.25, 0.25, 0; centrality 1 / 1.5, 1, 1, 1, 1 / 1.5
    # -> 0.333, 0.5, 0.625, 0.625, 0.333: the first of the two best is network 2.
    # t = 2 (not above k / 2 = 2): distances from network 2 are
    # 0: (1 + 0) / 2 = 0.5; 1: (0.5 + 0.5) / 2 = 0.5; 3: (1 + 1) / 2 = 1; 4: (0 + 1) / 2 = 0.5
    # -> network 3.
    # t = 3: distances to the nearer of 2 and 3: 0: 0.5; 1: 0.5; 4: 0.5. Both devices' range is
    # [0.5, 1.5], which covers all: c = 0. The first of the equal ones is network 0.
    # t = 4: distances to 0, 2, 3: 1: min(0.5, 0.5, 0.5) = 0.5; 4: min(1, 0.5, 0.5) = 0.5
    # -> network 1.
    selection = DBSel(alpha_cov=0.5, gamma=0.5).select(Pool(TINY), 4)

    assert selection.indices == (2, 3, 0, 1)
    assert selection.latency_ms == ()
    assert selection.device_weights == (0.5, 0.5)


def test_the_coverage_term_counts_from_half_of_the_budget_only() -> None:
    # One device with the mean 1, k = 4, objective 0.1 d + 0.9 c from t = 3 on, 0.1 d before.
    latency = np.array([[1.8], [0.9], [1.2], [0.1], [1.0], [1.0]])
    # Median 1.0; with gamma = 0 Eq. 2 is largest there: network 4, the first of two.
    # t = 2: 0.1 lies 0.9 away, 1.8 lies 0.8 away -> network 3.
    # t = 3: range [0.1, 1.0]; 1.8: d = 0.8, c = 0.8 / 0.9 -> network 0.
    # t = 4: everything is covered; 1.2: d = 0.2; 0.9: d = 0.1 -> network 2.
    assert DBSel(alpha_cov=0.9, gamma=0.0).select(Pool(latency), 4).indices == (4, 3, 0, 2)


def test_coverage_draws_the_choice_to_where_the_range_is_relatively_short() -> None:
    # Two devices, k = 6 without a device: t = 4, 5, 6 use the coverage term. Device 0's range grows
    # slowly: covering it is worth more than the larger distance on device 1.
    base = np.array([[1.0, 1.0], [1.0, 3.0], [1.01, 2.0], [1.05, 2.0], [1.0, 2.5], [1.0, 1.5]])

    with_coverage = DBSel(alpha_cov=1.0, gamma=0.0).select(Pool(base), 6).indices
    without = DBSel(alpha_cov=0.0, gamma=0.0).select(Pool(base), 6).indices

    assert with_coverage[:3] == without[:3]
    assert with_coverage != without
    assert with_coverage[3] == 3


def literal_dbsel(
    latency: NDArray[np.float64], probes: tuple[int, ...], test: tuple[float, ...], k: int, h: DBSel
) -> list[int]:
    """Algorithm 1 line by line in plain loops, with the probes as the first members of S."""
    n, devices = latency.shape
    scaled = [[latency[i, d] / latency[:, d].mean() for d in range(devices)] for i in range(n)]
    weights = [1 / devices] * devices
    if probes:
        scores = []
        for d in range(devices):
            a = [scaled[i][d] for i in probes]
            ma, mt = sum(a) / len(a), sum(test) / len(test)
            dot = sum(x * y for x, y in zip(a, test, strict=True))
            cosine = dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in test))
            top = sum((x - ma) * (y - mt) for x, y in zip(a, test, strict=True))
            low = math.sqrt(sum((x - ma) ** 2 for x in a) * sum((y - mt) ** 2 for y in test))
            scores.append((cosine + top / low) / 2)
        mu = sum(scores) / devices
        sigma = math.sqrt(sum((s - mu) ** 2 for s in scores) / devices)
        e = [math.exp(h.alpha_sim * (s - mu) / (sigma + EPSILON) / h.tau) for s in scores]
        weights = [(1 - h.beta) * x / sum(e) + h.beta / devices for x in e]
    chosen = list(probes)
    while len(chosen) < k:
        best, best_value = -1, -math.inf
        t = len(chosen) + 1
        means = [sum(row) / devices for row in scaled]
        median = float(np.median(means))
        for i in range(n):
            if i in chosen:
                continue
            if not chosen:
                spread = sum(
                    w * (x - means[i]) ** 2 for w, x in zip(weights, scaled[i], strict=True)
                )
                value = h.gamma * spread + (1 - h.gamma) / (1 + abs(means[i] - median))
            else:
                value = (1 - h.alpha_cov) * min(
                    sum(weights[d] * abs(scaled[i][d] - scaled[s][d]) for d in range(devices))
                    for s in chosen
                )
                if t > k / 2:
                    gain = 0.0
                    for d in range(devices):
                        high = max(scaled[s][d] for s in chosen)
                        low = min(scaled[s][d] for s in chosen)
                        extension = max(0, scaled[i][d] - high) + max(0, low - scaled[i][d])
                        gain += weights[d] * extension / (high - low + EPSILON)
                    value += h.alpha_cov * gain
            if value > best_value:
                best, best_value = i, value
        chosen.append(best)
    return chosen


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 4, 6, 13])
def test_it_equals_a_literal_transcription(seed: int, k: int) -> None:
    random = np.random.default_rng(seed)
    latency = random.lognormal(size=(40, 5)) * [1, 10, 0.1, 3, 50]
    device = Device(random.lognormal(size=40) * 7)
    selector = DBSel(tau=0.7, alpha_sim=1.5, beta=0.3, alpha_cov=0.4, gamma=0.6)

    selection = selector.select(Pool(latency), k, device, seed)

    p = max(3, k // 3) if k >= 6 else 0
    literal = literal_dbsel(latency, selection.indices[:p], selection.latency_ms[:p], k, selector)
    assert list(selection.indices) == literal


def test_weights_follow_the_training_device_that_behaves_like_the_test_device() -> None:
    random = np.random.default_rng(3)
    latency = random.lognormal(size=(60, 4))

    selection = DBSel(beta=0.2).select(Pool(latency), 20, Device(latency[:, 2] * 9))

    weights = np.array(selection.device_weights)
    assert weights.argmax() == 2
    assert weights.sum() == pytest.approx(1)
    assert weights.min() >= 0.2 / 4


@pytest.mark.parametrize(
    ("k", "probes"), [(1, 0), (5, 0), (6, 3), (11, 3), (12, 4), (20, 6), (30, 10)]
)
def test_a_third_of_the_budget_goes_to_random_probes_from_6_on(k: int, probes: int) -> None:
    random = np.random.default_rng(0)
    pool = Pool(random.lognormal(size=(50, 3)))
    device = Device(random.lognormal(size=50))

    first = DBSel().select(pool, k, device, seed=1)
    drawn = np.random.default_rng(1).choice(50, probes, replace=False)

    assert first.indices[:probes] == tuple(drawn)
    uniform = set(first.device_weights) == {1 / 3}
    assert uniform == (probes == 0)


def test_a_plan_without_a_device_weighs_all_devices_alike_and_does_not_depend_on_the_seed() -> None:
    pool = Pool(np.random.default_rng(0).lognormal(size=(50, 4)))

    plans = [DBSel().select(pool, 20, None, seed) for seed in range(3)]

    assert plans[0] == plans[1] == plans[2]
    assert plans[0].device_weights == (0.25,) * 4


def test_equal_networks_are_chosen_by_index() -> None:
    assert DBSel().select(Pool(np.ones((6, 3))), 5).indices == (0, 1, 2, 3, 4)


def test_the_device_weights_decide_the_choice() -> None:
    # Two training devices that disagree; the test device is like the second. With all weight on
    # it, the extremes of the second device are chosen.
    first = np.tile([1.0, 2.0], 15)
    second = np.linspace(1, 4, 30)
    pool = Pool(np.column_stack([first, second]))
    selector = DBSel(tau=0.01, beta=0.0, alpha_cov=0.0)

    selection = selector.select(pool, 9, Device(second * 3), seed=0)

    assert selection.device_weights == pytest.approx((0, 1), abs=1e-9)
    assert {0, 29} <= set(selection.indices)


@pytest.mark.parametrize(
    ("probes", "k", "live", "words"),
    [
        (7, 6, True, "p is 7, the budget k is 6"),
        (-1, 6, True, "p is -1"),
        (3, 6, False, "p is 3, but there is no live device"),
        (None, 11, True, "k is 11, the pool has 10 networks"),
        (None, 0, True, "k is 0"),
    ],
)
def test_a_budget_that_cannot_be_served_is_refused(
    probes: int | None, k: int, live: bool, words: str
) -> None:
    device = Device(np.ones(10))

    with pytest.raises(InputError) as caught:
        DBSel(probes=probes).select(Pool(np.ones((10, 2))), k, device if live else None)

    assert words in str(caught.value)
    assert device.read == []


@pytest.mark.parametrize(
    ("hyper", "words"),
    [
        ({"beta": 1.5}, "beta: it is 1.5; give a number from 0 to 1"),
        ({"alpha_cov": -0.1}, "alpha_cov"),
        ({"gamma": math.nan}, "gamma"),
        ({"tau": 0.0}, "tau: it is 0.0; give a number above 0"),
        ({"alpha_sim": math.inf}, "alpha_sim"),
    ],
)
def test_wrong_hyper_parameters_are_refused(hyper: dict[str, float], words: str) -> None:
    with pytest.raises(InputError) as caught:
        DBSel(**hyper)

    assert words in str(caught.value)


latencies = st.integers(2, 25).flatmap(
    lambda n: st.integers(1, 4).flatmap(
        lambda d: st.lists(
            st.lists(st.floats(0.01, 1000), min_size=d, max_size=d), min_size=n, max_size=n
        )
    )
)


@pytest.mark.slow
@given(latencies, st.data())
@settings(max_examples=150, deadline=None)
def test_invariants(rows: list[list[float]], data: st.DataObject) -> None:
    latency = np.array(rows)
    n, devices = latency.shape
    k = data.draw(st.integers(1, n))
    seed = data.draw(st.integers(0, 5))
    device = Device(latency[:, 0] ** 1.5 + 0.5)

    selection = DBSel().select(Pool(latency), k, device, seed)

    assert len(set(selection.indices)) == len(selection.indices) == k
    assert all(0 <= index < n for index in selection.indices)
    assert device.read == list(selection.indices)
    assert selection.latency_ms == tuple(device.latency_ms[list(selection.indices)])
    assert sum(selection.device_weights) == pytest.approx(1)
    again = DBSel().select(Pool(latency), k, Device(device.latency_ms), seed)
    assert again == selection

    # Powers of two scale without rounding, so equal choices stay equal.
    powers = data.draw(st.lists(st.integers(-8, 8), min_size=devices, max_size=devices))
    scaled = Pool(latency * np.exp2(powers))
    slower = Device(device.latency_ms * 2.0 ** data.draw(st.integers(-8, 8)))
    assert DBSel().select(scaled, k, slower, seed).indices == selection.indices
