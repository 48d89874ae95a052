"""Work terms: worked by hand, and growing with the work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.core.records import Precision, Target
from predictor.cost.columns import Columns
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from predictor.network.reference_rates import ReferenceRates, Typical
from predictor.network.work_terms import (
    KINDS,
    TERMS,
    off_chip_share,
    running_operators,
    work_terms,
)
from tests.support.graphs import FUSED, VIEW, Op, make_graph, make_target
from tests.support.random_graphs import graphs

TYPICAL = Typical({"any": 8.0}, {"any": 1e12}, {"any": (np.log(1e11), 0.0)})
GPU = make_target()  # 1e12 MACs and 100e9 bytes a second


def terms_of(graph: OperatorGraph, *targets: Target) -> np.ndarray:
    costs = Columns.of(graph)
    operators, _ = running_operators(costs)
    rates = ReferenceRates.of(targets, TYPICAL)
    leaving = off_chip_share(costs.weights_by_width[None], costs.live_by_width[None], rates)
    return work_terms(operators, leaving, rates)


def test_terms_by_hand() -> None:
    graph = make_graph([Op(macs=2_000_000, read=600_000, weights=100_000, written=300_000)])
    launch = ReferenceRates.of([GPU], TYPICAL).launch_ms[0]

    found = dict(zip(TERMS, terms_of(graph, GPU)[0, 0].tolist(), strict=True))

    compute, memory = 2e6 / 1e9, 1e6 / 1e8  # ms
    assert found["compute"] == pytest.approx(compute)
    assert found["memory"] == pytest.approx(memory)
    assert found["launch"] == pytest.approx(launch)
    assert found["start"] == pytest.approx(1e-3)
    # The geometric mean with a million MACs, and with 100 kB.
    assert found["small_compute"] == pytest.approx((compute * 1e6 / 1e9) ** 0.5)
    assert found["small_memory"] == pytest.approx((memory * 1e5 / 1e8) ** 0.5)
    assert found["small_launch"] == pytest.approx(((compute + memory) * max(launch, 1e-3)) ** 0.5)


def test_half_precision_moves_half_the_bytes_of_a_float_network() -> None:
    graph = make_graph([Op(read=1000, weights=500, written=1000)])
    both = [make_target(precision=p) for p in (Precision.FP32, Precision.FP16)]

    memory = terms_of(graph, *both)[0, :, TERMS.index("memory")]

    assert memory[1] == pytest.approx(memory[0] / 2)


def test_a_target_that_streams_pays_for_what_it_cannot_hold() -> None:
    metrics = {"int8_tops": 4.0, "onchip_sram_kb": 1000.0, "host_link_gbps": 1.0}
    tpu = make_target(metrics, family=Family.ASIC, precision=Precision.INT8)
    rates = ReferenceRates.of([tpu], TYPICAL)
    held = float(rates.held_bytes[0])

    def share(weights: float) -> float:
        return float(off_chip_share(np.array([[weights, 0, 0]]), np.zeros((1, 3)), rates)[0, 0])

    assert held == 1000.0 * 1024
    assert share(held / 2) == 0.0
    assert share(held * 4) == pytest.approx(0.75)


def test_views_and_fused_operators_are_no_rows() -> None:
    ops = [Op(macs=5), Op(flags=VIEW), Op(flags=FUSED, fused_into=0), Op(macs=7)]

    operators, places = running_operators(Columns.of(make_graph(ops)))

    assert places.tolist() == [0, 3]
    assert operators.macs.tolist() == [5, 7]


def test_where_nothing_runs_one_operator_without_work_stands_for_all() -> None:
    graph = make_graph([Op(flags=VIEW), Op(flags=VIEW)])

    assert running_operators(Columns.of(graph))[1].tolist() == [0]
    assert not terms_of(graph, GPU).any()


def test_every_term_belongs_to_a_part() -> None:
    assert len(KINDS) == len(TERMS)
    assert sorted(set(KINDS)) == [0, 1, 2]


@pytest.mark.slow
@settings(deadline=None)
@given(graphs(), st.integers(2, 32), st.sampled_from(Precision))
def test_no_term_falls_as_the_batch_grows(
    graph: OperatorGraph, factor: int, precision: Precision
) -> None:
    target = replace_precision(GPU, precision)

    before, after = (terms_of(g, target) for g in (graph, at_batch(graph, factor)))

    assert np.isfinite(after).all()
    assert (after >= before).all()


def replace_precision(target: Target, precision: Precision) -> Target:
    return Target(target.device, replace(target.configuration, precision=precision))
