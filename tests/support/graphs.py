"""Operator graphs and targets for the tests of the engines, made without a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision, Target
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.graph.operators import DTYPES


@dataclass(frozen=True)
class Op:
    """One operator in the words of the tests; bytes are those of one run."""

    macs: int = 0
    read: int = 0
    weights: int = 0
    written: int = 0
    repeats: int = 1
    flags: int = 0
    dtype: str = "float32"
    columns: int = 8  # N of the matrix product; 1 for a depthwise convolution
    window: tuple[int, int] = (0, 0)
    fused_into: int = -1


def make_graph(
    ops: Sequence[Op],
    *,
    weights_total: int | None = None,
    input_bytes: int = 0,
    output_bytes: int = 0,
    peak_activation_bytes: int = 0,
) -> OperatorGraph:
    """Chain ``ops``; distinct weights are their sum unless said otherwise."""
    n = len(ops)
    repeats = np.array([op.repeats for op in ops], np.int64)

    def column(name: str) -> np.ndarray:
        return np.array([getattr(op, name) for op in ops], np.int64) * repeats

    return OperatorGraph(
        op_code=np.zeros(n, np.int16),
        dtype=np.array([DTYPES.index(op.dtype) for op in ops], np.int8),
        flags=np.array([op.flags for op in ops], np.uint16),
        repeats=repeats,
        macs=column("macs"),
        bytes_read=column("read"),
        weight_bytes=column("weights"),
        bytes_written=column("written"),
        gemm=np.array([(1, 1, op.columns, 1) if op.macs else (0,) * 4 for op in ops], np.int64),
        window=np.array([op.window for op in ops], np.int32),
        stride=np.zeros((n, 2), np.int32),
        fused_into=np.array([op.fused_into for op in ops], np.int32),
        edges=np.array([range(n - 1), range(1, n)], np.int32).reshape(2, max(n - 1, 0)),
        shape_offsets=np.arange(n + 1, dtype=np.int32),
        shape_dims=np.ones(n, np.int64),
        names=tuple(f"op_{index}" for index in range(n)),
        op_types=("Conv",) * n,
        attributes=("{}",) * n,
        parameters=0,
        weights_total_bytes=sum(op.weights for op in ops)
        if weights_total is None
        else weights_total,
        input_bytes=input_bytes,
        output_bytes=output_bytes,
        peak_activation_bytes=peak_activation_bytes,
        fingerprint="0" * 64,
    )


# 1e12 FP32 MACs and 100e9 bytes a second.
GPU_METRICS: Mapping[str, float] = {"fp32_tflops": 2.0, "dram_bw_gbps": 100.0}


def make_target(
    metrics: Mapping[str, float] = GPU_METRICS,
    *,
    family: Family = Family.GPU,
    runtime: str = "pytorch",
    precision: Precision = Precision.FP32,
    threads: int = 0,
    clusters: tuple[Cluster, ...] = (),
    runs: Sequence[Precision] = tuple(Precision),
    architecture: str = "",
) -> Target:
    """Return a target of a made-up device that runs the precisions of ``runs``."""
    device = Device(
        id="made-up",
        name="Made Up 1",
        vendor="",
        family=family,
        metrics=metrics,
        configurations=tuple(Configuration(runtime, p) for p in runs),
        clusters=clusters,
        architecture=architecture,
    )
    return Target(device, Configuration(runtime, precision, threads))


FUSED = int(OperatorFlag.FUSED)
VIEW = int(OperatorFlag.VIEW)
UNKNOWN = int(OperatorFlag.UNKNOWN)
QUANTISED = int(OperatorFlag.QUANTISED)
WINOGRAD = int(OperatorFlag.WINOGRAD)
