"""The Bayesian regression against numbers worked by hand, and its invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ctm_research.nas.bayesian_regression import (
    BayesianRegression,
    Posterior,
    ScalePrior,
    normal_cdf,
)
from predictor.core.errors import InputError
from predictor.core.percentiles import Z80, Z95

ONE = ScalePrior((1.0,))


def regression(noise: float = 1.0, intercept_variance: float = 1e-9) -> BayesianRegression:
    return BayesianRegression(ONE, ScalePrior((noise,)), intercept_variance)


def test_two_samples_of_one_feature_worked_by_hand():
    # x = (1, -1), y = (1, -1): centre 0, posterior of w has precision 1 + 2 / 1 = 3, mean 2 / 3.
    posterior = regression().predict(
        np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.array([[1.0], [2.0]])
    )
    assert posterior.mean == pytest.approx([2 / 3, 4 / 3], rel=1e-6)
    # Variance x^2 / 3, and the noise of 1.
    assert posterior.variance == pytest.approx([1 / 3 + 1, 4 / 3 + 1], rel=1e-6)


def test_one_sample_without_features_gives_its_own_level():
    # b ~ N(y, 4) around the only sample, noise 1: the mean stays, the variance is 4 - 16 / 5 + 1.
    posterior = regression(1.0, 4.0).predict(np.zeros((1, 1)), np.array([3.0]), np.zeros((2, 1)))
    assert posterior.mean == pytest.approx([3.0, 3.0])
    assert posterior.variance == pytest.approx([1.8, 1.8])


def test_two_noises_are_weighed_by_their_evidence():
    # No features: y - mean = (1, -1), so the evidence of noise n is exp(-1 / n^2) / n^2.
    model = BayesianRegression(ONE, ScalePrior((1.0, 2.0)), 1e-9)
    posterior = model.predict(np.zeros((2, 1)), np.array([1.0, -1.0]), np.zeros((1, 1)))
    first, second = np.exp(-1.0), np.exp(-0.25) / 4
    expected = (first * 1 + second * 4) / (first + second)
    assert posterior.variance == pytest.approx([expected], rel=1e-6)


def test_the_prior_of_a_scale_shifts_the_weights():
    prior = ScalePrior((1.0, np.e), usual=1.0, spread=0.5)
    assert prior.log_density(1.0) == 0.0
    assert prior.log_density(np.e) == pytest.approx(-2.0)
    assert ScalePrior((1.0, 2.0)).log_density(2.0) == 0.0


def test_quantiles_are_those_of_a_lognormal():
    posterior = regression(0.1).predict(np.zeros((1, 1)), np.array([0.0]), np.zeros((1, 1)))
    assert posterior.quantile(0) == pytest.approx([1.0])
    spread = np.sqrt(posterior.variance[0])
    assert np.log(posterior.quantile(Z80)[0]) == pytest.approx(Z80 * spread)


def test_quantiles_of_a_mixture_have_the_shares_that_they_name():
    posterior = Posterior(
        np.array([0.3, 0.7]),
        np.array([[0.0, 5.0], [2.0, 5.0]]),
        np.array([[0.01, 4.0], [1.0, 4.0]]),
    )
    for z in (-Z80, 0.0, 1.0):
        reached = np.log(posterior.quantile(z))
        share = 0.3 * normal_cdf(reached[0] / 0.1) + 0.7 * normal_cdf(reached[0] - 2)
        assert share == pytest.approx(normal_cdf(np.array(z)), abs=1e-6)
        assert reached[1] == pytest.approx(5 + 2 * z, abs=1e-6)


def test_the_median_of_a_mixture_stays_with_the_larger_part():
    posterior = Posterior(np.array([0.9, 0.1]), np.array([[0.0], [9.0]]), np.full((2, 1), 1e-4))
    assert posterior.mean == pytest.approx([0.9])
    assert np.log(posterior.quantile(0)) == pytest.approx([0.0014], abs=1e-4)  # 0.01 * 0.1397


@pytest.mark.parametrize(("z", "share"), [(0.0, 0.5), (Z80, 0.9), (-Z95, 0.025), (-9.0, 0.0)])
def test_the_normal_distribution_at_known_points(z, share):
    assert float(normal_cdf(np.array(z))) == pytest.approx(share, abs=1e-6)


finite = st.floats(-2, 2).map(lambda x: round(x, 3))


@settings(max_examples=40, deadline=None)
@given(
    arrays(float, (6, 3), elements=finite), arrays(float, 6, elements=finite), st.integers(0, 99)
)
def test_order_of_samples_does_not_matter(features, log_latency, seed):
    model = BayesianRegression(ScalePrior((0.5, 1.0)), ScalePrior((0.05, 0.2)))
    order = np.random.default_rng(seed).permutation(6)
    asked = features[:2] + 0.5
    one = model.predict(features, log_latency, asked)
    other = model.predict(features[order], log_latency[order], asked)
    assert one.mean == pytest.approx(other.mean, abs=1e-7)
    assert one.variance == pytest.approx(other.variance, abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(arrays(float, (5, 2), elements=finite), arrays(float, 5, elements=finite))
def test_a_shift_of_all_samples_shifts_the_answers(features, log_latency):
    model = BayesianRegression(ScalePrior((1.0,)), ScalePrior((0.05, 0.2)))
    asked = -features
    one = model.predict(features, log_latency, asked)
    other = model.predict(features, log_latency + 3.0, asked)
    assert other.mean == pytest.approx(one.mean + 3.0, abs=1e-7)
    assert (one.variance > 0).all()


def test_a_sample_lowers_the_variance_where_it_was_taken():
    model = regression(0.1)
    features = np.eye(3)
    asked = features[:1]
    without = model.predict(features[1:], np.zeros(2), asked).variance[0]
    assert model.predict(features, np.zeros(3), asked).variance[0] < without


@pytest.mark.parametrize(
    ("seen", "log_latency", "asked"),
    [
        (np.zeros((0, 2)), np.zeros(0), np.zeros((1, 2))),
        (np.zeros((2, 2)), np.zeros(3), np.zeros((1, 2))),
        (np.zeros((2, 2)), np.zeros(2), np.zeros((1, 3))),
        (np.zeros((2, 2)), np.array([0.0, np.nan]), np.zeros((1, 2))),
        (np.full((2, 2), np.inf), np.zeros(2), np.zeros((1, 2))),
    ],
)
def test_samples_that_do_not_fit_are_refused(seen, log_latency, asked):
    with pytest.raises(InputError):
        regression().predict(seen, log_latency, asked)


@pytest.mark.parametrize("values", [(), (0.0,), (1.0, -1.0)])
def test_a_prior_without_positive_values_is_refused(values):
    with pytest.raises(InputError):
        ScalePrior(values)
