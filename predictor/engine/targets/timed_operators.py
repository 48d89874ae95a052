"""A target of which the times of operators were measured: calibration by operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from predictor.calibration.operator_fit import GraphTimes, OperatorFit, Timed
from predictor.core.arrays import Floats
from predictor.core.percentiles import Z80, Z95
from predictor.core.records import Device, Target
from predictor.cost.engine import Explanation, OperatorTimes, TargetMeasurements
from predictor.engine.targets.estimated import EstimatedTargets
from predictor.engine.targets.interface import TargetLatencies
from predictor.engine.timed_work import OperatorWorks, TimedGraph, by_resource
from predictor.graph.operator_graph import OperatorGraph

_QUANTILES: Final = np.array([[Z80], [Z95]])


@dataclass(frozen=True, slots=True, eq=False)
class TimedOperators:
    """Model of one target by the times of its operators, see decision 0014.

    Attributes:
        estimated: the target's estimate, whose errors, doubts and attention are its own too.
        target: the target.
        fit: to the times of its operators.
        works: work of operators.
    """

    estimated: EstimatedTargets
    target: Target
    fit: OperatorFit
    works: OperatorWorks

    @property
    def facts(self) -> Mapping[str, Sequence[object]]:
        """Those of the estimate, and that it was calibrated by operators."""
        return {**self.estimated.facts, "by_operators": [True]}

    def latency(self, graph: OperatorGraph) -> TargetLatencies:
        """Return the latency of a graph on the target, with its spread."""
        timed = self._times(graph, self.target)
        return TargetLatencies(
            np.array([timed.parts_ms.sum()]),
            np.exp(_QUANTILES * timed.deviation),
            self.estimated.latency(graph).shared_error,
        )

    def doubts(self, graph: OperatorGraph) -> Sequence[str]:
        """Return why the latency may be wrong, in words; empty for no reason."""
        return self.estimated.doubts(graph)

    def explain(self, graph: OperatorGraph, place: int, latency_ms: float) -> Explanation:
        """Return where the time of a graph goes on the target."""
        parts = by_resource(self._times(graph, self.target).parts_ms)
        parts *= np.fmax(1.0, latency_ms / parts.sum())
        attention = self.estimated.explain(graph, place, latency_ms).attention
        return Explanation.of_parts(self._spread(graph, parts), attention)

    def varied(
        self,
        graph: OperatorGraph,
        place: int,  # noqa: ARG002 - there is one target
        devices: Sequence[Device],
    ) -> Floats:
        """Return the operators' times were the target's device one of V variants, [V, N]."""
        variants = (replace(self.target, device=device) for device in devices)
        times = [self._times(graph, variant).parts_ms.sum(axis=1) for variant in variants]
        rows = [self._spread(graph, operator_ms) for operator_ms in times]
        return np.array(rows).reshape(-1, len(graph))

    def _times(self, graph: OperatorGraph, target: Target) -> GraphTimes:
        return self.fit.predict(self.works.work(graph, target))

    def _spread(self, graph: OperatorGraph, values: Floats) -> Floats:
        """Return values of the operators that may be timed, [R, ...], among all, [N, ...]."""
        spread = np.zeros((len(graph), *values.shape[1:]))
        spread[self.works.graph(graph).places] = values
        return spread


def operator_fit(
    measured: TargetMeasurements, target: Target, works: OperatorWorks
) -> OperatorFit | None:
    """Return the calibration by a target's timed operators; None where none was timed."""
    if not any(measured.operators):
        return None
    timed = []
    for graph, latency_ms, noise, times in zip(
        measured.graphs, measured.latency_ms, measured.noise, measured.operators, strict=True
    ):
        groups, group_ms = _timed_rows(works.graph(graph), times)
        work = works.work(graph, target)
        timed.append(Timed(work, float(latency_ms), groups, group_ms, float(noise)))
    return OperatorFit(timed)


def _timed_rows(graph: TimedGraph, times: OperatorTimes | None) -> tuple[list[list[int]], Floats]:
    """Return the timed groups as rows of the work, and their times; views are left out."""
    rows = {place: row for row, place in enumerate(graph.places.tolist())}
    groups, group_ms = [], []
    if times is not None:
        for members, time_ms in zip(times.groups, times.time_ms.tolist(), strict=True):
            group = [rows[member] for member in members if member in rows]
            if group:
                groups.append(group)
                group_ms.append(time_ms)
    return groups, np.array(group_ms, np.float64)
