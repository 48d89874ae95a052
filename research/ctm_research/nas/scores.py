"""Scores of predictions: errors, shares within limits, and intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ctm_research.nas.method import Predicted

_MISSED = 0.2  # what an 80 % interval may miss
CURVE_POINTS = 101


@dataclass(frozen=True, slots=True)
class Scores:
    """Figures of one set of predictions, in percent; None where a method has no intervals.

    Attributes:
        rae: mean of |predicted - measured| / measured.
        within_5: share of predictions with a relative error of at most 5 %.
        within_10: of at most 10 %.
        within_15: of at most 15 %.
        coverage: share of measured latencies inside their 80 % interval.
        width: median of interval width / predicted latency.
        interval_score: mean of the interval score / measured latency; less is better.
    """

    rae: float
    within_5: float
    within_10: float
    within_15: float
    coverage: float | None = None
    width: float | None = None
    interval_score: float | None = None


def score(predicted: Predicted, measured_ms: NDArray[np.float64]) -> Scores:
    """Score predictions.

    Args:
        predicted: of n architectures.
        measured_ms: float64 [n].

    Raises:
        ValueError: a prediction is not a number above 0, or not one an architecture.

    Reference:
        T. Gneiting and A. Raftery, "Strictly proper scoring rules, prediction, and estimation",
        2007, section 6.2 (interval score).
    """
    error = relative_error(predicted.latency_ms, measured_ms)
    plain = Scores(100 * float(error.mean()), *_shares(error))
    low, high = predicted.low80_ms, predicted.high80_ms
    if low is None or high is None:
        return plain
    missed = np.maximum(low - measured_ms, 0) + np.maximum(measured_ms - high, 0)
    return replace(
        plain,
        coverage=100 * float((missed <= 0).mean()),
        width=100 * float(np.median((high - low) / predicted.latency_ms)),
        interval_score=100 * float(np.mean((high - low + 2 / _MISSED * missed) / measured_ms)),
    )


def _shares(error: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the shares within 5, 10 and 15 %, in percent."""
    within = [100 * float((error <= limit).mean()) for limit in (0.05, 0.10, 0.15)]
    return within[0], within[1], within[2]


def relative_error(
    predicted_ms: NDArray[np.float64], measured_ms: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return float64 [n], |predicted - measured| / measured.

    Raises:
        ValueError: a prediction is not a number above 0, or not one an architecture.
    """
    if predicted_ms.shape != measured_ms.shape:
        raise ValueError(f"{predicted_ms.shape} predictions for {measured_ms.shape} measurements")
    if not (np.isfinite(predicted_ms) & (predicted_ms > 0)).all():
        raise ValueError("a predicted latency is not a number above 0")
    return np.abs(predicted_ms - measured_ms) / measured_ms


def error_curve(
    predicted_ms: NDArray[np.float64], measured_ms: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return float64 [101], the 0 %, 1 %, ... 100 % quantiles of the relative error in percent."""
    error = relative_error(predicted_ms, measured_ms)
    quantiles: NDArray[np.float64] = np.quantile(100 * error, np.linspace(0, 1, CURVE_POINTS))
    return quantiles
