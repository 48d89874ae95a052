"""The protocol of a model of targets, and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import Floats
from predictor.core.records import Device
from predictor.cost.engine import Explanation
from predictor.graph.operator_graph import OperatorGraph


@dataclass(frozen=True, slots=True, eq=False)
class TargetLatencies:
    """Latencies of one graph on the T targets of a model.

    Attributes:
        latency_ms: float64 [T].
        reach: float64 [2, T], ends of the 80 % and of the 95 % interval over the latency.
        shared_error: [T, S], see ``PredictionTable.shared_error``.
    """

    latency_ms: Floats
    reach: Floats
    shared_error: NDArray[np.floating]


class TargetModel(Protocol):
    """Model of T targets, before any graph: it answers about all of them in one call.

    Places are those of targets inside the model, 0 to T - 1.
    """

    @property
    def facts(self) -> Mapping[str, Sequence[object]]:
        """Values of fields of ``Prediction`` by name, T each."""

    def latency(self, graph: OperatorGraph) -> TargetLatencies:
        """Return the latency of a graph on each target, with its spread."""

    def doubts(self, graph: OperatorGraph) -> Sequence[str]:
        """Return why the latency on each target may be wrong, in words; empty for no reason."""

    def explain(self, graph: OperatorGraph, place: int, latency_ms: float) -> Explanation:
        """Return where the time of a graph goes on one target.

        Args:
            graph: N operators.
            place: of the target.
            latency_ms: as predicted, which may be raised to the bound: so are the parts.
        """

    def varied(self, graph: OperatorGraph, place: int, devices: Sequence[Device]) -> Floats:
        """Return the operators' times in ms were a target's device one of V variants, [V, N].

        Evidence stays that of the target.
        """
