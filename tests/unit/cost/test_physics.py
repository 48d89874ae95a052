"""Terms of the physics on operators worked out by hand, and the laws that they keep."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from predictor.core.metrics import Family
from predictor.core.records import Target
from predictor.cost.operator_kinds import KINDS, kinds_of
from predictor.cost.physics import TERMS, Rates, Work, complete, rates_of, term_times
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch
from tests.unit.cost.graphs import FUSED, VIEW, Op, make_graph, make_target
from tests.unit.cost.test_roofline_invariants import METRICS, graphs

GPU = {"fp32_tflops": 2.0, "dram_bw_gbps": 100.0, "boost_clock_mhz": 1000.0, "core_count": 8}


def times(graph: OperatorGraph, target: Target) -> dict[str, np.ndarray]:
    """Return the terms of the operators in ms, by name."""
    values = term_times(Work.of(graph), rates_of([target]))[:, 0]
    return dict(zip(TERMS, values.T, strict=True))


def test_each_term_is_its_work_over_its_rate() -> None:
    graph = make_graph([Op(macs=10**9, read=3 * 10**7, weights=10**7, written=10**7)])
    target = make_target({**GPU, "fp32_au_per_core": 128})
    of = times(graph, target)
    assert of["arithmetic"] == pytest.approx([1.0])  # 1e9 / 1e12 a second
    assert of["memory"] == pytest.approx([0.5])  # 5e7 bytes / 1e11 a second
    assert of["block"] == pytest.approx([256 / 128e9 * 1e3])  # a sum over 1, 16 x 16 outputs
    assert of["launch"] == pytest.approx([1e-3])


def test_views_and_fused_operators_cost_nothing() -> None:
    graph = make_graph([Op(read=100, flags=VIEW), Op(read=100, flags=FUSED, fused_into=0)])
    assert term_times(Work.of(graph), rates_of([make_target(GPU)]))[..., 2:].sum() == 0


def test_one_thread_runs_at_the_boost_clock_and_all_at_the_base_clock() -> None:
    metrics = {"clock_mhz": 2000.0, "boost_clock_mhz": 4000.0, "core_count": 4}
    metrics |= {"fp32_au_per_core": 16, "dram_bw_gbps": 50.0}
    one, four = (
        rates_of([make_target(metrics, family=Family.CPU, runtime="onnxruntime", threads=n)])
        for n in (1, 4)
    )
    assert one.matrix == pytest.approx([4e9 * 16])
    assert four.matrix == pytest.approx([4 * 2e9 * 16])


def test_a_gap_is_filled_by_the_typical_ratio_of_the_kind() -> None:
    known = make_target({**GPU, "fp32_au_per_core": 128})
    twice = make_target({**GPU, "fp32_tflops": 4.0})
    gap = make_target({"fp32_tflops": 8.0})
    whole = complete(rates_of([known, twice, gap]), ["gpu"] * 3)
    # 1e11 for 1e12, and 1e11 for 2e12: the middle, times 4e12.
    assert whole.bandwidth[2] == pytest.approx(4e12 * np.sqrt(0.1 * 0.05))
    assert not np.isnan([whole.matrix, whole.vector, whole.unit, whole.bandwidth]).any()


GROWING = ("fp32_tflops", "fp16_tflops", "bf16_tflops", "int8_tops", "dram_bw_gbps", "clock_mhz")
GROWING += ("boost_clock_mhz", "core_count", "fp32_au_per_core")


@given(graphs(), METRICS, st.sampled_from(GROWING), st.floats(1.0, 8.0), st.sampled_from(Family))
def test_a_rate_that_grows_never_raises_a_term_or_lowers_it_by_more(
    graph: OperatorGraph, metrics: dict[str, float], name: str, factor: float, family: Family
) -> None:
    assume(name in metrics)
    before = make_target(metrics, family=family)
    after = make_target({**metrics, name: metrics[name] * factor}, family=family)
    old, new = (term_times(Work.of(graph), rates_of([each])) for each in (before, after))
    known = ~np.isnan(old) & ~np.isnan(new)
    assert (new[known] <= old[known] * (1 + 1e-9)).all()
    assert (new[known] * factor >= old[known] * (1 - 1e-9)).all()


@given(graphs(), st.integers(2, 64))
def test_a_larger_batch_is_never_faster_and_no_other_kind(graph: OperatorGraph, batch: int) -> None:
    larger = at_batch(graph, batch)
    rates = rates_of([make_target(GPU)])
    old, new = (term_times(Work.of(each), rates)[..., [0, 2, 3]] for each in (graph, larger))
    assert (new.sum(axis=0) >= old.sum(axis=0) * (1 - 1e-9)).all()


def test_kinds_of_a_networks_operators() -> None:
    kinds = [KINDS[number] for number in kinds_of(make_graph([Op(read=8), Op(macs=8, weights=8)]))]
    assert kinds == ["other", "thin product"]


def test_rates_of_some_targets() -> None:
    both = rates_of([make_target(GPU), make_target({**GPU, "fp32_tflops": 4.0})])
    assert isinstance(both.take(np.array([1])), Rates)
    assert both.take(np.array([1])).matrix == pytest.approx([2e12])
