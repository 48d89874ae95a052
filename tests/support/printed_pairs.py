"""A prediction with its model, as the command line prints them."""

from __future__ import annotations

import numpy as np

from predictor.core.metrics import Family
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Device, Precision, Target
from predictor.graph.operator_graph import OperatorGraph


def empty_graph() -> OperatorGraph:
    def none(dtype: type, *shape: int) -> np.ndarray:
        return np.zeros(shape, dtype)

    return OperatorGraph(
        op_code=none(np.int16, 0),
        dtype=none(np.int8, 0),
        flags=none(np.uint16, 0),
        repeats=none(np.int64, 0),
        macs=none(np.int64, 0),
        bytes_read=none(np.int64, 0),
        weight_bytes=none(np.int64, 0),
        bytes_written=none(np.int64, 0),
        gemm=none(np.int64, 0, 4),
        window=none(np.int32, 0, 2),
        stride=none(np.int32, 0, 2),
        fused_into=none(np.int32, 0),
        edges=none(np.int32, 2, 0),
        shape_offsets=none(np.int32, 1),
        shape_dims=none(np.int64, 0),
        names=(),
        op_types=(),
        attributes=(),
        parameters=0,
        weights_total_bytes=0,
        input_bytes=0,
        output_bytes=0,
        peak_activation_bytes=0,
        fingerprint="f" * 64,
    )


def pair(name: str, latency_ms: float | None, **facts: object) -> tuple[Target, Prediction]:
    configuration = Configuration("ncnn", Precision.FP16, 4, 2)
    device = Device(id=name.lower(), name=name, vendor="Maker", family=Family.CPU, metrics={})
    prediction = Prediction(
        model="net.onnx",
        fingerprint="f" * 64,
        device_id=device.id,
        configuration=configuration,
        engine="roofline/1",
        basis=None if latency_ms is None else Basis.ANALYTIC,
        latency_ms=latency_ms,
        **facts,  # type: ignore[arg-type]
    )
    return Target(device, configuration), prediction
