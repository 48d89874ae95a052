"""The estimate and the bound on graphs small enough to work them out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from predictor.core.metrics import Family
from predictor.core.records import Basis, Precision, Target
from predictor.cost.capability import launch_us
from predictor.cost.engine import BoundType, PredictionTable
from predictor.cost.roofline import RooflineEngine
from predictor.graph.operator_graph import OperatorGraph
from tests.support.explanations import explanation_of
from tests.support.graphs import (
    FUSED,
    GPU_METRICS,
    QUANTISED,
    UNKNOWN,
    VIEW,
    WINOGRAD,
    Op,
    make_graph,
    make_target,
)

LAUNCH_MS = launch_us(Family.GPU, "pytorch") * 1e-3


def predict(graph: OperatorGraph, target: Target) -> PredictionTable:
    return RooflineEngine().predict([graph], [target], {})


def latency(graph: OperatorGraph, target: Target) -> float:
    return float(predict(graph, target).latency_ms[0, 0])


def bound(graph: OperatorGraph, target: Target) -> float:
    return float(predict(graph, target).bound_ms[0, 0])


def test_an_operator_takes_the_longer_of_arithmetic_and_traffic_plus_its_launch() -> None:
    graph = make_graph(
        [
            # 2e9 MACs / 1e12 a second = 2 ms; 1e8 bytes / 1e11 a second = 1 ms: compute.
            Op(macs=2_000_000_000, read=60_000_000, weights=30_000_000, written=10_000_000),
            # No MACs; 3e8 bytes / 1e11 a second = 3 ms: memory.
            Op(read=200_000_000, written=100_000_000),
            # 1e5 bytes = 0.001 ms, less than the launch.
            Op(read=50_000, written=50_000),
        ]
    )
    target = make_target()

    explanation = explanation_of(RooflineEngine(), graph, target)

    assert explanation.compute_ms == pytest.approx([2.0, 0.0, 0.0])
    assert explanation.memory_ms == pytest.approx([1.0, 3.0, 0.001])
    assert explanation.launch_ms == pytest.approx([LAUNCH_MS] * 3)
    assert explanation.bound_type.tolist() == [
        BoundType.COMPUTE,
        BoundType.MEMORY,
        BoundType.LAUNCH,
    ]
    assert latency(graph, target) == pytest.approx(2.0 + 3.0 + 0.001 + 3 * LAUNCH_MS)


def test_views_and_fused_epilogues_cost_nothing() -> None:
    work = Op(macs=10**9, read=10**6, written=10**6)
    free = [
        Op(read=10**9, written=10**9, flags=VIEW),
        Op(read=10**9, written=10**9, flags=FUSED, fused_into=0),
    ]
    target = make_target()

    explanation = explanation_of(RooflineEngine(), make_graph([work, *free]), target)

    assert explanation.latency_ms[1:].tolist() == [0.0, 0.0]
    assert explanation.bound_type[1:].tolist() == [BoundType.NONE, BoundType.NONE]
    assert latency(make_graph([work, *free]), target) == latency(make_graph([work]), target)


def test_a_loop_launches_its_body_in_each_trip() -> None:
    once = Op(macs=10**6, read=1000, written=1000)
    looped = Op(macs=10**6, read=1000, written=1000, repeats=7)
    target = make_target()

    assert latency(make_graph([looped]), target) == pytest.approx(
        7 * latency(make_graph([once]), target)
    )


@pytest.mark.parametrize(
    ("precision", "dtype", "ratio"),
    [
        (Precision.FP32, "float32", 1.0),
        (Precision.FP16, "float32", 0.5),
        (Precision.BF16, "float32", 0.5),
        (Precision.INT8, "float32", 0.25),
        (Precision.AMP_FP16, "float32", 0.5),
        (Precision.AMP_BF16, "float32", 0.5),
        (Precision.FP16, "float16", 1.0),
        (Precision.FP32, "float16", 2.0),
        (Precision.INT8, "int64", 1.0),
        (Precision.FP16, "bool", 1.0),
    ],
)
def test_float_traffic_follows_the_precision_and_indices_do_not(
    precision: Precision, dtype: str, ratio: float
) -> None:
    metrics = {**GPU_METRICS, "fp16_tflops": 8.0, "bf16_tflops": 8.0, "int8_tops": 16.0}
    graph = make_graph([Op(read=10**9, written=10**9, dtype=dtype)])

    explanation = explanation_of(RooflineEngine(), graph, make_target(metrics, precision=precision))

    # 2e9 bytes / 1e11 a second = 20 ms at the file's width.
    assert explanation.memory_ms == pytest.approx([20.0 * ratio])


def test_mixed_precision_multiplies_matrices_at_the_half_rate_and_the_rest_at_fp32() -> None:
    graph = make_graph([Op(macs=10**12), Op(macs=10**12, columns=1)])
    target = make_target({**GPU_METRICS, "fp16_tflops": 8.0}, precision=Precision.AMP_FP16)

    # 1e12 MACs at 4e12 and at 1e12 a second.
    assert explanation_of(RooflineEngine(), graph, target).compute_ms == pytest.approx(
        [250.0, 1000.0]
    )


def test_mixed_precision_keeps_fp32_weights() -> None:
    graph = make_graph([Op(weights=10**9)])
    target = make_target({**GPU_METRICS, "fp16_tflops": 8.0}, precision=Precision.AMP_FP16)

    # 1e9 bytes / 1e11 a second.
    assert explanation_of(RooflineEngine(), graph, target).memory_ms == pytest.approx([10.0])
    live = make_graph([Op(weights=10**9, written=10**9)], peak_activation_bytes=10**9)
    assert predict(live, target).memory_bytes[0, 0] == pytest.approx(1.5e9)


def test_operators_that_are_no_matrix_product_do_not_use_matrix_units() -> None:
    graph = make_graph([Op(macs=10**12), Op(macs=10**12, columns=1)])
    metrics = {**GPU_METRICS, "fp16_tflops": 8.0, "matrix_units": 40}

    assert explanation_of(
        RooflineEngine(), graph, make_target(metrics, precision=Precision.FP16)
    ).compute_ms == pytest.approx([250.0, 1000.0])


def test_integer_operators_run_at_the_integer_rate_in_any_precision() -> None:
    graph = make_graph([Op(macs=10**12, dtype="int8", flags=QUANTISED)])
    target = make_target({**GPU_METRICS, "int8_tops": 20.0})

    # 1e12 MACs at 1e13 a second.
    assert explanation_of(RooflineEngine(), graph, target).compute_ms == pytest.approx([100.0])


def test_without_an_integer_rate_integers_are_multiplied_as_floats() -> None:
    """The bound has no format run at more than 64 times the rate of FP32."""
    table = predict(make_graph([Op(macs=10**12, dtype="int8", flags=QUANTISED)]), make_target())

    assert table.latency_ms[0, 0] == pytest.approx(1000.0 + LAUNCH_MS)
    assert table.bound_ms[0, 0] == pytest.approx(1000.0 / 64)


@pytest.mark.parametrize(
    ("metrics", "bound_ms"),
    [
        # 10 cores of 1 GHz, 64 multiply-accumulates a clock, 64 times as many in a narrow format.
        ({"core_count": 10.0, "clock_mhz": 1000.0}, 1e12 / (1e10 * 64 * 64) * 1e3),
        ({"core_count": 10.0}, math.nan),
        ({"int8_tops": 2.0}, 1e12 / (1e12 * 64) * 1e3),
    ],
)
def test_a_run_whose_rate_is_not_known_has_a_bound_from_any_other(
    metrics: dict[str, float], bound_ms: float
) -> None:
    table = predict(make_graph([Op(macs=10**12)]), make_target(metrics))

    assert table.bound_ms[0, 0] == pytest.approx(bound_ms, nan_ok=True)


def test_either_rate_alone_bounds_a_run() -> None:
    graph = make_graph([Op(macs=10**12, read=1)], input_bytes=10**9, output_bytes=10**9)
    work = predict(graph, make_target({"fp32_tflops": 2.0}))
    memory = predict(graph, make_target({"dram_bw_gbps": 100.0, "l2_kb": 1000.0}))

    assert np.isnan([work.latency_ms[0, 0], memory.latency_ms[0, 0]]).all()
    assert work.bound_ms[0, 0] == pytest.approx(1000.0)  # 1e12 MACs at 1e12 a second
    # 1 byte is all that the operator moves, and it fits on the chip.
    assert memory.bound_ms[0, 0] == 0.0
    assert "dram_bw_gbps is not known" in work.problems[0, 0]
    assert "fp32_tflops is not known" in memory.problems[0, 0]


def test_the_bound_allows_for_winograd_and_for_tf32() -> None:
    graph = make_graph(
        [
            Op(macs=10**12, window=(3, 3), flags=WINOGRAD),
            Op(macs=10**12, window=(1, 7), flags=WINOGRAD),
            Op(macs=10**12, window=(3, 3)),
        ]
    )
    # Per axis 6 r / (r + 5): 18/8 for 3, 42/12 for 7, 1 for 1.
    reduced = 1 / 2.25**2 + 1 / 3.5 + 1.0

    assert bound(graph, make_target()) == pytest.approx(1000.0 * reduced)
    assert bound(graph, make_target({**GPU_METRICS, "tf32_tflops": 8.0})) == pytest.approx(
        250.0 * reduced
    )


def test_the_bound_on_traffic_is_what_does_not_fit_on_the_chip() -> None:
    # 30 MB of weights, 8 MB in and 2 MB out; activations between the operators may stay on chip.
    graph = make_graph(
        [
            Op(read=8_000_000, weights=20_000_000, written=500_000_000),
            Op(read=500_000_000, weights=10_000_000, written=2_000_000),
        ],
        input_bytes=8_000_000,
        output_bytes=2_000_000,
    )
    caches = {"l2_kb": 4_000_000 / 1024, "llc_kb": 5_000_000 / 1024, "onchip_sram_kb": 1e6 / 1024}

    # (40 MB - 10 MB) / 1e11 bytes a second = 0.3 ms.
    assert bound(graph, make_target({**GPU_METRICS, **caches})) == pytest.approx(0.3)
    # Without any on-chip size there is no memory term, and no MACs: nothing is left.
    assert bound(graph, make_target()) == 0.0


def test_a_runtime_that_may_halve_fp32_has_a_lower_bound() -> None:
    graph = make_graph([Op(macs=10**12, weights=10**9)])
    metrics = {**GPU_METRICS, "l2_kb": 1.0}

    # Half precision: twice the FP32 rate where its own is not known, and half the bytes.
    assert bound(graph, make_target(metrics)) == pytest.approx(1000.0)
    assert bound(graph, make_target(metrics, runtime="ncnn")) == pytest.approx(500.0)
    assert bound(
        graph, make_target({**metrics, "fp16_tflops": 20.0}, runtime="ncnn")
    ) == pytest.approx(100.0)
    weights_only = make_graph([Op(weights=10**9)])
    assert bound(weights_only, make_target(metrics)) == pytest.approx(10.0, rel=1e-5)
    assert bound(weights_only, make_target(metrics, runtime="ncnn")) == pytest.approx(5.0, rel=1e-5)


def test_a_shared_weight_and_an_embedding_table_are_not_read_whole_for_the_bound() -> None:
    metrics = {**GPU_METRICS, "l2_kb": 1.0}
    other_traffic = Op(read=10**10, written=10**10)
    shared = make_graph([Op(weights=10**9), Op(weights=10**9)], weights_total=10**9)
    table = make_graph([Op(weights=10**6), other_traffic], weights_total=10**9)
    looped = make_graph([Op(weights=10**6, repeats=100), other_traffic], weights_total=10**9)

    assert bound(shared, make_target(metrics)) == pytest.approx(10.0, rel=1e-5)
    assert bound(table, make_target(metrics)) == pytest.approx(0.01, rel=2e-3)
    assert bound(looped, make_target(metrics)) == pytest.approx(0.01, rel=2e-3)


def test_an_input_that_no_operator_reads_whole_is_not_unavoidable() -> None:
    graph = make_graph([Op(macs=5 * 10**9, read=10**6)], input_bytes=10**9)

    # 5 ms of arithmetic; 1 MB is read, not the 1 GB that would take 10 ms.
    assert bound(graph, make_target({**GPU_METRICS, "l2_kb": 1.0})) == pytest.approx(5.0)


def test_a_file_in_half_precision_may_run_in_half_precision_on_an_fp32_target() -> None:
    graph = make_graph([Op(macs=10**12, dtype="float16")])
    weights = make_graph([Op(weights=10**9, dtype="float16")])
    metrics = {**GPU_METRICS, "fp16_tflops": 8.0, "l2_kb": 1.0}

    # 1e12 MACs at 4e12 a second; 1e9 bytes at 1e11 a second, though fp32 would double them.
    assert bound(graph, make_target(metrics)) == pytest.approx(250.0)
    assert bound(weights, make_target(metrics)) == pytest.approx(10.0, rel=1e-5)
    assert latency(weights, make_target(metrics)) == pytest.approx(20.0 + LAUNCH_MS)


def test_lanes_at_the_highest_clock_count_for_the_bound_where_the_stated_rate_is_lower() -> None:
    graph = make_graph([Op(macs=64 * 10**9)])
    metrics = {
        "clock_mhz": 2000.0,
        "boost_clock_mhz": 4000.0,
        "core_count": 2.0,
        "fp32_au_per_core": 16.0,
        "dram_bw_gbps": 10.0,
    }
    derived = make_target(metrics, family=Family.CPU)
    stated = make_target({**metrics, "fp32_tflops": 0.128}, family=Family.CPU)
    int8 = make_target({**stated.device.metrics, "int8_tops": 2.0}, family=Family.CPU)

    # 4e9 Hz x 2 cores x 16 lanes = 128e9 MACs a second; 64e9 are stated.
    assert explanation_of(RooflineEngine(), graph, derived).compute_ms == pytest.approx([500.0])
    assert explanation_of(RooflineEngine(), graph, stated).compute_ms == pytest.approx([1000.0])
    for target in (derived, stated):
        assert bound(graph, target) == pytest.approx(500.0)
    # 64e9 MACs at 1e12 a second, and at boost twice that.
    integers = make_graph([Op(macs=64 * 10**9, dtype="int8", flags=QUANTISED)])
    assert explanation_of(RooflineEngine(), integers, int8).compute_ms == pytest.approx([64.0])
    assert bound(integers, int8) == pytest.approx(32.0)


def test_memory_is_weights_and_peak_activations_in_the_runs_precision() -> None:
    graph = make_graph([Op(weights=600_000_000, written=1000)], peak_activation_bytes=600_000_000)
    metrics = {**GPU_METRICS, "fp16_tflops": 8.0, "dram_gb": 1.0}

    fp32 = predict(graph, make_target(metrics))
    fp16 = predict(graph, make_target(metrics, precision=Precision.FP16))

    assert fp32.memory_bytes[0, 0] == pytest.approx(1.2e9)
    assert fp32.fits_memory[0][0] is False
    assert fp16.memory_bytes[0, 0] == pytest.approx(0.6e9)
    assert fp16.fits_memory[0][0] is True
    assert predict(graph, make_target({**metrics, "dram_gb": 1.2})).fits_memory[0][0] is True
    assert predict(graph, make_target()).fits_memory[0][0] is None


@pytest.mark.parametrize(
    ("onchip_kb", "leaving_share"),
    [
        (8.0, 1 - 8 * 1024 / 4_000_000),  # of 4 MB only 8 KiB have room
        (1_000_000 / 1024, 0.75),
        (4_000_000 / 1024, 0.0),  # all of it fits: nothing crosses the link
        (1e6, 0.0),
    ],
)
def test_a_device_without_memory_moves_over_the_link_what_its_chip_cannot_hold(
    onchip_kb: float, leaving_share: float
) -> None:
    # In int8: 3 MB of weights and 1 MB of live activations, from four times as many in fp32.
    graph = make_graph(
        [Op(read=2_000_000, weights=12_000_000, written=2_000_000)], peak_activation_bytes=4_000_000
    )
    target = make_target(
        {"int8_tops": 1.0, "onchip_sram_kb": onchip_kb, "host_link_gbps": 0.5},
        family=Family.NPU,
        precision=Precision.INT8,
        runs=[Precision.INT8],
    )

    # 4 MB / 0.5e9 a second = 8 ms; an NPU has no overhead of launches.
    assert latency(graph, target) == pytest.approx(8.0 * leaving_share)
    assert explanation_of(RooflineEngine(), graph, target).memory_ms == pytest.approx(
        [8.0 * leaving_share]
    )
    assert bound(graph, target) <= latency(graph, target)


def test_a_cell_without_a_number_says_why_and_the_others_stand() -> None:
    graphs = [make_graph([Op(macs=10**9)]), make_graph([Op(macs=2 * 10**9)])]
    without = make_target({"fp32_tflops": 2.0})

    table = RooflineEngine().predict(graphs, [without, make_target()], {})

    reason = (
        "metric dram_bw_gbps is not known for Made Up 1; add it to the device, or choose another"
    )
    assert table.problems == {(0, 0): reason, (1, 0): reason}
    assert np.isnan(table.latency_ms[:, 0]).all()
    assert np.isfinite(table.latency_ms[:, 1]).all()
    assert [list(row) for row in table.basis] == [[None, Basis.ANALYTIC]] * 2
    assert [list(row) for row in table.fits_memory] == [[None, None]] * 2
    assert np.isnan(table.low80_ms).all()


def test_a_target_without_a_number_has_no_explanation() -> None:
    unrated = make_target({"fp32_tflops": 2.0})
    graph = make_graph([Op()])

    table = RooflineEngine().predict([graph], [unrated], {})
    missing, there = RooflineEngine().explain(graph, [unrated, make_target()])

    assert "metric dram_bw_gbps is not known for Made Up 1" in table.problems[0, 0]
    assert missing is None
    assert there is not None


def test_an_unknown_operator_costs_its_traffic_and_its_launch() -> None:
    graph = make_graph([Op(read=10**8, written=10**8, flags=UNKNOWN)])

    assert latency(graph, make_target()) == pytest.approx(2.0 + LAUNCH_MS)


def test_no_targets_and_no_graphs_give_empty_tables() -> None:
    engine = RooflineEngine()

    assert engine.predict([make_graph([Op()])], [], {}).latency_ms.shape == (1, 0)
    assert engine.predict([], [make_target()], {}).latency_ms.shape == (0, 1)
