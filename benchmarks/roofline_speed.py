"""How fast roofline and physics are: a ResNet-50-like graph on 150 targets, and the slope.

The limit, 0.045 ms a model-target pair, is the fastest published figure for one prediction of a
latency predictor. The slope compares the cost of 100 and of 10 000 operators.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from benchmarks.common import Figure, best_of, parse_arguments, report
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.cost.physics import Work, rates_of, term_times
from predictor.cost.roofline import RooflineEngine
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.services.prediction.engines import ROOFLINE

TARGETS = 150
LIMIT_MS_PER_PAIR = 0.045
PHYSICS_LIMIT_MS = 0.05
RESNET50_OPERATORS = 126
SIZES = (100, 1_000, 10_000)


def make_graph(operators: int) -> OperatorGraph:
    """Return a chain with the mix of ResNet-50: convolutions, a third of them 3 x 3, and ReLUs."""
    rng = np.random.default_rng(operators)
    convolution = np.arange(operators) % 2 == 0
    windows = np.where(convolution & (np.arange(operators) % 3 == 0), 3, 1)
    macs = np.where(convolution, rng.integers(20_000_000, 240_000_000, operators), 0)
    weights = np.where(convolution, rng.integers(20_000, 9_000_000, operators), 0)
    activations = rng.integers(400_000, 3_300_000, operators)
    gemm = np.where(convolution[:, None], (1, 196, 256, 2304), 0)
    return OperatorGraph(
        op_code=np.ones(operators, np.int16),
        dtype=np.zeros(operators, np.int8),
        flags=np.where(convolution, int(OperatorFlag.WINOGRAD), int(OperatorFlag.FUSED)).astype(
            np.uint16
        ),
        repeats=np.ones(operators, np.int64),
        macs=macs,
        bytes_read=activations,
        weight_bytes=weights,
        bytes_written=activations,
        gemm=gemm.astype(np.int64),
        window=np.stack([windows, windows], axis=1).astype(np.int32),
        stride=np.ones((operators, 2), np.int32),
        fused_into=np.where(convolution, -1, np.arange(operators) - 1).astype(np.int32),
        edges=np.stack([np.arange(operators - 1), np.arange(1, operators)]).astype(np.int32),
        shape_offsets=np.arange(operators + 1, dtype=np.int32),
        shape_dims=np.ones(operators, np.int64),
        names=tuple(f"operator_{index}" for index in range(operators)),
        op_types=("Conv", "Relu") * (operators // 2),
        attributes=("{}",) * operators,
        parameters=int(weights.sum()) // 4,
        weights_total_bytes=int(weights.sum()),
        input_bytes=602_112,
        output_bytes=4_000,
        peak_activation_bytes=int(activations.max()) * 2,
        fingerprint="0" * 64,
    )


def make_targets(count: int) -> list[Target]:
    """Return targets on as many devices, each with every fact that the engine reads."""
    families = (Family.GPU, Family.CPU, Family.MOBILE_CPU)
    return [
        Target(
            Device(
                id=f"device-{index}",
                name=f"Device {index}",
                vendor="",
                family=families[index % len(families)],
                metrics={
                    "clock_mhz": 1000.0 + index,
                    "boost_clock_mhz": 1500.0 + index,
                    "core_count": 8.0,
                    "fp32_au_per_core": 16.0,
                    "fp32_tflops": 1.0 + index / 10,
                    "fp16_tflops": 2.0 + index / 10,
                    "dram_bw_gbps": 50.0 + index,
                    "dram_gb": 8.0,
                    "l2_kb": 4096.0,
                },
            ),
            Configuration("onnxruntime", Precision.FP32, threads=index % 9),
        )
        for index in range(count)
    ]


def main() -> int:
    """Take the figures and print them."""
    arguments = parse_arguments(__doc__, repeats=30)
    engine, targets = RooflineEngine(), make_targets(TARGETS)

    def milliseconds(operators: int) -> float:
        graph = make_graph(operators)
        return best_of(lambda: engine.predict([graph], targets, {}), arguments.repeats) * 1e3

    pair = milliseconds(RESNET50_OPERATORS) / TARGETS
    work, rates = Work.of(make_graph(RESNET50_OPERATORS)), rates_of(targets[:1])
    terms = best_of(lambda: term_times(work, rates), arguments.repeats) * 1e3
    times = [milliseconds(size) for size in SIZES]
    slope = math.log(times[-1] / times[0]) / math.log(SIZES[-1] / SIZES[0])
    figures = [
        Figure(
            f"one pair, {RESNET50_OPERATORS} operators x {TARGETS} targets in one call",
            pair,
            "ms",
            LIMIT_MS_PER_PAIR,
            "fastest published figure for one prediction",
        ),
        Figure(
            f"terms of the physics, {RESNET50_OPERATORS} operators x 1 target",
            terms,
            "ms",
            PHYSICS_LIMIT_MS,
            "of the design",
        ),
        *(
            Figure(f"one call, {size} operators x {TARGETS} targets", time, "ms")
            for size, time in zip(SIZES, times, strict=True)
        ),
        Figure(
            f"exponent of the cost in operators, {SIZES[0]} to {SIZES[-1]}",
            slope,
            "",
            1.0,
            "linear",
        ),
        Figure(
            "one operator-target pair more, 1000 to 10 000 operators",
            (times[-1] - times[-2]) / (SIZES[-1] - SIZES[-2]) / TARGETS * 1e6,
            "ns",
        ),
    ]
    title = "Speed of the roofline engine"
    return report("roofline_speed", title, figures, arguments.output, engine=ROOFLINE)


if __name__ == "__main__":
    sys.exit(main())
