"""What holds for every graph on every target."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Precision, Target
from predictor.cost.roofline import RooflineEngine
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from tests.support.explanations import explanation_of
from tests.support.graphs import QUANTISED, UNKNOWN, Op, make_graph, make_target
from tests.support.random_graphs import COUNTS, METRICS, RATES, graphs, operators

pytestmark = pytest.mark.slow

unhurried = settings(deadline=None)  # a busy machine is no failure


@st.composite
def targets(draw: st.DrawFn) -> Target:
    precision = draw(st.sampled_from(Precision))
    metrics = dict(draw(METRICS))
    if precision is Precision.INT8 or draw(st.booleans()):
        metrics["int8_tops"] = draw(RATES)
    # A microcontroller without memory beside it holds no large network.
    metrics.setdefault("dram_gb", 1.0)
    return make_target(
        metrics,
        family=draw(st.sampled_from(Family)),
        runtime=draw(st.sampled_from(["onnxruntime", "ncnn", "pytorch", "unknown"])),
        precision=precision,
    )


def latency(graph: OperatorGraph, target: Target) -> float:
    return float(RooflineEngine().predict([graph], [target], {}).latency_ms[0, 0])


@unhurried
@given(graphs(), targets())
def test_the_bound_never_exceeds_the_estimate(graph: OperatorGraph, target: Target) -> None:
    table = RooflineEngine().predict([graph], [target], {})

    assert np.isfinite(table.latency_ms).all()
    assert table.latency_ms[0, 0] >= 0
    if "int8_tops" in target.device.metrics or not graph.has_flag(OperatorFlag.QUANTISED).any():
        assert 0 <= table.bound_ms[0, 0] <= table.latency_ms[0, 0]


@pytest.mark.parametrize("seed", range(40))
def test_rounding_does_not_lift_the_bound_over_an_equal_estimate(seed: int) -> None:
    macs = np.random.default_rng(seed).integers(1, 10**12, 50).tolist()
    # Nothing but arithmetic at one rate, and no launches: bound and estimate are equal.
    target = make_target({"fp32_tflops": 3.7, "dram_bw_gbps": 1.0}, family=Family.NPU)

    table = RooflineEngine().predict([make_graph([Op(macs=m) for m in macs])], [target], {})

    assert table.bound_ms[0, 0] <= table.latency_ms[0, 0]
    assert table.bound_ms[0, 0] == pytest.approx(table.latency_ms[0, 0], rel=1e-12)


@unhurried
@given(graphs(), targets())
def test_each_operators_part_of_the_bound_is_at_most_its_arithmetic(
    graph: OperatorGraph, target: Target
) -> None:
    explanation = explanation_of(RooflineEngine(), graph, target)

    known = ~np.isnan(explanation.bound_ms)
    assert (explanation.bound_ms[known] <= explanation.compute_ms[known] * (1 + 1e-12)).all()


@unhurried
@given(graphs(), targets())
def test_the_explanation_sums_to_the_prediction_to_the_last_bit(
    graph: OperatorGraph, target: Target
) -> None:
    assert explanation_of(RooflineEngine(), graph, target).latency_ms.sum() == latency(
        graph, target
    )


@pytest.mark.parametrize("size", [1, 7, 8, 9, 127, 128, 129, 1000, 10_000])
def test_the_sum_is_exact_at_every_size_among_many_targets(size: int) -> None:
    rng = np.random.default_rng(size)
    graph = make_graph([Op(macs=int(m), read=int(r)) for m, r in rng.integers(0, 10**9, (size, 2))])
    many = [make_target({"fp32_tflops": 1 + i / 7, "dram_bw_gbps": 50 + i}) for i in range(40)]

    table = RooflineEngine().predict([graph], many, {})

    for column, target in enumerate(many):
        explanation = explanation_of(RooflineEngine(), graph, target)
        assert explanation.latency_ms.sum() == table.latency_ms[0, column]


@unhurried
@given(graphs(), targets(), st.data())
def test_more_work_is_never_faster(
    graph: OperatorGraph, target: Target, data: st.DataObject
) -> None:
    column = data.draw(st.sampled_from(["macs", "bytes_read", "weight_bytes", "bytes_written"]))
    more = getattr(graph, column).copy()
    more[data.draw(st.integers(0, len(graph) - 1))] += data.draw(COUNTS)

    assert latency(replace(graph, **{column: more}), target) >= latency(graph, target)


@unhurried
@given(st.lists(operators(), min_size=1, max_size=6), targets(), st.integers(2, 64))
def test_a_larger_batch_is_never_faster_but_never_slower_than_one_by_one(
    ops: list[Op], target: Target, batch: int
) -> None:
    batched = [
        replace(op, macs=op.macs * batch, read=op.read * batch, written=op.written * batch)
        for op in ops
    ]
    single = latency(make_graph(ops), target)

    assert single <= latency(make_graph(batched), target) * (1 + 1e-12)
    assert latency(make_graph(batched), target) <= batch * single * (1 + 1e-12)


@unhurried
@given(st.lists(operators(), min_size=2, max_size=8), targets(), st.randoms())
def test_the_order_of_operators_does_not_matter(
    ops: list[Op], target: Target, random: Random
) -> None:
    shuffled = list(ops)
    random.shuffle(shuffled)

    assert latency(make_graph(shuffled), target) == pytest.approx(
        latency(make_graph(ops), target), rel=1e-12
    )


@unhurried
@given(
    st.lists(operators(), min_size=1, max_size=5),
    st.lists(operators(), min_size=1, max_size=5),
    targets(),
)
def test_two_graphs_side_by_side_take_the_sum(
    first: list[Op], second: list[Op], target: Target
) -> None:
    apart = latency(make_graph(first), target) + latency(make_graph(second), target)

    assert latency(make_graph([*first, *second]), target) == pytest.approx(apart, rel=1e-12)


CLUSTERS = st.lists(
    st.builds(
        Cluster,
        name=st.just("Core"),
        cores=st.integers(1, 8),
        clock_mhz=st.floats(300, 4000),
        fp32_au_per_core=st.floats(1, 64),
    ),
    min_size=1,
    max_size=3,
)


@unhurried
@given(graphs(), CLUSTERS, st.integers(1, 30))
def test_more_threads_are_never_slower(
    graph: OperatorGraph, clusters: list[Cluster], threads: int
) -> None:
    def on(count: int) -> float:
        target = make_target(
            {"dram_bw_gbps": 10.0},
            family=Family.MOBILE_CPU,
            threads=count,
            clusters=tuple(clusters),
        )
        return latency(graph, target)

    assert on(threads + 1) <= on(threads) * (1 + 1e-12)
    assert on(0) <= on(threads) * (1 + 1e-12)


@unhurried
@given(st.sampled_from([1, 2, 10_000]), st.sampled_from([0, UNKNOWN, QUANTISED]))
def test_every_graph_has_a_finite_latency(size: int, flags: int) -> None:
    graph = make_graph([Op(flags=flags)] * size)
    table = RooflineEngine().predict([graph], [make_target()] * 3, {})

    assert np.isfinite(table.latency_ms).all()


@unhurried
@given(st.lists(graphs(), min_size=1, max_size=3), st.lists(targets(), min_size=1, max_size=4))
def test_a_table_holds_what_each_pair_gives_alone(
    some_graphs: list[OperatorGraph], some_targets: list[Target]
) -> None:
    table = RooflineEngine().predict(some_graphs, some_targets, {})

    for row, graph in enumerate(some_graphs):
        for column, target in enumerate(some_targets):
            alone = RooflineEngine().predict([graph], [target], {})
            assert table.latency_ms[row, column] == alone.latency_ms[0, 0]
            np.testing.assert_allclose(
                table.bound_ms[row, column], alone.bound_ms[0, 0], rtol=1e-12
            )
