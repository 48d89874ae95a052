"""Operators of a target as its probes timed them, and what follows for any graph on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.operators import OperatorFit, Timed, Work
from predictor.cost.engine import OperatorTimes, TargetMeasurements
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.kinds import kinds_of
from predictor.network.scale_free import SCALE_FREE_NAMES
from predictor.network.term_runtime import EncodedGraph
from predictor.network.work_terms import TERMS

_PARTS: Final = [TERMS.index(name) for name in ("compute", "memory", "start")]
_TRAITS: Final = [
    SCALE_FREE_NAMES.index(name)
    for name in (
        "log1p_gemm_n",
        "log1p_gemm_k",
        "log1p_window_height",
        "log1p_stride_height",
        "log1p_weight_groups",
        "log_read_per_written",
        "log_macs_per_byte_written",
    )
]


def work_of(encoded: EncodedGraph, terms_ms: NDArray[np.float32]) -> Work:
    """Return what the operators of a graph have to do on a target.

    Args:
        encoded: the graph.
        terms_ms: float32 [R, len(TERMS)], of the target.
    """
    return Work(
        parts_ms=terms_ms[:, _PARTS].astype(np.float64),
        traits=encoded.features[:, _TRAITS].astype(np.float64),
        kind=kinds_of(encoded.code, encoded.features),
        code=encoded.code,
    )


def operator_fit(
    measured: TargetMeasurements, of_graph: Callable[[OperatorGraph], tuple[EncodedGraph, Work]]
) -> OperatorFit | None:
    """Return what a target's measurements say of its operators; None where none was timed.

    Args:
        measured: on the target.
        of_graph: returns a graph encoded, and its work on the target.
    """
    if not any(measured.operators):
        return None
    timed = []
    for graph, latency_ms, noise, times in zip(
        measured.graphs, measured.latency_ms, measured.noise, measured.operators, strict=True
    ):
        encoded, work = of_graph(graph)
        groups, group_ms = _running(encoded, times)
        timed.append(Timed(work, float(latency_ms), groups, group_ms, float(noise)))
    return OperatorFit(timed)


def _running(
    encoded: EncodedGraph, times: OperatorTimes | None
) -> tuple[list[list[int]], NDArray[np.float64]]:
    """Return the groups that were timed by rows of what runs; what runs nowhere is left out."""
    rows = {place: row for row, place in enumerate(encoded.places.tolist())}
    found = [
        (group, time_ms)
        for members, time_ms in (
            () if times is None else zip(times.groups, times.time_ms.tolist(), strict=True)
        )
        if (group := [rows[member] for member in members if member in rows])
    ]
    return [group for group, _ in found], np.array([time_ms for _, time_ms in found], np.float64)
