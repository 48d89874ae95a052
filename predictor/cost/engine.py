"""The protocol of every latency engine, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from predictor.core.records import Basis, Signature, Target
from predictor.graph.operator_graph import OperatorGraph


class BoundType(IntEnum):
    """What an operator's time is spent on, mostly."""

    NONE = 0  # a view or a fused epilogue: no time of its own
    COMPUTE = 1
    MEMORY = 2
    LAUNCH = 3


@dataclass(frozen=True, slots=True, eq=False)
class PredictionTable:
    """Latencies of G graphs on T targets; NaN where there is no number.

    Attributes:
        engine: name and version of the engine.
        latency_ms: float64 [G, T], P50 of one run over the graph's batch.
        low80_ms, high80_ms, low95_ms, high95_ms: float64 [G, T]; NaN for engines without intervals.
        bound_ms: float64 [G, T], no run can be faster.
        basis: Basis of each cell by (graph, target) index, or None, G rows of T.
        memory_bytes: float64 [G, T], weights and peak activations in the target's precision.
        fits_memory: True, False, or None where the device's memory is not known, G rows of T.
        problems: why a cell has no number, by (graph, target) index.
    """

    engine: str
    latency_ms: NDArray[np.float64]
    low80_ms: NDArray[np.float64]
    high80_ms: NDArray[np.float64]
    low95_ms: NDArray[np.float64]
    high95_ms: NDArray[np.float64]
    bound_ms: NDArray[np.float64]
    basis: Sequence[Sequence[Basis | None]]
    memory_bytes: NDArray[np.float64]
    fits_memory: Sequence[Sequence[bool | None]]
    problems: Mapping[tuple[int, int], str]


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Where one graph's time goes on one target; every array float64 [N] in ms unless said.

    Attributes:
        latency_ms: per operator; sums to the prediction.
        compute_ms: time that the operator's arithmetic takes at the target's rate.
        memory_ms: time that its traffic takes at the target's bandwidth.
        launch_ms: its launch overhead.
        bound_ms: the part of the physical bound that its arithmetic makes.
        bound_type: int8 [N], :class:`BoundType`.
    """

    latency_ms: NDArray[np.float64]
    compute_ms: NDArray[np.float64]
    memory_ms: NDArray[np.float64]
    launch_ms: NDArray[np.float64]
    bound_ms: NDArray[np.float64]
    bound_type: NDArray[np.int8]


class Engine(Protocol):
    """Predicts the latency of operator graphs on targets."""

    @property
    def name(self) -> str:
        """Name and version, as stored with each prediction: ``roofline/1``."""

    def predict(
        self,
        graphs: Sequence[OperatorGraph],
        targets: Sequence[Target],
        signatures: Mapping[str, Signature],
    ) -> PredictionTable:
        """Predict every graph on every target in one call.

        Args:
            graphs: G graphs, each at the batch that is asked about.
            targets: T targets.
            signatures: active signature by target key; engines that need none ignore them.

        Returns:
            A table of G x T; a cell without a number has a problem in words.
        """

    def explain(self, graph: OperatorGraph, target: Target) -> Explanation:
        """Say where the time of one graph goes on one target.

        Raises:
            InputError: the target has no number for this graph; the reason as in the table.
        """
