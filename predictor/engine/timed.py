"""Operators of a target as its probes timed them, and what follows for any graph on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.operators import OperatorFit, Timed, Work
from predictor.core.records import Device
from predictor.cost.engine import OperatorTimes, TargetMeasurements
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.kinds import kinds_of
from predictor.network.scale_free import SCALE_FREE_NAMES
from predictor.network.term_runtime import EncodedGraph
from predictor.network.work_terms import TERMS

_COMPUTE, _MEMORY, _START = (TERMS.index(name) for name in ("compute", "memory", "start"))
_NEAR: Final = 0.25  # of the time that traffic takes to memory, where the first cache holds it
_LEAST_EASE: Final = 0.2  # a latency further under the bound is mistyped
_L1_BYTES, _L2_BYTES = 48 * 1024.0, 1024 * 1024.0  # of a core that does not say them
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


def cache_bytes(device: Device) -> NDArray[np.float64]:
    """Return the bytes of the first and the second cache that one core of a device has, [2]."""
    first, second = device.metric("l1_kb_per_core"), device.metric("l2_kb")
    cores = device.metric("core_count") or 1.0
    return np.array(
        [
            _L1_BYTES if first is None else first * 1024.0,
            _L2_BYTES if second is None else second * 1024.0 / cores,
        ]
    )


def work_of(
    encoded: EncodedGraph, terms_ms: NDArray[np.float32], caches_ms: NDArray[np.float64]
) -> Work:
    """Return what the operators of a graph have to do on a target.

    Its parts are arithmetic, all traffic, what of it leaves the first cache and what leaves the
    second, and the launch: small operators are faster, for their tensors stay near.

    Args:
        encoded: the graph.
        terms_ms: float32 [R, len(TERMS)], of the target.
        caches_ms: float64 [2], how long the traffic takes that fills each cache.
    """
    terms = terms_ms.astype(np.float64)
    memory = terms[:, _MEMORY]
    leaving = (np.maximum(memory - held, 0.0) for held in caches_ms)
    return Work(
        parts_ms=np.stack([terms[:, _COMPUTE], _NEAR * memory, *leaving, terms[:, _START]], axis=1),
        traits=encoded.features[:, _TRAITS].astype(np.float64),
        kind=kinds_of(encoded.code, encoded.features),
        code=encoded.code,
    )


def by_resource(parts_ms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the parts of :func:`work_of` as arithmetic, traffic and launches, [R, 3]."""
    return np.stack([parts_ms[:, 0], parts_ms[:, 1:-1].sum(axis=1), parts_ms[:, -1]], axis=1)


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


def eased(bound_ms: NDArray[np.float64], latency_ms: NDArray[np.float64]) -> float:
    """Return the least part of its bound that something took, at most 1: a rate was too low."""
    bounded = bound_ms > 0  # neither unknown nor nothing
    least = (latency_ms[bounded] / bound_ms[bounded]).min(initial=1.0)
    return max(float(least), _LEAST_EASE)


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
