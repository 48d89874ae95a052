"""The matrix product that was measured on a machine, as evidence of how fast networks run there.

A machine that is first predicted multiplies two matrices by ONNX Runtime for a fraction of a
second, on one core and on all. Where its user measured no network yet, the times of these products
stand for some: they have the level that only a measurement knows, as of a clock that a virtual
machine hides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from predictor.core.metrics import (
    CORE_FP32,
    MEASURED_HERE,
    MEASURED_PRODUCT,
    PRODUCT_SIZE,
    RATE_METRIC,
)
from predictor.core.records import Configuration, MeasuredRate, Precision, Target, TargetId
from predictor.core.runtimes import CPUS
from predictor.cost.rates.facts import FLOPS_PER_MAC
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.operators import DTYPE_CODE, OPERATOR_CODE

_RUNTIME: Final = Configuration("onnxruntime", Precision.FP32)
_ALL_CORES: Final = RATE_METRIC["fp32"]
_MACS: Final = PRODUCT_SIZE**3
_BYTES: Final = PRODUCT_SIZE**2 * 4  # of each matrix
_TERA: Final = 1e12


class MeasuredProduct(NamedTuple):
    """A product that was measured on a machine.

    Attributes:
        target: the machine with the runtime that multiplied and its threads.
        latency_ms: of :func:`product_graph` there.
    """

    target: Target
    latency_ms: float


def measured_products(
    targets: Sequence[Target], networks: Mapping[TargetId, object]
) -> Iterator[MeasuredProduct]:
    """Yield the products measured on the devices of targets: on one core and on all.

    Args:
        targets: of any devices.
        networks: targets of which networks were measured; their devices have better evidence.
    """
    has_networks = {target.device_id for target in networks}
    devices = {id(target.device): target.device for target in targets}
    for device in devices.values():
        if device.id in has_networks or device.family not in CPUS:
            continue
        # The core of a processor that has one is all its cores.
        by_threads = {device.threads_in_use(0): _ALL_CORES, 1: CORE_FP32.name}
        for threads, name in sorted(by_threads.items()):
            rate = device.measured.get(name)
            if rate is not None and _is_product(rate):
                latency_ms = _MACS * FLOPS_PER_MAC / (rate.value * _TERA) * 1e3
                yield MeasuredProduct(
                    Target(device, replace(_RUNTIME, threads=threads)), latency_ms
                )


def _is_product(rate: MeasuredRate) -> bool:
    return rate.source.startswith(MEASURED_HERE) and MEASURED_PRODUCT in rate.source


@cache
def product_graph() -> OperatorGraph:
    """Return the graph of the product, as its file would be read: one matrix is a constant."""
    size = PRODUCT_SIZE
    one, none = np.ones(1, np.int64), np.zeros((1, 2), np.int32)
    return OperatorGraph(
        op_code=np.array([OPERATOR_CODE["MatMul"]], np.int16),
        dtype=np.array([DTYPE_CODE["float32"]], np.int8),
        flags=np.zeros(1, np.uint16),
        repeats=one,
        macs=_MACS * one,
        bytes_read=_BYTES * one,
        weight_bytes=_BYTES * one,
        bytes_written=_BYTES * one,
        gemm=np.array([[1, size, size, size]], np.int64),
        window=none,
        stride=none,
        fused_into=np.array([-1], np.int32),
        edges=np.empty((2, 0), np.int32),
        shape_offsets=np.array([0, 3], np.int32),
        shape_dims=np.array([1, size, size], np.int64),
        names=("product",),
        op_types=("MatMul",),
        attributes=("{}",),
        parameters=size * size,
        weights_total_bytes=_BYTES,
        input_bytes=_BYTES,
        output_bytes=_BYTES,
        peak_activation_bytes=2 * _BYTES,
        fingerprint="",
    )
