"""What operators and hardware metrics looked at, summed up from the maps of attention."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.cost.engine import AttentionMaps

__all__ = ["AttentionMaps", "Gaze", "gaze", "operators_gaze"]


@dataclass(frozen=True, slots=True, eq=False)
class Gaze:
    """What each of L lookers attended to most.

    Attributes:
        at: intp [L], index of what it attended to most, the first of equals.
        share: float64 [L], the part of its attention that went there, 0 to 1.
    """

    at: NDArray[np.intp]
    share: NDArray[np.float64]


def operators_gaze(attention: AttentionMaps | None) -> Gaze | None:
    """Return the metric that each operator attended to most; None without attention."""
    if attention is None or not attention.metrics:
        return None
    return gaze(attention.operator_to_metric)


def gaze(shares: NDArray[np.floating]) -> Gaze:
    """Return where each row of ``shares`` [L, K], K > 0, is largest."""
    at = shares.argmax(axis=1)
    return Gaze(at, np.take_along_axis(shares, at[:, None], axis=1)[:, 0].astype(np.float64))
