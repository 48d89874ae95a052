"""Targets with the estimate: physics, efficiencies and evidence, for all of them at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Floats
from predictor.core.records import Device
from predictor.cost.engine import Explanation
from predictor.engine.doubts import graph_doubts, rare_operators
from predictor.engine.estimate import Estimate
from predictor.engine.target_estimates import TargetEstimates
from predictor.engine.targets.interface import TargetLatencies
from predictor.graph.operator_graph import OperatorGraph


@dataclass(frozen=True, slots=True, eq=False)
class EstimatedTargets:
    """Model of T targets by the estimate.

    Attributes:
        estimate: as it ships.
        estimates: of the targets.
        families: number of families of architectures in the training data, by operator.
    """

    estimate: Estimate
    estimates: TargetEstimates
    families: Mapping[str, int]

    def take(self, places: NDArray[np.integer]) -> EstimatedTargets:
        """Return the model of some of the targets."""
        return replace(self, estimates=self.estimates.take(places))

    @property
    def facts(self) -> Mapping[str, Sequence[object]]:
        """Evidence, and the chips that the class was checked on."""
        return {"evidence": self.estimates.evidence, "class_chips": self.estimates.class_chips}

    def latency(self, graph: OperatorGraph) -> TargetLatencies:
        """Return the latency of a graph on each target, with its spread."""
        estimated = self.estimate.predict(graph, self.estimates)
        reach = np.exp(self.estimates.wide * estimated.deviation)
        return TargetLatencies(estimated.latency_ms, reach, estimated.shared)

    def doubts(self, graph: OperatorGraph) -> Sequence[str]:
        """Return why the latency on each target may be wrong, in words; empty for no reason."""
        rare = np.flatnonzero(rare_operators(graph.op_types, self.families))
        share = self.estimate.share(graph, self.estimates, rare)
        pairs = zip(graph_doubts(graph, rare, share), self.estimates.doubts, strict=True)
        return ["; ".join(filter(None, pair)) for pair in pairs]

    def explain(self, graph: OperatorGraph, place: int, latency_ms: float) -> Explanation:
        """Return where the time of a graph goes on one target."""
        return self.estimate.explain(graph, self._one(place), latency_ms)

    def varied(self, graph: OperatorGraph, place: int, devices: Sequence[Device]) -> Floats:
        """Return the operators' times were a target's device one of V variants, [V, N]."""
        return self.estimate.varied_ms(graph, self._one(place), devices)

    def _one(self, place: int) -> TargetEstimates:
        return self.estimates.take(np.array([place]))
