"""Bayesian linear regression of log-latency on hand features: no network, hard to beat.

All scales of the regression are as likely before anything is measured: the samples decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.additive import additive_log_latency
from ctm_research.nas.bayesian_regression import BayesianRegression, ScalePrior
from ctm_research.nas.method import Predicted, Probes
from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.nas.spaces.structure import operator_counts
from ctm_research.nas.spaces.view import TrainView
from predictor.core.percentiles import Z80
from predictor.probing.selection.dbsel import DBSel
from predictor.probing.selection.information import D_OPTIMAL, I_OPTIMAL
from predictor.probing.selection.interface import Measure, Pool, Selection, Selector
from predictor.probing.selection.random import RandomSelector

_REGRESSION: Final = BayesianRegression(
    scale=ScalePrior((0.003, 0.006, 0.0125, 0.025, 0.05, 0.1)),
    noise=ScalePrior((0.005, 0.01, 0.02, 0.04, 0.08)),
    intercept_variance=0.25,
)

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class HandBayes:
    """The method ``hand-bayes``, and the same with probes of other selectors."""

    name: str = "hand-bayes"
    selector: Selector = I_OPTIMAL

    def train(self, view: TrainView, seed: int) -> TrainedHandBayes:
        """Fit the additive models of the train devices."""
        del seed
        return TrainedHandBayes(hand_features(view), self.selector, view)


BY_I_OPTIMAL: Final = partial(HandBayes, "hand-bayes-iopt", I_OPTIMAL)
BY_D_OPTIMAL: Final = partial(HandBayes, "hand-bayes-dopt", D_OPTIMAL)
BY_DBSEL: Final = partial(HandBayes, "hand-bayes-dbsel", DBSel())
BY_CHANCE: Final = partial(HandBayes, "hand-bayes-random", RandomSelector())


@dataclass(frozen=True, slots=True, eq=False)
class TrainedHandBayes:
    """What was seen in training.

    Attributes:
        features: float64 [A, F], standardised, of every architecture.
        selector: of probes.
        view: the latencies that DBSel compares devices by.
    """

    features: Vector
    selector: Selector
    view: TrainView

    def adapt(self, device: DeviceFacts, probes: Probes, seed: int) -> AdaptedHandBayes:
        """Take over the samples: the posterior follows when it is asked for."""
        del device, seed
        return AdaptedHandBayes(self.features, probes)

    def choose(
        self, candidates: NDArray[np.int64], k: int, measure: Measure, seed: int
    ) -> Selection:
        """Choose by the selector."""
        known_ms = self.view.latency_ms[np.searchsorted(self.view.rows, candidates)]
        pool = Pool(known_ms, self.features[candidates])
        return self.selector.select(pool, k, measure, seed)


@dataclass(frozen=True, slots=True, eq=False)
class AdaptedHandBayes:
    """Features and samples."""

    features: Vector
    probes: Probes

    def predict(self, architectures: NDArray[np.int64]) -> Predicted:
        """Return median and 80 % interval of the averaged posterior, taken as normal."""
        posterior = _REGRESSION.predict(
            self.features[self.probes.architectures],
            self.probes.log_latency(),
            self.features[architectures],
        )
        return Predicted(posterior.quantile(0), posterior.quantile(-Z80), posterior.quantile(Z80))


def hand_features(view: TrainView) -> NDArray[np.float64]:
    """Return the hand features of every architecture, standardised over the train architectures.

    They are the logarithms of the costs of the graph, its kernels counted by operator type,
    and the log-latency that an additive model of each train device gives it. Features that do not
    vary are left out.

    Returns:
        Float64 [A, F].
    """
    architectures = view.architectures
    raw = np.column_stack(
        [
            np.log1p(architectures.structure),
            operator_counts(architectures.kernels),
            additive_log_latency(view),
        ]
    )
    return standardised_over(raw, view.rows)


def standardised_over(
    features: NDArray[np.float64], rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return features [A, F'] with mean 0 and variance 1 over ``rows``, those that vary there."""
    seen = features[rows]
    centre, spread = seen.mean(axis=0), seen.std(axis=0)
    # Relative to the values: rounding leaves a constant column a tiny spread.
    varies = spread > 1e-9 * np.abs(seen).max(axis=0)
    scaled: NDArray[np.float64] = (features[:, varies] - centre[varies]) / spread[varies]
    return scaled
