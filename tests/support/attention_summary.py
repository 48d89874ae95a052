"""The attention of three operators to two metrics, for tests of the Attention view."""

from __future__ import annotations

import numpy as np

from ctm_gui.attention.summary import AttentionSummary
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.cost.engine import AttentionMaps
from predictor.services.prediction.explain import OperatorTable

GPU = Device(
    id="gpu",
    name="GPU",
    vendor="",
    family=Family.GPU,
    metrics={"core_count": 108.0, "dram_bw_gbps": 1555.0},
)
NAMES = ("stem", "join", "head\u202e")
TYPES = ("Conv", "Add", "Conv")
# Operators look at (cores, bandwidth); metrics look at (stem, join, head).
FORWARD = np.array([[0.75, 0.25], [0.125, 0.875], [0.25, 0.75]], np.float32)
BACKWARD = np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]], np.float32)


def make_summary() -> AttentionSummary:
    latency_ms = np.array([1.0, 1.0, 2.0])
    counts = np.zeros(3, np.int64)
    table = OperatorTable(
        names=NAMES,
        op_types=TYPES,
        output_shapes=((1,),) * 3,
        macs=counts,
        bytes_moved=counts,
        weight_bytes=counts,
        flags=("",) * 3,
        edges=np.zeros((2, 0), np.int32),
        latency_ms=latency_ms,
        share=latency_ms / 4,
        compute_ms=latency_ms,
        memory_ms=latency_ms,
        launch_ms=latency_ms,
        bound_type=("compute",) * 3,
        attention=AttentionMaps(
            metrics=("core_count", "dram_bw_gbps"),
            operator_to_metric=FORWARD,
            metric_to_operator=BACKWARD,
            blend=0.62,
            residual=0.5,
        ),
    )
    return AttentionSummary(table, GPU)
