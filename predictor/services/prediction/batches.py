"""Batches of a model by prediction: how their time grows, and the most that they bring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import Target
from predictor.cost.engine import NOTHING_MEASURED
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from predictor.services.prediction.engines import open_engine

Floats = NDArray[np.float64]

SIZES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
"""Of batches that are predicted, in runs of the file."""
_NEARLY: Final = 0.95  # of the largest gain: larger batches only wait longer


class BatchTimes(NamedTuple):
    """Batches of S sizes on T targets.

    Attributes:
        ratio: P50 over that of one run, float64 [S, T]; NaN where there is no number.
        fits: whether weights and activations fit the memory, as far as it is known, bool [S, T].
        bound_ms: no run of the file takes less time, in whatever batch, float64 [T]; NaN where a
            fact is missing.
    """

    ratio: Floats
    fits: NDArray[np.bool_]
    bound_ms: Floats


class Gain(NamedTuple):
    """What the best batch brings: items of it in the time of one run, [T], and its size, [T]."""

    factor: Floats
    size: NDArray[np.int64]


def batch_times(
    graph: OperatorGraph, targets: Sequence[Target], sizes: Sequence[int]
) -> BatchTimes:
    """Return the times of batches, of which none is faster than a smaller one.

    Args:
        graph: of one run.
        targets: the targets.
        sizes: in runs, ascending from 1.
    """
    graphs = [at_batch(graph, size) for size in sizes]
    table = open_engine().predict(graphs, targets, NOTHING_MEASURED)
    with np.errstate(invalid="ignore"):
        ratio = table.latency_ms / table.latency_ms[0]
    # Nor does one take longer than its runs one after the other.
    ratio = np.minimum(np.maximum.accumulate(ratio), np.array(sizes)[:, None])
    fits = np.array([[fit is not False for fit in row] for row in table.fits_memory], np.bool_)
    fits[0] = True
    return BatchTimes(ratio, fits, table.bound_ms[-1] / sizes[-1])


def largest_gain(times: BatchTimes, sizes: Sequence[int]) -> Gain:
    """Return the most that batches bring, and the smallest size that brings nearly as much.

    Args:
        times: of these sizes.
        sizes: in runs, [S].
    """
    gain = np.where(times.fits, np.array(sizes)[:, None] / times.ratio, 1.0)
    factor = np.maximum(gain.max(axis=0), 1.0)
    size = np.array(sizes)[np.argmax(gain >= _NEARLY * factor, axis=0)]
    return Gain(factor, size)
