"""Work of the operators of a graph, as the estimate reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from predictor.calibration.network_deviations import NetworkDeviations, Products
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
        factors: float64 [C + 1], of the whole network by class of targets; 1 in any other.
    """

    work: Work
    kinds: Integers
    states: Floats
    factors: Floats

    @classmethod
    def of(
        cls, graph: OperatorGraph, operators: OperatorFactors, networks: NetworkDeviations
    ) -> GraphWork:
        """Return work, kinds, states and factors of a graph, cost O(N)."""
        kinds = kinds_of(graph)
        features = scale_free(exact_features(graph))
        return cls(
            Work.of(graph),
            kinds,
            operators.states(features, graph.op_code, kinds),
            np.exp(networks.of_network(Products.of(graph))),
        )

    def by_context(self, operators: OperatorFactors, targets: TargetEstimates) -> Work:
        """Return the work by kind in each context of targets, arrays of [C, len(KINDS)]."""
        blocks = [
            self.work.by_kind(self.kinds, len(KINDS), factors)
            for factors in operators.by_context(self.states, targets.contexts)
        ]
        return blocks[0] if len(blocks) == 1 else Work.joined(blocks)
