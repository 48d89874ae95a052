"""Roofs of targets and operators under them, against numbers worked by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.core.records import Cluster, MeasuredRate, Precision, Target
from predictor.cost.engine import BoundType, Explanation
from predictor.services.prediction.engines import ENGINES, ROOFLINE, open_engine
from predictor.services.prediction.explain import above_bounds, explain
from predictor.services.prediction.roofline import (
    BOUND,
    COMPUTED,
    MEASURED,
    NO_ROOF,
    OP,
    STATED,
    roofline_of,
    roofs_of,
)
from tests.support.graphs import FUSED, QUANTISED, VIEW, WINOGRAD, Op, make_target
from tests.support.models import make_model

MODEL = make_model(Op(macs=10**9, read=4 * 10**6, weights=6 * 10**6, written=10**7))


def with_measured(target: Target, **rates: float) -> Target:
    measured = {name: MeasuredRate(value, "a bench") for name, value in rates.items()}
    return replace(target, device=replace(target.device, measured=measured))


def test_an_operator_stands_at_its_intensity_and_the_rate_that_it_reaches() -> None:
    # 2e12 FLOP/s and 100e9 B/s, 6 us a launch: 1 ms of arithmetic, 0.2 ms of traffic.
    target = make_target()
    made = roofline_of(MODEL, target, explain(MODEL, target, ROOFLINE))
    assert made.run_bytes.tolist() == [2e7]
    assert made.intensity.tolist() == [100.0]
    assert made.flops_per_s[0] == pytest.approx(2e9 / 1.006e-3)
    assert made.bytes_per_s[0] == pytest.approx(2e7 / 1.006e-3)


def test_half_precision_halves_the_bytes_and_doubles_the_intensity() -> None:
    target = make_target(
        {"fp32_tflops": 2.0, "fp16_tflops": 4.0, "dram_bw_gbps": 100.0}, precision=Precision.FP16
    )
    made = roofline_of(MODEL, target, explain(MODEL, target, ROOFLINE))
    assert made.run_bytes.tolist() == [1e7]
    assert made.intensity.tolist() == [200.0]


def test_views_and_operators_without_multiplications_are_told_apart() -> None:
    model = make_model(
        Op(read=8, written=8), Op(read=8, written=8, flags=VIEW), Op(macs=4, flags=FUSED)
    )
    target = make_target()
    made = roofline_of(model, target, explain(model, target, ROOFLINE))
    assert made.intensity[0] == 0
    assert np.isnan(made.intensity[1:]).all()
    assert np.isnan(made.flops_per_s[1])


def test_roofs_are_told_by_where_they_come_from() -> None:
    target = with_measured(make_target(), dram_bw_gbps=80.0, fp32_tflops=1.5)
    roofs = roofs_of(MODEL, target)
    assert [(roof.rate, roof.is_memory, roof.origin) for roof in roofs] == [
        (80e9, True, MEASURED),
        (100e9, True, STATED),
        (1.5e12, False, MEASURED),
        (2e12, False, STATED),
        (2e12, False, BOUND),
    ]
    assert [roof.label for roof in roofs[1:4:2]] == ["Memory bandwidth", "FP32 peak"]
    assert roofs[0].source == "a bench"


def test_the_link_to_the_host_is_no_roof_of_what_stays_on_the_chip() -> None:
    facts = {"int8_tops": 26.0, "onchip_sram_kb": 32768.0, "host_link_gbps": 3.94}
    target = make_target(facts, precision=Precision.INT8)
    made = roofline_of(MODEL, target, explain(MODEL, target))
    assert [(roof.label, roof.counted) for roof in made.roofs] == [
        ("INT8 peak", OP),
        ("Bound", OP),
    ]
    assert made.operation == OP


def test_products_in_matrix_units_have_the_rate_that_the_engine_uses() -> None:
    target = make_target(
        {"fp32_tflops": 2.0, "fp16_tflops": 16.0, "matrix_units": 4.0, "dram_bw_gbps": 100.0},
        precision=Precision.FP16,
    )
    arithmetic = [roof for roof in roofs_of(MODEL, target) if not roof.is_memory]
    # A tenth of a product in matrix units runs on the other lanes: 1 / (0.1 / 2 + 0.9 / 16).
    assert [(roof.label, roof.rate, roof.in_use) for roof in arithmetic] == [
        ("FP16 arithmetic", pytest.approx(1e12 / (0.1 / 2 + 0.9 / 16)), True),
        ("Bound", 16e12, False),
    ]


def test_integer_operators_add_the_rate_of_integers() -> None:
    target = make_target({"fp32_tflops": 2.0, "int8_tops": 8.0, "dram_bw_gbps": 100.0})
    quantised = make_model(Op(macs=10**6, read=8, written=8, flags=QUANTISED))
    assert {r.label for r in roofs_of(quantised, target)} == {
        "Memory bandwidth",
        "INT8 arithmetic",
        "Bound",
    }
    assert "INT8 arithmetic" not in {r.label for r in roofs_of(MODEL, target)}


def test_threads_on_some_of_the_cores_have_their_part_of_the_rate() -> None:
    target = with_measured(
        make_target(
            {"dram_bw_gbps": 10.0},
            family=Family.CPU,
            threads=1,
            clusters=(Cluster(name="Core", cores=4, clock_mhz=1000.0, fp32_au_per_core=8.0),),
        ),
        fp32_tflops=0.05,
    )
    arithmetic = [roof for roof in roofs_of(MODEL, target) if roof.origin == COMPUTED]
    # One core of 1 GHz with 8 lanes, two FLOPs each; what was measured was of all four cores.
    (roof,) = arithmetic
    assert (roof.label, roof.rate) == ("FP32 arithmetic, 1 of 4 cores", pytest.approx(16e9))
    assert MEASURED not in {roof.origin for roof in roofs_of(MODEL, target)}


def test_fast_convolutions_raise_the_roof_of_the_bound_alone() -> None:
    model = make_model(Op(macs=10**6, read=8, written=8, flags=WINOGRAD, window=(3, 3)))
    peak, bound = [roof.rate for roof in roofs_of(model, make_target()) if not roof.is_memory]
    assert bound == pytest.approx(peak * 5.0625)


def test_an_unknown_rate_is_no_roof() -> None:
    assert roofs_of(MODEL, make_target({"dram_bw_gbps": 9.0}))[0].is_memory
    without = make_target({"fp32_tflops": 2.0})
    assert not [roof for roof in roofs_of(MODEL, without) if roof.is_memory]


operators = st.builds(
    Op,
    macs=st.integers(0, 10**12),
    read=st.integers(1, 10**9),
    weights=st.integers(0, 10**9),
    written=st.integers(1, 10**9),
    flags=st.sampled_from([0, VIEW, WINOGRAD, QUANTISED]),
    dtype=st.sampled_from(["float32", "float16", "int8"]),
    columns=st.sampled_from([1, 8]),
    window=st.sampled_from([(0, 0), (1, 1), (3, 3)]),
)


METRICS = {
    "fp32_tflops": 2.0,
    "fp16_tflops": 8.0,
    "matrix_units": 4.0,
    "int8_tops": 16.0,
    "dram_bw_gbps": 100.0,
}


@pytest.mark.slow
@given(
    st.lists(operators, min_size=1, max_size=6),
    st.sampled_from([Precision.FP32, Precision.FP16]),
    st.sampled_from(ENGINES),
)
def test_every_point_is_under_the_roof_of_the_bound(
    ops: list[Op], precision: Precision, engine: str
) -> None:
    model, target = make_model(*ops), make_target(METRICS, precision=precision)
    table = explain(model, target, engine)
    made = roofline_of(model, target, table)
    bound = next(roof for roof in made.roofs if roof.origin == BOUND)
    timed = ~np.isnan(made.flops_per_s)
    assert (made.flops_per_s[timed] <= bound.rate * (1 + 1e-9)).all()
    assert table.latency_ms.sum() == pytest.approx(
        open_engine(engine).predict([model.graph], [target], {}).latency_ms[0, 0]
    )
    parts = table.compute_ms + table.memory_ms + table.launch_ms
    assert (parts >= table.latency_ms * (1 - 1e-9)).all()


@given(st.lists(operators, min_size=1, max_size=6))
def test_every_point_of_the_analytic_engine_is_under_its_memory(ops: list[Op]) -> None:
    model, target = make_model(*ops), make_target(METRICS)
    made = roofline_of(model, target, explain(model, target, ROOFLINE))
    memory = next(roof for roof in made.roofs if roof.is_memory)
    timed = ~np.isnan(made.bytes_per_s)
    assert (made.bytes_per_s[timed] <= memory.rate * (1 + 1e-9)).all()


def test_what_an_operator_lacks_to_its_bound_comes_from_the_others() -> None:
    # 1, 4 and 5 ms, of which the first needs 3 and the second 2: 7 ms remain for 9.
    time, nothing = np.array([1.0, 4.0, 5.0]), np.zeros(3)
    launch = np.int8(BoundType.LAUNCH)
    before = Explanation(
        latency_ms=time,
        compute_ms=nothing,
        memory_ms=nothing,
        launch_ms=time,
        bound_ms=nothing,
        bound_type=np.full(3, launch),
    )
    after = above_bounds(before, np.array([3.0, 2.0, 0.0]))
    assert after.latency_ms.tolist() == pytest.approx([3.0, 4 * 7 / 9, 5 * 7 / 9])
    assert after.compute_ms.tolist() == pytest.approx([2.0, 0.0, 0.0])
    assert after.launch_ms.tolist() == pytest.approx([1.0, 4 * 7 / 9, 5 * 7 / 9])
    assert after.bound_type.tolist() == [BoundType.COMPUTE, BoundType.LAUNCH, BoundType.LAUNCH]


def test_bounds_over_the_whole_time_change_nothing() -> None:
    time, nothing = np.array([1.0, 4.0]), np.zeros(2)
    before = Explanation(
        latency_ms=time,
        compute_ms=nothing,
        memory_ms=nothing,
        launch_ms=time,
        bound_ms=nothing,
        bound_type=np.zeros(2, np.int8),
    )
    assert above_bounds(before, np.array([6.0, 0.0])) is before
    assert above_bounds(before, np.array([1.0, 4.0])) is before


@given(st.lists(operators, min_size=1, max_size=6), st.sampled_from(list(ENGINES)))
def test_what_is_bound_by_arithmetic_or_traffic_has_a_roof_of_its_kind(
    ops: list[Op], engine: str
) -> None:
    model, target = make_model(*ops), make_target(METRICS)
    table = explain(model, target, engine)
    made = roofline_of(model, target, table)
    for place, bound in enumerate(table.bound_type):
        roof = made.roof_of[place]
        if bound in {"compute", "memory"}:
            assert made.roofs[roof].in_use
            assert made.roofs[roof].is_memory is (bound == "memory")
            assert made.reached[place] > 0
        else:
            assert roof == NO_ROOF
            assert np.isnan(made.reached[place])
