"""Work of the operators of a graph, as the estimate reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    """Work, kinds and states of the N operators of a graph, and factors of the whole network.

    Attributes:
        work: of the operators.
        kinds: int64 [N], index into ``KINDS``.
        states: float32 [N, H], for their factors.
        factors: float64 [C + 1], of the whole network by class of targets; 1 in any other.
        composition: float64 [R], of its products by the directions of the estimate.
    """

    work: Work
    kinds: Integers
    states: NDArray[np.float32]
    factors: Floats
    composition: Floats

    @classmethod
    def of(
        cls,
        graph: OperatorGraph,
        operators: OperatorFactors,
        networks: NetworkDeviations,
        directions: Floats,
    ) -> GraphWork:
        """Return work, kinds, states, factors and composition of a graph, cost O(N).

        Args:
            graph: N operators.
            operators: factors of single operators.
            networks: deviations of networks.
            directions: float64 [PRODUCT_KINDS, R].
        """
        kinds = kinds_of(graph)
        features, products = scale_free(exact_features(graph)), Products.of(graph)
        return cls(
            Work.of(graph),
            kinds,
            operators.states(features, graph.op_code, kinds),
            np.exp(networks.of_network(products)),
            products.of_kinds @ directions,
        )

    def of_network(self, targets: TargetEstimates) -> Floats:
        """Return the factor of the whole network on T targets, float64 [T]."""
        effects: Floats = np.exp(targets.effects @ self.composition)
        return self.factors[targets.klass] * effects

    def by_context(self, operators: OperatorFactors, targets: TargetEstimates) -> Work:
        """Return the work by kind in each context of targets, arrays of [C, len(KINDS)]."""
        blocks = [
            self.work.by_kind(self.kinds, len(KINDS), factors)
            for factors in operators.by_context(self.states, targets.contexts)
        ]
        return blocks[0] if len(blocks) == 1 else Work.joined(blocks)
