"""Hand features: what an engineer would ask of an architecture to guess its latency."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from predictor.research.nas.additive import additive_log_latency
from predictor.research.nas.structure import operator_counts
from predictor.research.nas.view import TrainView


def hand_features(view: TrainView) -> NDArray[np.float64]:
    """Return the hand features of every architecture, standardised over the train architectures.

    They are the logarithms of what the graph says about its cost, its kernels by operator type,
    and the log-latency that an additive model of each train device gives it. Features that do not
    vary are left out.

    Returns:
        Float64 [A, F].
    """
    found = view.architectures
    raw = np.column_stack(
        [
            np.log1p(found.structure),
            operator_counts(found.kernels),
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
    varies = spread > 1e-9 * np.abs(seen).max(axis=0)
    scaled: NDArray[np.float64] = (features[:, varies] - centre[varies]) / spread[varies]
    return scaled
