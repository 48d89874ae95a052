"""Published latencies of two devices, made up."""

from __future__ import annotations

import json
import zlib

import numpy as np

from predictor.calibration.published import Columns, Published
from predictor.core.records import TargetId

RPI5 = TargetId("rpi5", "ncnn", "fp16", 4)

NPU = TargetId("rk3588-npu", "rknn", "int8", 0)

LOW, HIGH = "00" * 32, "ff" * 32


def published(*entries: tuple[str, int, float]) -> Published:
    """Entries of fingerprint, number of the target and latency."""
    ordered = sorted((int(name[:16], 16), target, ms) for name, target, ms in entries)
    prefix, target, latency_ms = zip(*ordered, strict=True)
    count = len(ordered)
    return Published(
        Columns(
            prefix=np.array(prefix, np.uint64),
            target=np.array(target, np.uint16),
            latency_ms=np.array(latency_ms, np.float32),
            deviation=np.full(count, 0.125, np.float32),
            count=np.full(count, 3, np.uint16),
            source=np.zeros(count, np.uint8),
            statistic=np.ones(count, np.uint8),
            provenance=np.full(count, 1, np.uint16),
        ),
        [RPI5, NPU],
        ["a publisher"],
        ["minimum", "median"],
        zlib.compress(json.dumps(["line 1", "line 2"]).encode()),
    )
