"""Operator tables of any length."""

from __future__ import annotations

import numpy as np

from predictor.services.prediction.explain import OperatorTable

TYPES = ("Conv", "Relu", "Gemm", "Reshape", "Add")


def make_table(count: int) -> OperatorTable:
    """Return ``count`` operators, type by type in turn, the first the slowest of its type."""
    kinds = tuple(TYPES[i % len(TYPES)] for i in range(count))
    time_of = {"Conv": 5.0, "Gemm": 3.0, "Add": 1.0}
    latency = np.array([time_of.get(kind, 0.0) / (1 + i) for i, kind in enumerate(kinds)])
    flag_of = {"Relu": "fused into the one before", "Reshape": "view"}
    bound_of = {"Conv": "compute", "Gemm": "memory", "Add": "launch"}
    counts = np.arange(count, dtype=np.int64)
    return OperatorTable(
        names=tuple(f"/layer{i // 5}/{kind}_{i}" for i, kind in enumerate(kinds)),
        op_types=kinds,
        output_shapes=tuple((1, i + 1) for i in range(count)),
        macs=counts * 1000,
        bytes_moved=counts * 10,
        weight_bytes=counts,
        flags=tuple(flag_of.get(kind, "") for kind in kinds),
        edges=np.zeros((2, 0), dtype=np.int32),
        latency_ms=latency,
        share=latency / latency.sum(),
        compute_ms=latency,
        memory_ms=latency,
        launch_ms=latency,
        bound_type=tuple(bound_of.get(kind, "—") for kind in kinds),
    )
