"""Rows and operator tables with hand-picked numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Precision
from predictor.presentation.prediction_rows import PredictionRow
from predictor.services.prediction.explain import OperatorTable

MakeRow = Callable[..., PredictionRow]


def comparison_row(
    device: str = "rpi5",
    latency_ms: float | None = 10.0,
    model: str = "resnet50",
    family: str = "cpu",
    runtime: str = "ncnn",
    batch: int = 1,
    **facts: Any,
) -> PredictionRow:
    """Return a row with what is told, the rest ordinary."""
    prediction = Prediction(
        model=f"{model}.onnx",
        fingerprint="0" * 64,
        device_id=device,
        configuration=Configuration(runtime, Precision.FP32, 4, batch),
        engine="roofline 1",
        basis=None if latency_ms is None else Basis.ANALYTIC,
        latency_ms=latency_ms,
        **facts,
    )
    return PredictionRow(
        prediction=prediction,
        device_name=device.upper(),
        model_label=model,
        vendor="Maker",
        family=family,
    )


def operator_table(
    *, names: tuple[str, ...], op_types: tuple[str, ...], latency_ms: list[float], **columns: Any
) -> OperatorTable:
    """Return an operator table; what is not told is zero or empty."""
    count = len(names)
    latency = np.array(latency_ms, dtype=np.float64)
    total = latency.sum()
    zeros = np.zeros(count, dtype=np.int64)
    facts: dict[str, Any] = {
        "output_shapes": ((1, 8),) * count,
        "macs": zeros,
        "bytes_moved": zeros,
        "weight_bytes": zeros,
        "flags": ("",) * count,
        "edges": np.zeros((2, 0), dtype=np.int32),
        "share": latency / total if total > 0 else latency,
        "compute_ms": latency,
        "memory_ms": latency * 0,
        "launch_ms": latency * 0,
        "bound_type": ("compute",) * count,
    }
    return OperatorTable(names=names, op_types=op_types, latency_ms=latency, **{**facts, **columns})


@pytest.fixture(scope="session")
def make_row() -> MakeRow:
    return comparison_row


@pytest.fixture(scope="session")
def make_table() -> Callable[..., OperatorTable]:
    return operator_table


@pytest.fixture(scope="session")
def small_table() -> OperatorTable:
    """Six operators of 10 ms together; two take no time of their own."""
    return operator_table(
        names=("conv_1", "relu_1", "conv_2", "reshape", "fc", "softmax"),
        op_types=("Conv", "Relu", "Conv", "Reshape", "Gemm", "Softmax"),
        latency_ms=[5.0, 0.0, 1.0, 0.0, 3.0, 1.0],
        macs=np.array([1000, 0, 200, 0, 500, 0]),
        bytes_moved=np.array([10, 0, 20, 0, 30, 40]),
        flags=("", "fused into conv_1", "", "view", "", ""),
        bound_type=("compute", "—", "memory", "—", "memory", "launch"),
        output_shapes=((1, 64, 56, 56), (1, 64, 56, 56), (1, 8, 7, 7), (1, 392), (1, 10), ()),
    )
