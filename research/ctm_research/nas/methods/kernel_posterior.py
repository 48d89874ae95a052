"""The method ``closertome``: features of networks, its own probes, and a Bayesian posterior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.additive import coarse_noise, in_whole_ms
from ctm_research.nas.bayesian_regression import BayesianRegression, ScalePrior
from ctm_research.nas.method import Predicted, Probes
from ctm_research.nas.methods.adaptive import AdaptiveSelector
from ctm_research.nas.methods.kernel_network import KernelRecipe, train_kernel_network
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.view import TrainView
from predictor.core.percentiles import Z80
from predictor.probing.selection.interface import Measure, Pool, Selection

# Two learn with all kinds of analytic devices, two with a third of them bound by launches.
KERNEL_RECIPES: Final = (KernelRecipe(), KernelRecipe(launch_bound=1 / 3)) * 2
# Chosen by leaving train devices out.
_NOISES: Final = (0.0025, 0.005, 0.01, 0.02, 0.03, 0.045, 0.07, 0.1, 0.15)
_REGRESSION: Final = BayesianRegression(
    scale=ScalePrior((0.18, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0), usual=0.5, spread=0.7),
    noise=ScalePrior(_NOISES, usual=0.01, spread=1.5),
    intercept_variance=0.1**2,
)
_COARSE_SPREAD: Final = 0.5  # of the log-noise from one coarsely read device to another


@dataclass(frozen=True, slots=True)
class KernelPosterior:
    """The method ``closertome``."""

    name: str = "closertome"

    def train(self, view: TrainView, seed: int) -> TrainedKernelPosterior:
        """Train the networks."""
        return trained_once(view, seed)


@dataclass(frozen=True, slots=True)
class RegressionByClock:
    """The regression on a network's features; the noise that it expects follows the readings.

    Attributes:
        coarse_noise: of devices that are read in whole milliseconds, in log-latency; None where no
            such device is known.
    """

    coarse_noise: float | None

    def of(self, latency_ms: NDArray[np.float64]) -> BayesianRegression:
        """Return the regression for a device with these readings, float64 [k]."""
        if self.coarse_noise is None or not in_whole_ms(latency_ms):
            return _REGRESSION
        return replace(_REGRESSION, noise=ScalePrior(_NOISES, self.coarse_noise, _COARSE_SPREAD))

    def noise_level(self, features: NDArray[np.float64], log_latency: NDArray[np.float64]) -> float:
        """Return the noise of a device by its samples, in log-latency."""
        return self.of(np.exp(log_latency)).noise_level(features, log_latency)


@lru_cache(maxsize=2)
def trained_once(view: TrainView, seed: int) -> TrainedKernelPosterior:
    """Return the networks of a view and a seed; variants of the method share one training.

    The features of all networks stand side by side: their covariance is the mean of the networks'.
    """
    seeds = np.random.SeedSequence(seed).generate_state(len(KERNEL_RECIPES)).tolist()
    parts = [
        train_kernel_network(view, each, recipe)
        for each, recipe in zip(seeds, KERNEL_RECIPES, strict=True)
    ]
    # Divided by the root of their number: inner products then are means over the networks.
    features = np.concatenate(parts, axis=1) / np.sqrt(len(parts))
    return TrainedKernelPosterior(features, RegressionByClock(coarse_noise(view)))


@dataclass(frozen=True, slots=True, eq=False)
class TrainedKernelPosterior:
    """Features float64 [A, F] of every architecture, and the regression on them."""

    features: NDArray[np.float64]
    regression: RegressionByClock

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedKernelPosterior:
        """Take over the samples: the posterior follows when it is asked for."""
        del device, seed
        return AdaptedKernelPosterior(self.features, self.regression, probes)

    def choose(
        self, candidates: NDArray[np.int64], k: int, measure: Measure, seed: int
    ) -> Selection:
        """Choose one probe after another: the one that leaves the least variance over all."""
        pool = Pool(features=self.features[candidates])
        return AdaptiveSelector(self.regression.noise_level).select(pool, k, measure, seed)


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedKernelPosterior:
    """Features, regression, and samples."""

    features: NDArray[np.float64]
    regression: RegressionByClock
    probes: Probes

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Return median and 80 % interval of the posterior."""
        posterior = self.regression.of(self.probes.latency_ms).predict(
            self.features[self.probes.architectures],
            self.probes.log_latency(),
            self.features[architectures],
        )
        return Predicted(posterior.quantile(0), posterior.quantile(-Z80), posterior.quantile(Z80))
