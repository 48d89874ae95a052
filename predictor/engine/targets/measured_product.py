"""The matrix product that was measured on a machine, as evidence of how fast networks run there.

A machine that is first predicted multiplies two matrices for a fraction of a second, with one
thread of ONNX Runtime. Where its user measured no network yet, the time of that product stands for
one: it has the level that only a measurement knows, as of the clock that a virtual machine hides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np

from predictor.core.metrics import MEASURED_HERE, MEASURED_PRODUCT, PRODUCT_SIZE, RATE_METRIC
from predictor.core.records import Configuration, Device, Precision, Target, TargetId
from predictor.core.runtimes import CPUS
from predictor.cost.rates.facts import FLOPS_PER_MAC
from predictor.devices.peaks import fastest_cores
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.operators import DTYPE_CODE, OPERATOR_CODE

_CONFIGURATION: Final = Configuration("onnxruntime", Precision.FP32, threads=1)
_MACS: Final = PRODUCT_SIZE**3
_BYTES: Final = PRODUCT_SIZE**2 * 4  # of each matrix
_TERA: Final = 1e12


class MeasuredProduct(NamedTuple):
    """A product that was measured on a machine.

    Attributes:
        target: the machine with one thread of the runtime that multiplied.
        latency_ms: of :func:`product_graph` there.
    """

    target: Target
    latency_ms: float


def measured_products(
    targets: Sequence[Target], networks: Mapping[TargetId, object]
) -> Iterator[MeasuredProduct]:
    """Yield the products measured on the devices of targets, one a device.

    Args:
        targets: of any devices.
        networks: targets of which networks were measured; their devices have better evidence.
    """
    has_networks = {target.device_id for target in networks}
    devices = {id(target.device): target.device for target in targets}
    for device in devices.values():
        rate = None if device.id in has_networks else _tflops_of_core(device)
        if rate is not None:
            latency_ms = _MACS * FLOPS_PER_MAC / (rate * _TERA) * 1e3
            yield MeasuredProduct(Target(device, _CONFIGURATION), latency_ms)


def _tflops_of_core(device: Device) -> float | None:
    """Return the rate at which a core of a processor multiplied; None where none was measured."""
    rate = device.measured.get(RATE_METRIC["fp32"])
    if rate is None or device.family not in CPUS:
        return None
    is_product = rate.source.startswith(MEASURED_HERE) and MEASURED_PRODUCT in rate.source
    return rate.value / fastest_cores(device) if is_product else None


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
