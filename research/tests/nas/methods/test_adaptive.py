"""The adaptive selector: what a device shows decides what is run next on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ctm_research.nas.bayesian_regression import BayesianRegression, ScalePrior
from ctm_research.nas.methods.adaptive import AdaptiveSelector
from predictor.core.errors import InputError
from predictor.probing.selection.information import smallest_mean_variance
from predictor.probing.selection.interface import Pool

REGRESSION = BayesianRegression(
    ScalePrior((0.5, 1.0, 2.0)), ScalePrior((0.005, 0.02, 0.08, 0.3)), 0.01
)
# The first feature varies most: it matters most for the pool as a whole.
FEATURES = np.random.default_rng(0).normal(0, (0.2, 0.1, 0.1, 0.1), (60, 4))
WEIGHTS = np.array([1.0, -1.0, 0.5, 0.2])


def device(noise: float) -> tuple[Callable[[int], float], list[int]]:
    read: list[int] = []
    errors = np.random.default_rng(1).normal(0, noise, len(FEATURES))

    def measure(index: int) -> float:
        read.append(index)
        return float(np.exp(2 + FEATURES[index] @ WEIGHTS + errors[index]))

    return measure, read


def test_every_probe_is_read_once_and_none_twice() -> None:
    measure, read = device(0.01)
    chosen = AdaptiveSelector(REGRESSION.noise_level).select(Pool(features=FEATURES), 12, measure)

    assert read == list(chosen.indices)
    assert len(set(read)) == 12
    assert chosen.latency_ms == pytest.approx([measure(index) for index in chosen.indices])


def test_the_first_probes_are_those_of_the_plan() -> None:
    selector = AdaptiveSelector(REGRESSION.noise_level)
    plan = selector.select(Pool(features=FEATURES), 8)
    live = selector.select(Pool(features=FEATURES), 8, device(0.2)[0])

    assert plan.latency_ms == ()
    assert live.indices[:3] == plan.indices[:3]


def test_a_noisy_device_is_asked_for_what_matters_most() -> None:
    selector = AdaptiveSelector(REGRESSION.noise_level, least_noise=0.001)
    quiet, noisy = (
        FEATURES[list(selector.select(Pool(features=FEATURES), 12, device(noise)[0]).indices)]
        for noise in (0.0, 0.5)
    )

    def main_share(chosen: np.ndarray) -> float:
        return float((chosen[:, 0] ** 2).sum() / (chosen**2).sum())

    assert (quiet[:3] == noisy[:3]).all()
    assert main_share(noisy) > main_share(quiet)


def test_going_on_from_chosen_rows_is_the_same_as_choosing_them_all_at_once() -> None:
    whole = smallest_mean_variance(FEATURES, 0.001, 9)

    assert smallest_mean_variance(FEATURES, 0.001, 9, whole[:4]) == whole


def test_noise_is_recognised() -> None:
    for noise, low, high in ((0.005, 0.004, 0.02), (0.3, 0.1, 0.31)):
        measure, _ = device(noise)
        log_latency = np.log([measure(index) for index in range(40)])
        assert low < REGRESSION.noise_level(FEATURES[:40], log_latency) < high


def test_a_pool_without_features_or_too_small_is_refused() -> None:
    with pytest.raises(InputError, match="has no features"):
        AdaptiveSelector(REGRESSION.noise_level).select(Pool(train_latency_ms=np.ones((5, 2))), 2)
    with pytest.raises(InputError):
        AdaptiveSelector(REGRESSION.noise_level).select(Pool(features=FEATURES[:4]), 5)
