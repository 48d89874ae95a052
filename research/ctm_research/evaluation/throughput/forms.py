"""Forms of what several runs at once bring, fitted by least absolute errors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.evaluation.throughput.pairs import Pair
from predictor.calibration.throughput import STEADY

Floats = NDArray[np.float64]
Strings = NDArray[np.str_]

FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "a constant": ("start",),
    "batches": ("batches",),
    "a constant and batches": ("start", "batches"),
    "a constant and cores": ("start", "cores"),
    "a constant, batches and cores": ("start", "batches", "cores"),
    "a share of the way to the bound": ("bound",),
    "a constant and the latency": ("start", "latency"),
}
"""Columns of each form; ln of the gain is a sum of shares of them, at least 0."""
SHIPPED: Final = ("start", "batches", "cores")
"""Columns of the forms that may ship: what is known before anything was run."""
_COLUMNS: Final[Mapping[str, Callable[[Pair], float]]] = {
    "start": lambda _: 1.0,
    "batches": lambda pair: math.log(pair.batch_gain),
    "cores": lambda pair: math.log(pair.cores),
    "bound": lambda pair: math.log(pair.bound_share),
    "latency": lambda pair: math.log(pair.latency_ms),
}
_PASSES: Final = 40
_LEAST_ERROR: Final = 0.01  # what a reweighted error counts as at least


def columns_of(pairs: Sequence[Pair], form: str) -> Floats:
    """Return the columns of a form, float64 [pairs, columns]; NaN where a pair lacks one."""
    return np.array([[_COLUMNS[name](pair) for name in FORMS[form]] for pair in pairs])


def gains_of(pairs: Sequence[Pair]) -> Floats:
    """Return ln of the gains that were measured, float64 [pairs]."""
    return np.log([pair.gain for pair in pairs])


def weights_of(pairs: Sequence[Pair]) -> Floats:
    """Return the weights of pairs, float64 [pairs]: each device counts the same."""
    counts = Counter(pair.device for pair in pairs)
    return np.array([1 / counts[pair.device] for pair in pairs])


def fitted(columns: Floats, gains: Floats, weights: Floats) -> Floats:
    """Return the shares of least weighted absolute error, by reweighted least squares.

    Args:
        columns: float64 [pairs, columns].
        gains: ln of those measured, [pairs].
        weights: of the pairs.
    """
    shares = _least_squares(columns, gains, weights)
    for _ in range(_PASSES):
        error = np.maximum(np.abs(gains - columns @ shares), _LEAST_ERROR)
        shares = _least_squares(columns, gains, weights / error)
    return shares


def _least_squares(columns: Floats, gains: Floats, weights: Floats) -> Floats:
    root = np.sqrt(weights)
    return np.asarray(
        np.linalg.lstsq(columns * root[:, None], gains * root, rcond=None)[0], np.float64
    )


def predicted(columns: Floats, shares: Floats) -> Floats:
    """Return ln of the gains of a form, at least 0."""
    gains: Floats = np.maximum(columns @ shares, 0.0)
    return gains


def left_out(columns: Floats, gains: Floats, weights: Floats, parts: Strings) -> Floats:
    """Return ln of the gains of each part by the others, float64 [pairs]."""
    result = np.zeros(len(gains))
    for part in sorted(set(parts.tolist())):
        others = parts != part
        shares = fitted(columns[others], gains[others], weights[others])
        result[~others] = predicted(columns[~others], shares)
    return result


def scale_of(gains: Floats, stated: Floats, weights: Floats) -> float:
    """Return the error that 80 % of the pairs stay within, over ln of the gain and ``STEADY``."""
    return quantile(np.abs(gains - stated) / (STEADY + stated), weights, 0.8)


def quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the value that a share of the weights stays within."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, share * reached[-1])])
