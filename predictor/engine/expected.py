"""From what the network says of one graph on T targets to latencies and what they may err by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.deviation import Deviation, Expectation, part_tilts, tilted_ms
from predictor.network.term_runtime import EncodedGraph, HeadOutput

Floats = NDArray[np.float64]


def expectation(encoded: EncodedGraph, output: HeadOutput, column: int) -> Expectation:
    """Return what is expected of a graph on the target at ``column``."""
    return Expectation(
        output.parts_ms[:, column].astype(np.float64),
        encoded.responses.astype(np.float64),
        float(output.run_ms[column]),
    )


def predicted(
    encoded: EncodedGraph,
    output: HeadOutput,
    deviations: Sequence[Deviation],
    unmeasured: Deviation,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return what is expected of a graph on T targets.

    Returns:
        Latency [T]; standard deviations of its logarithm [2, T], as is believed of each target and
        as of one without measurements; what the first has in common with other graphs, [T, 1 + F],
        see ``PredictionTable.shared_error``; operators' shares [R, T].
    """
    parts = output.parts_ms.astype(np.float64)  # [R, T, 3]
    responses = encoded.responses.astype(np.float64)
    of_operators = parts.sum(axis=2)
    total = of_operators.sum(axis=0) + output.run_ms
    by_target = parts.transpose(1, 0, 2).reshape(len(total), -1)  # a product: ten times an einsum
    slope = by_target @ responses.reshape(by_target.shape[1], -1) / total[:, None]
    rows = np.concatenate([np.ones((len(total), 1)), slope], axis=1)
    weights = np.stack([each.weights for each in deviations])
    measured = np.flatnonzero(weights.any(axis=1))
    latency = total.copy()
    if len(measured):
        tilts = part_tilts(responses, weights[measured].T)  # [R, 3, T]
        latency[measured] = tilted_ms(
            parts[:, measured].transpose(0, 2, 1), output.run_ms[measured].astype(np.float64), tilts
        )
    spread, roots = np.empty(len(total)), np.empty(rows.shape)
    for each, own in _alike(deviations).values():
        spread[own], roots[own] = np.sqrt(each.variance(rows[own])), rows[own] @ each.root
    overall = np.array([each.factor for each in deviations])
    spreads = np.stack([spread, np.sqrt(unmeasured.variance(rows))])
    return latency * overall, spreads, roots / spread[:, None], of_operators / total


def _alike(deviations: Sequence[Deviation]) -> dict[int, tuple[Deviation, list[int]]]:
    """Return the places of each deviation: most targets share that of nothing measured."""
    found: dict[int, tuple[Deviation, list[int]]] = {}
    for place, deviation in enumerate(deviations):
        found.setdefault(id(deviation), (deviation, []))[1].append(place)
    return found
