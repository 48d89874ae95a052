"""Additive models: each choice at each position costs its own time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from predictor.research.nas.space import Architectures
from predictor.research.nas.view import TrainView

_RIDGE = 1.0
_LEAST_SHARE = 0.05  # of the mean latency; a sum of fitted costs can come out at or below 0


def one_hot(architectures: Architectures) -> NDArray[np.float64]:
    """Return float64 [A, P * C], which of C choices stands at each of P positions."""
    chosen = architectures.codes[:, :, None] == np.arange(architectures.choices)
    encoded: NDArray[np.float64] = chosen.reshape(len(architectures), -1).astype(np.float64)
    return encoded


def additive_log_latency(view: TrainView) -> NDArray[np.float64]:
    """Return what an additive model of each train device gives every architecture.

    The models are ridge regressions of the latency on one-hot codes, fitted on the train
    architectures of the train devices alone.

    Returns:
        Float64 [A, D], logarithms of latencies relative to the device's mean.
    """
    encoded = one_hot(view.architectures)
    seen = encoded[view.rows]
    centre = seen.mean(axis=0)
    centred = seen - centre
    relative = view.latency_ms / view.latency_ms.mean(axis=0) - 1
    gram = centred.T @ centred + _RIDGE * np.eye(centred.shape[1])
    costs = np.linalg.solve(gram, centred.T @ relative)
    fitted: NDArray[np.float64] = np.maximum(1 + (encoded - centre) @ costs, _LEAST_SHARE)
    return np.log(fitted)
