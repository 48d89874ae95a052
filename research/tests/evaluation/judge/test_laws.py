"""Violations of the laws: an engine that breaks one is caught, the roofline breaks none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from ctm_research.evaluation.judge import laws
from ctm_research.evaluation.judge.better_devices import better_pairs
from ctm_research.evaluation.judge.equal_operators import equal_operators, without_last
from ctm_research.evaluation.judge.laws import count_violations, law_entries
from ctm_research.evaluation.judge.varied_facts import RATE, SIZE, UNUSED, variants
from predictor.core.errors import CancelledError
from predictor.core.metrics import Family
from predictor.core.progress import CancelToken
from predictor.core.records import (
    Cluster,
    Configuration,
    Device,
    MeasuredRate,
    Precision,
    Target,
)
from predictor.cost.engine import PredictionTable
from predictor.cost.roofline import RooflineEngine
from predictor.graph.operator_graph import OperatorGraph
from research.tests.evaluation.judge.lawless import DEVICE, FACTS, GRAPHS, OPERATOR, Change, Wrong
from tests.support.graphs import make_graph, make_target


def times(fact: str, power: float) -> Change:
    """Return a change that makes latencies depend on a fact."""

    def change(
        table: PredictionTable, graphs: Sequence[OperatorGraph], targets: Sequence[Target]
    ) -> PredictionTable:
        values = np.array([target.device.metrics[fact] for target in targets])
        return replace(table, latency_ms=table.latency_ms * values**power)

    return change


def scaled(factor: Callable[[OperatorGraph], float]) -> Change:
    def change(
        table: PredictionTable, graphs: Sequence[OperatorGraph], targets: Sequence[Target]
    ) -> PredictionTable:
        factors = np.array([factor(graph) for graph in graphs])
        return replace(table, latency_ms=table.latency_ms * factors[:, None])

    return change


def broken(engine: Wrong | RooflineEngine, *devices: Device) -> set[str]:
    """Return the laws that an engine breaks, on networks and devices of ours."""
    counts = count_violations(engine, GRAPHS, devices or [DEVICE])
    return {law for law, count in counts.items() if count.violated}


def test_the_roofline_breaks_none() -> None:
    assert broken(RooflineEngine()) == set()
    counts = count_violations(RooflineEngine(), GRAPHS, [DEVICE])
    assert {law for law, count in counts.items() if not count.checked} == {laws.BETTER}


@pytest.mark.parametrize(
    ("change", "law"),
    [
        (times("fp32_tflops", 1.5), laws.NO_SLOWER),
        (times("l2_kb", 0.1), laws.NO_SLOWER),
        (times("fp32_tflops", -2.0), laws.NO_LEAP),
        (times("int8_tops", 0.1), laws.UNMOVED),
        (times("int4_tops", -0.1), laws.UNMOVED),
        (scaled(lambda _: 1e-3), laws.BOUNDED),
        (scaled(lambda graph: 1 / float(graph.macs.sum()) ** 2), laws.BATCHED),
        (scaled(lambda graph: float(len(graph)) ** -4), laws.SHORTER),
        (lambda table, *_: replace(table, bound_ms=table.bound_ms * np.nan), laws.HAS_BOUND),
    ],
)
def test_each_law_has_its_offender(change: Change, law: str) -> None:
    assert law in broken(Wrong(change))


def test_equal_operators_with_unequal_costs_are_counted_with_an_example() -> None:
    count = count_violations(Wrong(lambda table, *_: table, 3.0), GRAPHS, [DEVICE])[laws.EQUAL]

    assert (count.checked, count.violated) == (1, 1)
    assert "of Conv in chain" in law_entries({laws.EQUAL: count})[0]["examples"][0]  # type: ignore[index]


def test_a_better_device_of_one_architecture_must_not_be_slower() -> None:
    better = replace(DEVICE, id="better", metrics={**FACTS, "l2_kb": 1024.0})
    pair = [replace(device, architecture="ampere-ga10x") for device in (DEVICE, better)]

    counts = count_violations(Wrong(times("l2_kb", 0.2)), GRAPHS, pair)[laws.BETTER]

    assert (counts.checked, counts.violated) == (1, 1)
    assert laws.BETTER not in broken(RooflineEngine(), *pair)
    assert list(better_pairs([Target(device, Configuration()) for device in pair])) == [(1, 0)]
    assert list(better_pairs([Target(DEVICE, Configuration())] * 2)) == []  # of no architecture


def test_devices_with_other_facts_or_clusters_are_not_compared() -> None:
    one = replace(DEVICE, architecture="ampere-ga10x")
    fewer = replace(one, metrics={name: FACTS[name] for name in ("fp32_tflops", "l2_kb")})
    wider = replace(
        one, clusters=(Cluster(name="Core", cores=4, clock_mhz=1000.0, fp32_au_per_core=8.0),)
    )

    assert list(better_pairs([Target(d, Configuration()) for d in (one, fewer, wider)])) == []


def test_every_stated_fact_is_varied_alone() -> None:
    target = make_target(
        {
            **FACTS,
            "clock_mhz": 1000.0,
            "boost_clock_mhz": 1200.0,
            "core_count": 5.0,
            "tdp_w": 9.0,
            "process_nm": 6.0,
        },
        clusters=(
            Cluster(name="Big", cores=2, clock_mhz=2000.0, fp32_au_per_core=8.0),
            Cluster(name="Small", cores=3, clock_mhz=1000.0),
        ),
        family=Family.CPU,
    )
    device = replace(target.device, measured={"dram_bw_gbps": MeasuredRate(90.0, "STREAM")})
    target = replace(target, device=device)

    by_fact = {each.fact: each for each in variants(target)}

    kinds = {fact: each.kind for fact, each in by_fact.items()}
    assert kinds == {
        **dict.fromkeys(("fp32_tflops", "dram_bw_gbps", "measured dram_bw_gbps"), RATE),
        **dict.fromkeys(("clock_mhz", "core_count", "fp32_au_per_core"), RATE),
        **dict.fromkeys(("tdp_w", "process_nm"), RATE),
        "l2_kb": SIZE,
        "int8_tops": UNUSED,
        "int4_tops": UNUSED,
    }
    assert by_fact["tdp_w"].target.device.metrics["tdp_w"] == 13.5
    assert by_fact["process_nm"].target.device.metrics["process_nm"] == pytest.approx(4.0)
    faster = by_fact["clock_mhz"].target.device
    assert [cluster.clock_mhz for cluster in faster.clusters] == [3000.0, 1500.0]
    assert (faster.metrics["clock_mhz"], faster.metrics["boost_clock_mhz"]) == (1500.0, 1800.0)
    more = by_fact["core_count"]
    assert [cluster.cores for cluster in more.target.device.clusters] == [3, 5]
    assert more.factor == pytest.approx(5 / 3)  # of the small cores: there is no half of one


@pytest.mark.parametrize(
    ("precision", "runtime", "unused"),
    [
        (Precision.FP32, "pytorch", {"fp16_tflops", "bf16_tflops", "int8_tops", "int4_tops"}),
        (Precision.FP32, "ncnn", {"int8_tops", "int4_tops"}),
        (Precision.FP16, "pytorch", {"bf16_tflops", "int8_tops", "int4_tops", "tf32_tflops"}),
        (Precision.INT8, "pytorch", {"bf16_tflops", "int4_tops", "tf32_tflops"}),
    ],
)
def test_rates_of_other_precisions_are_unused(
    precision: Precision, runtime: str, unused: set[str]
) -> None:
    names = ("fp32_tflops", "fp16_tflops", "bf16_tflops", "tf32_tflops", "int8_tops", "int4_tops")
    target = make_target(dict.fromkeys(names, 1.0), precision=precision, runtime=runtime)

    assert {each.fact for each in variants(target) if each.kind == UNUSED} == unused


def test_a_rate_that_stands_in_for_one_that_is_not_stated_is_used() -> None:
    for stated, precision, used in (
        (("int8_tops",), Precision.FP16, {"int8_tops"}),
        (("int8_tops",), Precision.INT8, {"int8_tops"}),
        (("bf16_tflops", "int8_tops"), Precision.FP16, {"bf16_tflops"}),
        (("fp16_tflops", "int8_tops"), Precision.FP16, {"fp16_tflops"}),
        (("fp32_tflops", "int8_tops"), Precision.FP16, {"fp32_tflops"}),
    ):
        metrics = dict.fromkeys(stated, 1.0)
        accelerator = make_target(metrics, precision=precision, family=Family.NPU)

        rates = {each.fact for each in variants(accelerator) if each.kind == RATE}

        assert rates == used, (stated, precision)


def test_equal_operators_have_equal_predecessors() -> None:
    graph = make_graph([OPERATOR] * 3 + [replace(OPERATOR, macs=7)] + [OPERATOR] * 2)

    groups = [group.tolist() for group in equal_operators(graph)]

    # 0 and 1 see the start of the chain within two operators; 4 and 5 see the other operator.
    assert groups == []
    assert [g.tolist() for g in equal_operators(make_graph([OPERATOR] * 6))] == [[2, 3, 4, 5]]


def test_a_chain_without_its_last_operator() -> None:
    shorter = without_last(GRAPHS["chain"])

    assert shorter is not None
    assert len(shorter) == 5
    assert shorter.edges.max() == 4
    assert shorter.output_bytes == OPERATOR.written
    assert shorter.weights_total_bytes == 5 * OPERATOR.weights


def test_an_end_that_is_no_chain_stays() -> None:
    graph = GRAPHS["chain"]
    branched = replace(graph, edges=np.array([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 5, 5]], np.int32))

    assert without_last(branched) is None
    assert without_last(make_graph([OPERATOR])) is None


def test_a_stop_is_obeyed() -> None:
    cancel = CancelToken()
    cancel.cancel()

    with pytest.raises(CancelledError):
        count_violations(RooflineEngine(), GRAPHS, [DEVICE], cancel=cancel)
