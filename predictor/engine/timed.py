"""Operators of a target as its probes timed them, and what follows for any graph on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.operators import OperatorFit, Timed, Work
from predictor.cost.engine import OperatorTimes, TargetMeasurements
from predictor.engine.timed_work import TimedGraph
from predictor.graph.operator_graph import OperatorGraph

_LEAST_EASE: Final = 0.2  # a latency further under the bound is mistyped


def operator_fit(
    measured: TargetMeasurements, of_graph: Callable[[OperatorGraph], tuple[TimedGraph, Work]]
) -> OperatorFit | None:
    """Return what a target's measurements say of its operators; None where none was timed.

    Args:
        measured: on the target.
        of_graph: returns what of a graph may be timed, and its work on the target.
    """
    if not any(measured.operators):
        return None
    timed = []
    for graph, latency_ms, noise, times in zip(
        measured.graphs, measured.latency_ms, measured.noise, measured.operators, strict=True
    ):
        known, work = of_graph(graph)
        groups, group_ms = _rows(known, times)
        timed.append(Timed(work, float(latency_ms), groups, group_ms, float(noise)))
    return OperatorFit(timed)


def eased(bound_ms: NDArray[np.float64], latency_ms: NDArray[np.float64]) -> float:
    """Return the least part of its bound that something took, at most 1: a rate was too low."""
    bounded = bound_ms > 0  # neither unknown nor nothing
    least = (latency_ms[bounded] / bound_ms[bounded]).min(initial=1.0)
    return max(float(least), _LEAST_EASE)


def _rows(
    known: TimedGraph, times: OperatorTimes | None
) -> tuple[list[list[int]], NDArray[np.float64]]:
    """Return the groups that were timed by rows of the work; what is a view is left out."""
    rows = {place: row for row, place in enumerate(known.places.tolist())}
    found = [
        (group, time_ms)
        for members, time_ms in (
            () if times is None else zip(times.groups, times.time_ms.tolist(), strict=True)
        )
        if (group := [rows[member] for member in members if member in rows])
    ]
    return [group for group, _ in found], np.array([time_ms for _, time_ms in found], np.float64)
