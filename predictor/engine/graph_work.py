"""Work of the operators of a graph, as the estimate reads it."""

from __future__ import annotations

from dataclasses import dataclass

from predictor.core.arrays import Floats, Integers
from predictor.cost.operator_kinds import KINDS, kinds_of
from predictor.cost.physics import Work
from predictor.engine.operator_factors import OperatorFactors
from predictor.engine.target_estimates import TargetEstimates
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.features import exact_features, scale_free


@dataclass(frozen=True, slots=True, eq=False)
class GraphWork:
    """Work, kinds and states of the N operators of a graph.

    Attributes:
        work: of the operators.
        kinds: int64 [N], index into ``KINDS``.
        states: float64 [N, H], for their factors.
    """

    work: Work
    kinds: Integers
    states: Floats

    @classmethod
    def of(cls, graph: OperatorGraph, operators: OperatorFactors) -> GraphWork:
        """Return work, kinds and states of a graph, cost O(N)."""
        kinds = kinds_of(graph)
        features = scale_free(exact_features(graph))
        return cls(Work.of(graph), kinds, operators.states(features, graph.op_code, kinds))

    def by_context(self, operators: OperatorFactors, targets: TargetEstimates) -> Work:
        """Return the work by kind in each context of targets, arrays of [C, len(KINDS)]."""
        factors = operators.by_context(self.states, targets.contexts)  # C times [N, terms]
        works = [self.work.scaled(factor).by_kind(self.kinds, len(KINDS)) for factor in factors]
        return Work.stacked(works)
