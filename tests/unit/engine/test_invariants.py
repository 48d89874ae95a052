"""What holds of every prediction of the engine, whatever it has learned.

One of the targets is served by the network, which was fine-tuned to it; the others are estimated.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.calibration.deviation import Expectation
from predictor.core.records import Basis, Target, TargetId
from predictor.cost.engine import PredictionTable, TargetMeasurements
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from tests.support.explanations import explanation_of
from tests.support.graphs import VIEW, Op, make_graph
from tests.support.random_graphs import graphs
from tests.support.tiny_engine import PROBED, TARGETS, tiny_engine, tuned_to

pytestmark = pytest.mark.slow

EVERY = [*TARGETS, PROBED]
TUNED = 1  # its place in EVERY
unhurried = settings(deadline=None, max_examples=25)
SMALL = make_graph(
    [Op(macs=10**8, read=10**6, weights=10**5, written=10**6), Op(read=9, written=9)]
)


@cache
def tuned() -> dict[TargetId, TargetMeasurements]:
    """Return measurements of the target that the network is fine-tuned to."""
    return {EVERY[TUNED].id: tuned_to(EVERY[TUNED])}


def predicted(
    graph: OperatorGraph,
    targets: list[Target] = EVERY,
    measured: dict[TargetId, TargetMeasurements] | None = None,
) -> PredictionTable:
    return tiny_engine().predict([graph], targets, tuned() if measured is None else measured)


def test_one_of_the_targets_is_served_by_the_network() -> None:
    assert predicted(SMALL).facts["fine_tuned"] == [[False, True, False, False]]


def signature(target: Target, factor: float) -> dict[TargetId, TargetMeasurements]:
    others = [make_graph([Op(macs=m, read=m // 9, written=m // 9)] * 3) for m in (10**7, 10**9)]
    plain = tiny_engine().predict(others, [target], {}).latency_ms[:, 0]
    return {
        target.id: TargetMeasurements(
            signature_id="own", graphs=others, latency_ms=plain * factor, noise=np.full(2, 0.01)
        )
    }


@unhurried
@given(graphs())
def test_numbers_are_finite_ordered_and_not_under_the_bound(graph: OperatorGraph) -> None:
    table = predicted(graph)

    edges = [
        table.low95_ms,
        table.low80_ms,
        table.latency_ms,
        table.high80_ms,
        table.high95_ms,
    ]
    assert all(np.isfinite(edge).all() for edge in edges)
    assert (table.latency_ms > 0).all()
    for low, high in pairwise(edges):
        assert (low <= high).all()
    known = np.isfinite(table.bound_ms)  # it needs facts that not every target has
    assert (table.low95_ms >= table.bound_ms)[known].all()


@unhurried
@given(graphs(), st.integers(2, 64))
def test_a_larger_batch_is_never_faster(graph: OperatorGraph, factor: int) -> None:
    before, after = (predicted(g, measured={}).latency_ms for g in (graph, at_batch(graph, factor)))

    assert (after >= before * (1 - 1e-6)).all()


@unhurried
@given(graphs())
def test_operators_times_sum_to_the_prediction(graph: OperatorGraph) -> None:
    for column, target in enumerate(EVERY):
        explained = explanation_of(tiny_engine(), graph, target, tuned())

        latency_ms = predicted(graph).latency_ms[0, column]
        assert explained.latency_ms.sum() == pytest.approx(latency_ms, rel=1e-5)
        assert (explained.latency_ms >= 0).all()
        parts = explained.compute_ms + explained.memory_ms + explained.launch_ms
        np.testing.assert_allclose(parts, explained.latency_ms)


@unhurried
@given(graphs(), st.randoms(use_true_random=False))
def test_names_and_the_order_of_operators_change_nothing(
    graph: OperatorGraph, random: object
) -> None:
    count = len(graph)
    order = list(range(count))
    random.shuffle(order)  # type: ignore[attr-defined]

    again = predicted(reordered(graph, np.array(order)))

    np.testing.assert_allclose(again.latency_ms, predicted(graph).latency_ms, rtol=1e-5)
    np.testing.assert_allclose(again.high95_ms, predicted(graph).high95_ms, rtol=1e-4)


def reordered(graph: OperatorGraph, order: np.ndarray) -> OperatorGraph:
    """Return the graph with its rows in ``order`` and other names."""
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    rows = {
        name: getattr(graph, name)[order]
        for name in (
            *("op_code", "dtype", "flags", "repeats", "macs", "bytes_read", "weight_bytes"),
            *("bytes_written", "gemm", "window", "stride"),
        )
    }
    hosts = graph.fused_into[order]
    return replace(
        graph,
        **rows,
        fused_into=np.where(hosts >= 0, place[hosts], -1),
        edges=place[graph.edges],
        names=tuple(f"renamed {index}" for index in range(len(order))),
    )


@pytest.mark.parametrize(
    "ops", [[Op()], [Op(flags=VIEW)], [Op(flags=VIEW)] * 2, [Op(macs=10), Op(macs=20)]]
)
def test_tiny_graphs_have_numbers_too(ops: list[Op]) -> None:
    graph = make_graph(ops)

    table = predicted(graph)

    assert np.isfinite(table.latency_ms).all()
    for column, target in enumerate(EVERY):
        explained = explanation_of(tiny_engine(), graph, target, tuned())
        assert explained.latency_ms.sum() == pytest.approx(table.latency_ms[0, column], rel=1e-5)


def test_no_edges() -> None:
    graph = replace(make_graph([Op(macs=10), Op(macs=20)]), edges=np.zeros((2, 0), np.int32))

    assert np.isfinite(predicted(graph).latency_ms).all()


@pytest.mark.parametrize(("rows", "columns"), [(0, 2), (1, 0), (0, 0)])
def test_no_graphs_or_no_targets(rows: int, columns: int) -> None:
    for measured in ({}, tuned()):
        table = tiny_engine().predict([SMALL] * rows, TARGETS[:columns], measured)

        assert table.latency_ms.shape == (rows, columns)
        assert table.shared_error is not None
        assert table.shared_error.shape[:2] == (rows, columns)


def test_a_target_alone_has_the_number_that_it_has_among_others() -> None:
    together = predicted(SMALL).latency_ms[0]

    alone = [predicted(SMALL, [target]).latency_ms[0, 0] for target in EVERY]

    np.testing.assert_allclose(alone, together, rtol=1e-5)


def test_many_targets_in_parts_are_as_one_by_one() -> None:
    long = make_graph([Op(macs=10**6, read=100, written=100)] * 400)
    many = EVERY * 60  # 400 operators on 240 targets: more than one part

    table = predicted(long, many)

    np.testing.assert_allclose(
        table.latency_ms[0].reshape(60, len(EVERY)),
        np.tile(predicted(long).latency_ms, (60, 1)),
        rtol=1e-5,
    )


def test_published_measurements_make_a_target_probed_and_surer() -> None:
    table = predicted(SMALL, measured={})

    assert table.basis[0] == [Basis.ZERO_SHOT] * 3 + [Basis.PROBED]
    width = np.log(table.high80_ms / table.low80_ms)[0]
    assert width[-1] < width[0]
    assert tiny_engine().has_signature(PROBED)
    assert not tiny_engine().has_signature(TARGETS[0])


@pytest.mark.parametrize("target", [TARGETS[0], PROBED])
def test_the_users_measurements_draw_the_prediction_to_them(target: Target) -> None:
    before = predicted(SMALL, [target], {})

    after = predicted(SMALL, [target], signature(target, 2.0))

    assert after.basis[0] == [Basis.PROBED]
    assert 1.3 < after.latency_ms[0, 0] / before.latency_ms[0, 0] < 2.5
    ratio = [(t.high80_ms / t.latency_ms)[0, 0] for t in (before, after)]
    if target is not PROBED:  # the user's device differs from the published one
        assert ratio[1] < ratio[0]


@unhurried
@given(graphs(), st.integers(2, 64), st.floats(0.1, 10.0))
def test_a_larger_batch_is_never_faster_on_a_measured_target_either(
    graph: OperatorGraph, factor: int, off: float
) -> None:
    known, targets = signature(TARGETS[1], off), [TARGETS[1], PROBED]

    before, after = (
        predicted(g, targets, known).latency_ms[0] for g in (graph, at_batch(graph, factor))
    )

    assert (after >= before * (1 - 1e-6)).all()


@unhurried
@given(graphs(), st.integers(2, 64), st.floats(0.1, 10.0))
def test_a_larger_batch_is_never_faster_on_a_tuned_target_but_for_its_launches(
    graph: OperatorGraph, factor: int, off: float
) -> None:
    network, target = tiny_engine().network, TARGETS[1]
    tuning = network.tuning(target, tuned_to(target, off))
    assert tuning is not None
    (encoded, one), (_, many) = (
        network.expect(g, tuning) for g in (graph, at_batch(graph, factor))
    )
    # A part of the launches grows with the work, and what grows may be tilted far below the rest.
    with_launches_of_one = many.parts_ms[:, 0].astype(np.float64)
    with_launches_of_one[:, 2] = one.parts_ms[:, 0, 2]

    before, after = (
        Expectation(parts, encoded.responses.astype(np.float64), float(one.run_ms[0])).latency_ms(
            tuning.deviation.weights
        )
        for parts in (one.parts_ms[:, 0].astype(np.float64), with_launches_of_one)
    )

    assert after >= before * (1 - 1e-3)
    latency = predicted(graph, [target], {target.id: tuned_to(target, off)}).latency_ms[0, 0]
    assert latency >= before * tuning.deviation.factor * (1 - 1e-6)


def test_attention_of_the_network_is_over_the_known_metrics() -> None:
    attention = explanation_of(tiny_engine(), SMALL, TARGETS[TUNED], tuned()).attention

    assert attention is not None
    assert {"fp32_tflops", "dram_bw_gbps", "l2_kb"} <= set(attention.metrics)
    assert "core_count" not in attention.metrics  # not known of this target
    assert attention.operator_to_metric.shape == (2, len(attention.metrics))
    assert (attention.operator_to_metric.sum(axis=1) <= 1 + 1e-6).all()
    assert not attention.is_time


def test_the_tuned_network_is_at_its_facts_as_without_them_varied() -> None:
    """A device twice as fast in all is not slower, and the same device is as predicted."""
    target, graph = TARGETS[TUNED], SMALL
    metrics = {name: value * 2 for name, value in target.device.metrics.items()}
    faster = replace(target.device, metrics=metrics)

    varied = tiny_engine().varied(graph, target, [target.device, faster], tuned())

    explained = explanation_of(tiny_engine(), graph, target, tuned())
    assert varied.operator_ms.shape == (2, len(graph))
    assert varied.operator_ms[0] == pytest.approx(explained.latency_ms, rel=1e-5)
    assert varied.latency_ms[0] == pytest.approx(predicted(graph).latency_ms[0, TUNED], rel=1e-5)
    assert varied.latency_ms[1] != pytest.approx(varied.latency_ms[0], rel=1e-3)


def test_what_a_target_cannot_run_is_said_and_has_no_number() -> None:
    unable = replace(TARGETS[0], device=replace(TARGETS[0].device, configurations=()))

    table = predicted(SMALL, [unable, TARGETS[1]])

    for (_, column), words in table.problems.items():
        assert np.isnan(table.latency_ms[0, column])
        assert words
    assert np.isfinite(table.latency_ms[0, 1])
