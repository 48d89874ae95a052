"""The terms that the shipped network's latency is a sum of, for each operator on each target.

Every term grows with the work, so a prediction that is a sum of terms with positive factors never
falls as the batch grows. Beside arithmetic, traffic and launch stand square roots: small
amounts of work run at a lower efficiency than large ones.

No torch: the runtime of the shipped network uses this file too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.cost.columns import Columns
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

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Operators:
    """Columns of N operators that run; views and fused epilogues take no time and are no rows.

    Attributes:
        code: int [N], as in :mod:`predictor.cost.columns`.
        width: int [N], as there.
        macs: [N].
        activation_bytes: [N], read and written, as in the file.
        weight_bytes: [N], as in the file.
        launches: [N].
        graph: int [N], index of each operator's graph.
    """

    code: Integers
    width: Integers
    macs: Floats
    activation_bytes: Floats
    weight_bytes: Floats
    launches: Floats
    graph: Integers

    @classmethod
    def of(cls, costs: Columns) -> tuple[Operators, NDArray[np.int64]]:
        """Return the operators of one graph that run, and their places, int64 [N].

        In a graph where nothing runs the first operator stands for all, with no work:
        onnxruntime does not take an axis of no length everywhere.
        """
        rows = np.flatnonzero(costs.launches > 0)
        works = float(len(rows) > 0)
        if not works:
            rows = np.zeros(1, np.int64)
        return cls(
            code=costs.code[rows],
            width=costs.width[rows],
            macs=costs.macs[rows] * works,
            activation_bytes=costs.activation_bytes[rows] * works,
            weight_bytes=costs.weight_bytes[rows] * works,
            launches=costs.launches[rows],
            graph=np.zeros_like(rows),
        ), rows


def off_chip_share(weights: Floats, live: Floats, rates: ReferenceRates) -> Floats:
    """Return the part of each graph's traffic that leaves the chip of each target, [G, T].

    Args:
        weights: [G, WIDTHS], bytes of distinct weights.
        live: [G, WIDTHS], bytes of the largest set of live activations.
        rates: of T targets.
    """
    needed = weights @ rates.weight_ratio.T + live @ rates.activation_ratio.T
    return leaving_share(needed, rates.held_bytes)


def work_terms(operators: Operators, leaving: Floats, rates: ReferenceRates) -> NDArray[np.float32]:
    """Return the terms of N operators on T targets in ms, float32 [N, T, len(TERMS)].

    Args:
        operators: N.
        leaving: [G, T], from :func:`off_chip_share`.
        rates: of T targets.
    """
    per_mac = rates.ms_per_mac.T[operators.code]  # [N, T]
    per_byte = leaving[operators.graph] * rates.ms_per_byte
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
