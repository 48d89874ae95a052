"""Additive models: each choice at each position costs its own time. Their residual is noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.spaces.space import Architectures
from ctm_research.nas.spaces.view import TrainView

_RIDGE = 1.0
_LEAST_SHARE = 0.05  # of the mean latency; a sum of fitted costs can come out at or below 0
_TOLERANCE_MS = 1e-6


def one_hot(architectures: Architectures) -> NDArray[np.float64]:
    """Return one-hot codes, float64 [A, P * C], of C choices at P positions."""
    chosen = architectures.codes[:, :, None] == np.arange(architectures.choices)
    encoded: NDArray[np.float64] = chosen.reshape(len(architectures), -1).astype(np.float64)
    return encoded


def additive_log_latency(view: TrainView) -> NDArray[np.float64]:
    """Return predictions of an additive model of each train device for every architecture.

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
    # The one-hot codes of a position sum to 1: without a ridge the matrix is singular.
    gram = centred.T @ centred + _RIDGE * np.eye(centred.shape[1])
    costs = np.linalg.solve(gram, centred.T @ relative)
    fitted: NDArray[np.float64] = np.maximum(1 + (encoded - centre) @ costs, _LEAST_SHARE)
    return np.log(fitted)


def measurement_noise(view: TrainView) -> NDArray[np.float64]:
    """Return the residuals of each train device's additive model, float64 [D], in log-latency."""
    rest = view.log_latency() - additive_log_latency(view)[view.rows]
    spread: NDArray[np.float64] = rest.std(axis=0)
    return spread


def in_whole_ms(latency_ms: NDArray[np.float64]) -> bool:
    """Return whether all latencies are whole milliseconds: a coarse clock, or a coarse record."""
    return bool((np.abs(latency_ms - np.round(latency_ms)) < _TOLERANCE_MS).all())


def coarse_noise(view: TrainView) -> float | None:
    """Return the noise of the train devices that were read in whole milliseconds.

    Returns:
        Its geometric mean over them, in log-latency; None where there is none.
    """
    coarse = [in_whole_ms(column) for column in view.latency_ms.T]
    if not any(coarse):
        return None
    return float(np.exp(np.log(measurement_noise(view)[coarse]).mean()))
