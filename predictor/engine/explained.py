"""Where one graph's time goes on one target, and what HODM attended to there."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.cost.engine import AttentionMaps, BoundType, Explanation
from predictor.engine.checkpoint import EngineCard
from predictor.network.target_facts import CHOICE_KINDS, TargetFacts
from predictor.network.term_runtime import EncodedGraph, HeadOutput

Floats = NDArray[np.float64]
_PARTS: Final = (BoundType.COMPUTE, BoundType.MEMORY, BoundType.LAUNCH)


def explanation(
    operators: int,
    places: NDArray[np.int64],
    parts_ms: Floats,
    attention: AttentionMaps | None,
) -> Explanation:
    """Return where the time of one graph goes on one target.

    Args:
        operators: of the graph, those that take no time with them.
        places: int64 [R], those that take time.
        parts_ms: float64 [R, 3], their arithmetic, traffic and launches.
        attention: of the graph on the target.
    """
    columns = np.zeros((operators, 3))
    columns[places] = parts_ms
    kind = np.array(_PARTS, np.int8)[columns.argmax(axis=1)]
    latency_ms = columns.sum(axis=1)
    return Explanation(
        latency_ms=latency_ms,
        compute_ms=columns[:, 0],
        memory_ms=columns[:, 1],
        launch_ms=columns[:, 2],
        bound_ms=np.full(operators, np.nan),
        bound_type=np.where(latency_ms > 0, kind, BoundType.NONE).astype(np.int8),
        attention=attention,
    )


def attention_maps(
    engine: EngineCard,
    operators: int,
    encoded: EncodedGraph,
    output: HeadOutput,
    facts: TargetFacts,
) -> AttentionMaps | None:
    """Return what HODM attended to of one graph on one target; None where no metric is known.

    Rows of operators that take no time are level.
    """
    metrics = facts.available[0]
    if not metrics.any() or not len(output.parts_ms):
        return None
    attended = np.concatenate([np.ones(len(CHOICE_KINDS), np.bool_), metrics])
    read = tuple(
        name for name, is_known in zip(engine.facts.names, metrics, strict=True) if is_known
    )
    names = (*CHOICE_KINDS, *read)
    forward = np.full((operators, len(names)), 1 / len(names), np.float32)
    forward[encoded.places] = output.operator_to_metric[:, 0, :-1][:, attended]
    backward = np.zeros((len(names), operators), np.float32)
    backward[:, encoded.places] = output.metric_to_operator[:, 0, :-1][:, attended].T
    return AttentionMaps(names, forward, backward, engine.blend, engine.residual)
