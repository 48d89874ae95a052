"""How noisy the devices of a search space are, and how coarsely they were read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from predictor.research.nas.additive import additive_log_latency
from predictor.research.nas.view import TrainView

_TOLERANCE_MS = 1e-6


def measurement_noise(view: TrainView) -> NDArray[np.float64]:
    """Return what an additive model of each train device leaves, float64 [D], in log-latency."""
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
