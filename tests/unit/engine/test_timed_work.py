"""What of a graph may be timed: fused operators, rows, channels and pieces, known by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from predictor.cost.engine import OperatorTimes, TargetMeasurements
from predictor.engine.timed_work import TimedGraph, by_resource
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.network.reference_rates import ReferenceRates
from predictor.probing.networks.spaces import operator_graph_of
from tests.support.explanations import explanation_of
from tests.support.graphs import VIEW, Op, make_graph
from tests.support.tiny_engine import TARGETS, TYPICAL, tiny_engine

GATED = operator_graph_of("gated", (1, 24, 14, 5))
WINDOWS = operator_graph_of("windows", (1, 3, 24, 2, 6))
RATES = ReferenceRates.of(TARGETS, TYPICAL).take(np.zeros(1, np.int64))


def of_type(graph: OperatorGraph, timed: TimedGraph, op_type: str) -> list[int]:
    """Rows of the operators of a type."""
    return [row for row, at in enumerate(timed.places.tolist()) if graph.op_types[at] == op_type]


def test_what_is_fused_may_be_timed_and_views_may_not() -> None:
    timed = TimedGraph.of(WINDOWS)

    assert not WINDOWS.has_flag(OperatorFlag.VIEW)[timed.places].any()
    assert len(timed.places) == len(WINDOWS) - WINDOWS.has_flag(OperatorFlag.VIEW).sum()
    gate = TimedGraph.of(GATED)
    fused = GATED.has_flag(OperatorFlag.FUSED)[gate.places]
    assert fused.any()
    # x sigmoid(x) after a convolution reads and writes its tensor, where it runs apart.
    assert (gate.operators.activation_bytes[fused] > 0).all()
    assert (gate.work(TARGETS[0].device, RATES).parts_ms[fused].sum(axis=1) > 0).all()


def test_what_clips_inside_a_convolution_is_another_kind_than_alone() -> None:
    dense = operator_graph_of("dense", (1, 32, 7, 3))
    timed = TimedGraph.of(dense)
    inside = dense.has_flag(OperatorFlag.FUSED)[timed.places]
    relus = of_type(dense, timed, "Relu")
    apart, within = ([r for r in relus if inside[r] == which] for which in (False, True))

    assert within
    sigmoids = of_type(GATED, TimedGraph.of(GATED), "Sigmoid")
    assert len({int(TimedGraph.of(GATED).kind[row]) for row in sigmoids}) == 1
    assert len({int(timed.kind[row]) for row in within}) == 1
    assert not {int(timed.kind[row]) for row in within} & {int(timed.kind[row]) for row in apart}
    alone = operator_graph_of("operator", (4, 1, 32, 7))  # rectified alone
    assert int(TimedGraph.of(alone).code[0]) not in {int(timed.code[row]) for row in within}


def test_rows_of_a_softmax_and_its_products_are_counted() -> None:
    timed = TimedGraph.of(WINDOWS)
    (softmax,) = of_type(WINDOWS, timed, "Softmax")
    assert timed.traits[softmax, -2] == pytest.approx(math.log1p(36))  # 6 x 6 tokens a window

    products = of_type(WINDOWS, timed, "MatMul")
    # 4 windows of 3 heads each for scores and mix; one product for each layer with weights.
    assert sorted(timed.pieces[products].tolist()) == [0] * 6 + [12] * 2
    parts_ms = timed.work(TARGETS[0].device, RATES).parts_ms
    assert parts_ms[:, -1] == pytest.approx(parts_ms[:, -1].max() / 12 * timed.pieces)


@pytest.mark.parametrize(
    ("code", "log2"), [((1, 4, 8, 7), 3.0), ((1, 4, 16, 7), 4.0), ((1, 4, 24, 7), 3.0)]
)
def test_channels_of_a_group_fill_a_vector_or_do_not(code: tuple[int, ...], log2: float) -> None:
    graph = operator_graph_of("grouped", code)
    timed = TimedGraph.of(graph)
    (row,) = [row for row in of_type(graph, timed, "Conv") if timed.pieces[row] > 0]

    assert timed.traits[row, -1] == log2
    assert timed.pieces[row] == 4


def test_a_window_for_each_channel_is_one_piece() -> None:
    timed = TimedGraph.of(GATED)
    assert timed.pieces.sum() == 0


def test_a_graph_of_views_has_an_operator_that_stands_for_all() -> None:
    timed = TimedGraph.of(make_graph([Op(read=9, written=9, flags=VIEW)] * 3))

    assert timed.places.tolist() == [0]
    assert timed.work(TARGETS[0].device, RATES).parts_ms.sum() > 0


def test_parts_are_arithmetic_traffic_and_launches() -> None:
    parts_ms = TimedGraph.of(WINDOWS).work(TARGETS[0].device, RATES).parts_ms

    resources = by_resource(parts_ms)

    np.testing.assert_allclose(resources.sum(axis=1), parts_ms.sum(axis=1))
    np.testing.assert_allclose(resources[:, 0], parts_ms[:, 0])
    np.testing.assert_allclose(resources[:, 2], parts_ms[:, -2:].sum(axis=1))


def test_activations_that_a_target_runs_apart_are_foretold_of_other_sizes() -> None:
    target, known = TARGETS[0], operator_graph_of("gated", (1, 24, 28, 5))
    rows = TimedGraph.of(known).places.tolist()
    apart = [place for place in rows if known.op_types[place] == "Sigmoid"]
    times = OperatorTimes(
        [(place,) for place in rows],
        np.array([5.0 if place in apart else 1.0 for place in rows]),
    )
    measured = TargetMeasurements(
        signature_id="own",
        graphs=[known],
        latency_ms=np.array([times.time_ms.sum()]),
        noise=np.array([0.01]),
        operators=[times],
    )
    other = operator_graph_of("gated", (2, 24, 28, 3))

    found = explanation_of(tiny_engine(), other, target, {target.id: measured})

    types = np.array(other.op_types)
    of_gates = found.latency_ms[(types == "Sigmoid") & other.has_flag(OperatorFlag.FUSED)]
    assert len(of_gates)
    assert (of_gates > 0).all()
    total = tiny_engine().predict([other], [target], {target.id: measured}).latency_ms[0, 0]
    assert found.latency_ms.sum() == pytest.approx(total)
