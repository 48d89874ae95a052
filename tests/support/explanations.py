"""Explanations of single targets."""

from __future__ import annotations

from collections.abc import Mapping

from predictor.core.records import Target, TargetId
from predictor.cost.engine import NOTHING_MEASURED, Engine, Explanation, TargetMeasurements
from predictor.graph.operator_graph import OperatorGraph


def explanation_of(
    engine: Engine,
    graph: OperatorGraph,
    target: Target,
    measured: Mapping[TargetId, TargetMeasurements] = NOTHING_MEASURED,
) -> Explanation:
    """Return an engine's explanation of a graph on one target that has a number for it."""
    (explanation,) = engine.explain(graph, [target], measured)
    assert explanation is not None
    return explanation
