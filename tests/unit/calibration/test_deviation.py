"""A target's deviation: worked by hand with one response, and found again in made measurements."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.calibration.deviation import (
    Deviation,
    DeviationPrior,
    Expectation,
    part_tilts,
    tilted_ms,
)
from predictor.core.errors import InputError

PRIOR = DeviationPrior(shift=0.3, scale=1.0, noise=0.05)


def one(compute_ms: float, memory_ms: float, run_ms: float = 0.0) -> Expectation:
    """Return a graph of one operator; the only response is 1 for its arithmetic."""
    responses = np.zeros((1, 3, 1))
    responses[0, 0, 0] = 1.0
    return Expectation(np.array([[compute_ms, memory_ms, 0.0]]), responses, run_ms)


def mixed(count: int, seed: int = 0, responses: int = 3) -> list[Expectation]:
    rng = np.random.default_rng(seed)
    return [
        Expectation(rng.lognormal(0, 1, (5, 3)), 0.3 * rng.standard_normal((5, 3, responses)), 0.01)
        for _ in range(count)
    ]


def measured(expected: list[Expectation], shift: float, weights: np.ndarray) -> np.ndarray:
    return np.log([each.latency_ms(weights) for each in expected]) + shift


def test_slower_arithmetic_by_hand() -> None:
    graph, slower = one(3.0, 1.0, run_ms=0.5), np.array([0.9])

    # Two thirds of the time are arithmetic, so ln(latency) grows by two thirds of 0.9.
    assert graph.expected_ms == pytest.approx(4.5)
    assert graph.latency_ms(slower) == pytest.approx(4.5 * np.exp(0.6))
    np.testing.assert_allclose(graph.response, [1.0, 3.0 / 4.5])
    stretched = 3.0 * np.exp(0.9)
    np.testing.assert_allclose(
        graph.shares(slower), [[stretched / (stretched + 1.0), 1.0 / (stretched + 1.0), 0.0]]
    )


def test_a_part_far_below_the_others_does_not_pull_them_down_by_hand() -> None:
    launches = np.array([[2.0, 1.0, 1.0]])
    tilts = np.array([[-3.0, 0.5, 0.0]])

    # Of 4 ms the mean tilt is (-6 + 0.5) / 4; without the arithmetic it is 0.25 of 2 ms.
    assert 4.0 * np.exp(-1.375) < 2.0 * np.exp(0.25)
    found = tilted_ms(launches[..., None], np.zeros(1), tilts[..., None])
    np.testing.assert_allclose(found, [2.0 * np.exp(0.25)])
    assert tilted_ms(np.zeros((1, 3, 1)), np.zeros(1), tilts[..., None]) == [0.0]


@given(seed=st.integers(0, 10**6), size=st.floats(0.1, 30.0), more=st.floats(1.0, 50.0))
def test_more_arithmetic_or_traffic_in_any_part_is_never_faster(
    seed: int, size: float, more: float
) -> None:
    rng = np.random.default_rng(seed)
    graph, weights = mixed(1, seed)[0], size * rng.standard_normal(3)
    grown = graph.parts_ms.copy()
    grown[:, :2] *= np.where(rng.random((len(grown), 2)) < 0.3, more, 1.0)

    larger = Expectation(grown, graph.responses, graph.run_ms)

    assert larger.latency_ms(weights) >= graph.latency_ms(weights) * (1 - 1e-12) > 0


@given(seed=st.integers(0, 10**6))
def test_a_small_deviation_is_the_mean_tilt_of_the_parts(seed: int) -> None:
    graph = mixed(1, seed)[0]
    weights = 0.1 * np.random.default_rng(seed).standard_normal(3)
    tilts = part_tilts(graph.responses, weights)

    mean = (graph.parts_ms * tilts).sum() / graph.expected_ms

    assert graph.latency_ms(weights) == pytest.approx(graph.expected_ms * np.exp(mean))


def test_shares_of_a_graph_that_takes_no_time_are_alike() -> None:
    np.testing.assert_allclose(one(0.0, 0.0, 0.5).shares(np.ones(1)), np.full((1, 3), 1 / 3))


def test_variance_by_hand() -> None:
    known = Deviation(np.zeros(2), np.array([[0.04, 0.01], [0.01, 0.09]]), noise=0.1)

    # 0.04 + 2 x 0.5 x 0.01 + 0.25 x 0.09 + 0.1 squared
    np.testing.assert_allclose(known.variance(np.array([[1.0, 0.5]])), [0.0825])


def test_before_anything_is_measured_only_the_scales_are_known() -> None:
    known = PRIOR.unmeasured(2)

    np.testing.assert_array_equal(known.mean, np.zeros(3))
    np.testing.assert_allclose(known.covariance, np.diag([0.09, 1.0, 1.0]))
    assert known.factor == 1.0


def test_no_part_is_far_from_the_others_however_far_a_target_is() -> None:
    tilts = part_tilts(np.array([[[1.0], [0.0], [-1.0]]]), np.array([1e6]))

    np.testing.assert_allclose(tilts, [[4.0, 0.0, -4.0]])


def test_a_planted_deviation_is_found_again() -> None:
    expected, weights, shift = mixed(60), np.array([0.8, -0.5, 0.3]), 0.4
    known = PRIOR.measured(expected[:40], measured(expected[:40], shift, weights))

    predicted = [np.log(each.latency_ms(known.weights)) + known.mean[0] for each in expected[40:]]

    apart = np.array(predicted) - measured(expected[40:], shift, weights)
    unknown = measured(expected[40:], shift, weights) - measured(expected[40:], 0.0, np.zeros(3))
    assert np.abs(apart).max() < 0.05
    assert np.abs(unknown).max() > 0.4  # it had to be found


def test_one_measurement_moves_all_graphs_the_same_way() -> None:
    expected = mixed(2)
    slow = np.log(expected[0].latency_ms(np.zeros(3))) + 0.5

    known = PRIOR.measured(expected[:1], np.array([slow]))

    assert (
        0.2
        < np.log(expected[1].latency_ms(known.weights))
        + known.mean[0]
        - np.log(expected[1].latency_ms(np.zeros(3)))
        < 0.6
    )


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 1000))
def test_more_measurements_of_what_is_expected_never_widen(seed: int) -> None:
    expected = mixed(9, seed)
    log_latency = measured(expected, 0.0, np.zeros(3))
    asked = expected[-1].response[None]

    widths = [PRIOR.unmeasured(3).variance(asked)[0]]
    widths += [PRIOR.measured(expected[:k], log_latency[:k]).variance(asked)[0] for k in (2, 8)]

    assert widths[0] >= widths[1] >= widths[2] > 0


def test_a_noisy_measurement_counts_for_less() -> None:
    expected = mixed(1)
    off = measured(expected, 0.6, np.zeros(3))

    sure = PRIOR.measured(expected, off, np.array([0.0]))
    unsure = PRIOR.measured(expected, off, np.array([2.0]))

    assert sure.mean[0] > 3 * unsure.mean[0] > 0


@pytest.mark.parametrize("log_latency", [[], [np.nan], [np.inf]])
def test_measurements_that_say_nothing_are_refused(log_latency: list[float]) -> None:
    with pytest.raises(InputError, match="measure latencies above 0"):
        PRIOR.measured(mixed(len(log_latency)), np.array(log_latency))
