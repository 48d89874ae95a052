"""An engine that breaks laws of physics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from predictor.core.records import Target, TargetId
from predictor.cost.engine import NOTHING_MEASURED, Explanation, PredictionTable, TargetMeasurements
from predictor.cost.roofline import RooflineEngine
from predictor.graph.operator_graph import OperatorGraph
from tests.support.graphs import Op, make_graph, make_target

OPERATOR = Op(macs=10**7, read=10**5, weights=10**4, written=10**5)

GRAPHS = {"chain": make_graph([OPERATOR] * 6, output_bytes=10**5)}

FACTS = {
    "fp32_tflops": 5.0,
    "dram_bw_gbps": 100.0,
    "l2_kb": 512.0,
    "int8_tops": 20.0,
    "int4_tops": 9.0,
}

DEVICE = make_target(FACTS, runtime="pytorch").device

Change = Callable[[PredictionTable, Sequence[OperatorGraph], Sequence[Target]], PredictionTable]


class Wrong:
    """The roofline with some of its numbers changed."""

    name = "wrong"

    def __init__(self, change: Change, uneven: float = 1.0) -> None:
        self._change, self._uneven = change, uneven
        self._right = RooflineEngine()

    def predict(
        self,
        graphs: Sequence[OperatorGraph],
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements],
    ) -> PredictionTable:
        return self._change(self._right.predict(graphs, targets, measured), graphs, targets)

    def explain(
        self,
        graph: OperatorGraph,
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements] = NOTHING_MEASURED,
    ) -> Iterator[Explanation]:
        for told in self._right.explain(graph, targets, measured):
            assert told is not None
            latency_ms = told.latency_ms.copy()
            latency_ms[-2] *= self._uneven
            yield replace(told, latency_ms=latency_ms)
