"""The terms that the shipped network's latency is a sum of, for each operator on each target.

Every term grows with the work, so a prediction that is a sum of terms with positive factors never
falls as the batch grows. Beside arithmetic, traffic and launch stand square roots: small
amounts of work run at a lower efficiency than large ones.

No torch: the runtime of the shipped network uses this file too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Floats, Integers
from predictor.cost.columns import Columns, OperatorColumns
from predictor.cost.physics import leaving_share
from predictor.network.reference_rates import ReferenceRates

TERMS: Final = (
    "compute",
    "memory",
    "launch",
    "small_compute",
    "small_memory",
    "start",
    "small_launch",
)
# What the terms are part of: arithmetic, traffic, launches.
KINDS: Final = (0, 1, 2, 0, 1, 2, 2)
_SMALL_MACS: Final = 1e6
_SMALL_BYTES: Final = 1e5
_START_MS: Final = 1e-3


def running_operators(columns: Columns) -> tuple[OperatorColumns, Integers]:
    """Return the operators of one graph that run, and their places, int64 [N].

    Views and fused epilogues take no time and are no rows. In a graph where nothing runs the first
    operator stands for all, with no work: not all of onnxruntime takes an axis of no length.
    """
    places = np.flatnonzero(columns.launches > 0)
    if len(places):
        return columns.take(places), places
    places, none = np.zeros(1, np.int64), np.zeros(1)
    first = columns.take(places)
    return replace(first, macs=none, activation_bytes=none, weight_bytes=none), places


def off_chip_share(weights: Floats, live: Floats, rates: ReferenceRates) -> Floats:
    """Return the part of each graph's traffic that leaves the chip of each target, [G, T].

    Args:
        weights: [G, WIDTHS], bytes of distinct weights.
        live: [G, WIDTHS], bytes of the largest set of live activations.
        rates: of T targets.
    """
    needed = weights @ rates.weight_ratio.T + live @ rates.activation_ratio.T
    return leaving_share(needed, rates.held_bytes)


def work_terms(
    operators: OperatorColumns, leaving: Floats, rates: ReferenceRates
) -> NDArray[np.float32]:
    """Return the terms of N operators on T targets in ms, float32 [N, T, len(TERMS)].

    Args:
        operators: N.
        leaving: [N, T], of the graph of each by :func:`off_chip_share`, or [1, T] of one graph.
        rates: of T targets.
    """
    per_mac = rates.ms_per_mac.T[operators.code]  # [N, T]
    per_byte = leaving * rates.ms_per_byte
    width = operators.width
    traffic = rates.activation_ratio.T[width] * operators.activation_bytes[:, None]
    traffic += rates.weight_ratio.T[width] * operators.weight_bytes[:, None]
    compute = per_mac * operators.macs[:, None]
    memory = per_byte * traffic
    launch = operators.launches[:, None] * rates.launch_ms
    start = np.broadcast_to(operators.launches[:, None] * _START_MS, compute.shape)
    terms = (
        compute,
        memory,
        launch,
        # Geometric means of the operator's time and that of a small amount of the same work.
        np.sqrt(compute * per_mac * _SMALL_MACS),
        np.sqrt(memory * per_byte * _SMALL_BYTES),
        start,
        np.sqrt((compute + memory) * np.maximum(launch, start)),
    )
    return np.stack(terms, axis=-1).astype(np.float32)
