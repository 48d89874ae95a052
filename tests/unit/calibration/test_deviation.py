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
    part_factors,
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


def test_arithmetic_twice_as_slow_by_hand() -> None:
    graph, twice = one(3.0, 1.0, run_ms=0.5), np.array([np.log(2.0)])

    np.testing.assert_allclose(graph.parts_at(twice), [[6.0, 1.0, 0.0]])
    assert graph.latency_ms(twice) == pytest.approx(7.5)
    np.testing.assert_allclose(graph.response(twice), [1.0, 6.0 / 7.5])
    np.testing.assert_allclose(graph.response(np.zeros(1)), [1.0, 3.0 / 4.5])


def test_variance_by_hand() -> None:
    known = Deviation(np.zeros(2), np.array([[0.04, 0.01], [0.01, 0.09]]), noise=0.1)

    # 0.04 + 2 x 0.5 x 0.01 + 0.25 x 0.09 + 0.1 squared
    np.testing.assert_allclose(known.variance(np.array([[1.0, 0.5]])), [0.0825])


def test_before_anything_is_measured_only_the_scales_are_known() -> None:
    known = PRIOR.unmeasured(2)

    np.testing.assert_array_equal(known.mean, np.zeros(3))
    np.testing.assert_allclose(known.covariance, np.diag([0.09, 1.0, 1.0]))
    assert known.factor == 1.0


def test_factors_are_positive_however_far_a_target_is() -> None:
    factors = part_factors(np.array([[1.0], [-1.0]]), np.array([1e6]))

    assert (factors > 0).all()
    assert np.isfinite(factors).all()
    assert factors[0] * factors[1] == pytest.approx(1.0)


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
@given(seed=st.integers(0, 1000), shift=st.floats(-0.5, 0.5))
def test_more_measurements_that_agree_never_widen(seed: int, shift: float) -> None:
    expected = mixed(9, seed)
    weights = 0.5 * np.random.default_rng(seed).standard_normal(3)
    log_latency = measured(expected, shift, weights)
    asked = expected[-1].response(weights)[None]

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
