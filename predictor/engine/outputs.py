"""From the network's outputs to latencies with their uncertainty, and to attention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.deviation import Deviation, Expectation, part_tilts, tilted_ms
from predictor.cost.engine import AttentionMaps
from predictor.engine.checkpoint import EngineCard
from predictor.network.target_facts import CHOICE_KINDS, TargetFacts
from predictor.network.term_runtime import EncodedGraph, HeadOutput

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class GraphLatency:
    """Latency of one graph with R running operators on T targets.

    Attributes:
        latency_ms: float64 [T].
        spreads: float64 [2, T], standard deviations of ln(latency): of each target's posterior, and
            of the prior without measurements.
        shared_error: float64 [T, 1 + F], see ``PredictionTable.shared_error``.
        shares: float64 [R, T], parts of the latency that the operators take.
    """

    latency_ms: Floats
    spreads: Floats
    shared_error: Floats
    shares: Floats


def expectation(encoded: EncodedGraph, output: HeadOutput, column: int) -> Expectation:
    """Return the expectation for a graph on the target at ``column``."""
    return Expectation(
        output.parts_ms[:, column].astype(np.float64),
        encoded.responses.astype(np.float64),
        float(output.run_ms[column]),
    )


def graph_latency(
    encoded: EncodedGraph,
    output: HeadOutput,
    deviations: Sequence[Deviation],
    unmeasured: Deviation,
) -> GraphLatency:
    """Return the latency of a graph on T targets from their posteriors and the prior."""
    parts = output.parts_ms.astype(np.float64)  # [R, T, 3]
    responses = encoded.responses.astype(np.float64)
    of_operators = parts.sum(axis=2)
    total = of_operators.sum(axis=0) + output.run_ms
    by_target = parts.transpose(1, 0, 2).reshape(len(total), -1)  # a product: ten times an einsum
    slope = by_target @ responses.reshape(by_target.shape[1], -1) / total[:, None]
    rows = np.concatenate([np.ones((len(total), 1)), slope], axis=1)
    weights = np.stack([deviation.weights for deviation in deviations])
    # Without a deviation every tilt is 0 and the plain sum is exact, so most targets are done.
    measured = np.flatnonzero(weights.any(axis=1))
    latency = total.copy()
    if len(measured):
        tilts = part_tilts(responses, weights[measured].T)  # [R, 3, T]
        latency[measured] = tilted_ms(
            parts[:, measured].transpose(0, 2, 1), output.run_ms[measured].astype(np.float64), tilts
        )
    spread, roots = np.empty(len(total)), np.empty(rows.shape)
    for deviation, places in _by_deviation(deviations):
        spread[places] = np.sqrt(deviation.variance(rows[places]))
        roots[places] = rows[places] @ deviation.root
    factors = np.array([deviation.factor for deviation in deviations])
    return GraphLatency(
        latency * factors,
        np.stack([spread, np.sqrt(unmeasured.variance(rows))]),
        # Divided by the deviation, the dot product of two graphs' rows is a correlation.
        roots / spread[:, None],
        of_operators / total,
    )


def _by_deviation(deviations: Sequence[Deviation]) -> list[tuple[Deviation, list[int]]]:
    """Return the places of each deviation: most targets share that of nothing measured."""
    groups: dict[int, tuple[Deviation, list[int]]] = {}
    for place, deviation in enumerate(deviations):
        # By identity: comparing the matrices would cost more than it saves.
        groups.setdefault(id(deviation), (deviation, []))[1].append(place)
    return list(groups.values())


def attention_maps(
    engine: EngineCard,
    operators: int,
    encoded: EncodedGraph,
    output: HeadOutput,
    facts: TargetFacts,
) -> AttentionMaps | None:
    """Return HODM's attention of one graph on one target; None where no metric is known.

    Rows of operators that take no time are level.
    """
    metrics = facts.available[0]
    if not metrics.any() or not len(output.parts_ms):
        return None
    attended = np.concatenate([np.ones(len(CHOICE_KINDS), np.bool_), metrics])
    read = tuple(
        name for name, is_available in zip(engine.facts.names, metrics, strict=True) if is_available
    )
    names = (*CHOICE_KINDS, *read)
    forward = np.full((operators, len(names)), 1 / len(names), np.float32)
    # The last token is "unknown", which is available only where no metric is.
    forward[encoded.places] = output.operator_to_metric[:, 0, :-1][:, attended]
    backward = np.zeros((len(names), operators), np.float32)
    backward[:, encoded.places] = output.metric_to_operator[:, 0, :-1][:, attended].T
    return AttentionMaps(
        metrics=names,
        operator_to_metric=forward,
        metric_to_operator=backward,
        blend=engine.blend,
        residual=engine.residual,
    )
