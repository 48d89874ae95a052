"""Elasticities of latencies to facts, by every engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device, Precision, Target
from predictor.cost.engine import TargetMeasurements, VariedTimes
from predictor.cost.overlap import runs_ahead
from predictor.cost.roofline import RooflineEngine
from predictor.devices.variation import scaled
from predictor.engine.estimate import Estimate
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.prediction.sensitivity import FactSensitivity, fact_sensitivities
from tests.support.estimates import (
    blind_engine,
    every_target,
    evidence_of,
    samples,
    shipped_engine,
    small_estimate,
)
from tests.support.explanations import explanation_of
from tests.support.graphs import VIEW, Op, make_graph, make_target
from tests.support.random_graphs import graphs

pytestmark = pytest.mark.slow

unhurried = settings(deadline=None, max_examples=25)
NEAR = 1e-5  # the error of a central difference with this step
GRAPH = make_graph([Op(macs=10**9, read=10**8), Op(read=10**7, written=10**7), Op(flags=VIEW)])
TARGET = make_target(runtime="tensorrt")  # terms add up


class Estimated:
    """An engine that is an estimate alone, without a bound."""

    def __init__(self, estimate: Estimate) -> None:
        self._estimate = estimate

    def varied(
        self, graph: OperatorGraph, target: Target, devices: Sequence[Device], _: object
    ) -> VariedTimes:
        estimates = self._estimate.of([target])
        operator_ms = self._estimate.varied_ms(graph, estimates, devices)
        return VariedTimes(operator_ms, operator_ms.sum(axis=1))


def of(
    engine: object,
    graph: OperatorGraph,
    target: Target,
    measured: Mapping[object, TargetMeasurements] | None = None,
) -> dict[str, FactSensitivity]:
    facts = fact_sensitivities(engine, graph, target, measured or {})  # type: ignore[arg-type]
    weights = [abs(each.elasticity) for each in facts]
    assert weights == sorted(weights, reverse=True)
    return {each.fact: each for each in facts}


# --- The estimate ---


def test_elasticities_are_minus_the_shares_of_the_terms() -> None:
    """Arithmetic 2 ms, blocks 256 / 1e10 s, memory 3 and 0.6 ms, two launches of 0.004 ms.

    The device states no clock, so blocks run at a typical part of its peak.
    """
    facts = of(Estimated(small_estimate()), GRAPH, TARGET)

    block = 256 / 1e10 * 1e3
    whole = 2 + block + 3.6 + 0.008
    assert facts.keys() == {"fp32_tflops", "dram_bw_gbps"}
    peak, bandwidth = facts["fp32_tflops"], facts["dram_bw_gbps"]
    assert peak.elasticity == pytest.approx(-(2 + block) / whole, abs=NEAR)
    assert bandwidth.elasticity == pytest.approx(-3.6 / whole, abs=NEAR)
    assert bandwidth.more == pytest.approx((whole - 3.6 + 3.6 / 1.1) / whole)
    assert (bandwidth.value, bandwidth.unit, bandwidth.label) == (100, "GB/s", "Memory bandwidth")
    own = 2 + block + 3.004
    assert peak.operators[:2] == pytest.approx([-(2 + block) / own, 0], abs=NEAR)
    assert bandwidth.operators[:2] == pytest.approx([-3 / own, -0.6 / 0.604], abs=NEAR)
    assert np.isnan(bandwidth.operators[2])  # a view takes no time


def test_evidence_moves_the_latency_and_no_elasticity() -> None:
    """A deviation multiplies all terms, so that the shares stay."""
    plain = of(Estimated(small_estimate()), GRAPH, TARGET)
    slower = of(Estimated(small_estimate(evidence_of([TARGET], [0.9], [5]))), GRAPH, TARGET)

    for name, fact in plain.items():
        assert slower[name].elasticity == pytest.approx(fact.elasticity, abs=1e-9)


CORES = (
    Cluster(
        name="Core", cores=4, clock_mhz=2000.0, fp32_au_per_core=8.0, architecture="cortex-a76"
    ),
)


def test_the_clock_of_a_processor_moves_all_but_the_memory() -> None:
    """Lanes and cores act on a part of what the clock does: blocks run on one core."""
    target = make_target(
        {"dram_bw_gbps": 10.0}, family=Family.MOBILE_CPU, runtime="ncnn", clusters=CORES
    )
    facts = of(Estimated(small_estimate()), GRAPH, target)
    terms = small_estimate().operator_ms(GRAPH, small_estimate().of([target])).sum(axis=0)
    arithmetic, block, memory, launch = terms / terms.sum()

    assert facts["clock_mhz"].elasticity == pytest.approx(-(arithmetic + block + launch), abs=NEAR)
    assert facts["fp32_au_per_core"].elasticity == pytest.approx(-(arithmetic + block), abs=NEAR)
    # One core does a tenth of the arithmetic alone, and four the rest.
    parallel = (0.9 / 4) / (0.1 + 0.9 / 4)
    assert facts["core_count"].elasticity == pytest.approx(-arithmetic * parallel, abs=NEAR)
    assert facts["dram_bw_gbps"].elasticity == pytest.approx(-memory, abs=NEAR)
    assert (facts["core_count"].value, facts["clock_mhz"].value) == (4, 2000)


def test_more_cores_change_nothing_for_threads_that_are_counted() -> None:
    target = make_target(
        {"dram_bw_gbps": 10.0}, family=Family.MOBILE_CPU, runtime="ncnn", clusters=CORES, threads=4
    )

    assert "core_count" not in of(Estimated(small_estimate()), GRAPH, target)


# --- All engines ---


@cache
def lawful_targets() -> tuple[Target, ...]:
    known = np.isfinite(blind_engine().predict([GRAPH], every_target(), {}).latency_ms[0])
    return tuple(t for t, is_known in zip(every_target(), known, strict=True) if is_known)


def is_bound(graph: OperatorGraph, target: Target) -> bool:
    """Return whether a latency is raised to its bound, or would be with one fact a step larger."""
    table = blind_engine().predict([graph], [target], {})
    return bool(table.latency_ms[0, 0] < 1.2 * np.nan_to_num(table.bound_ms[0, 0]))


@unhurried
@given(graphs(), st.data())
def test_each_elasticity_lies_between_minus_one_and_zero(
    graph: OperatorGraph, data: st.DataObject
) -> None:
    target = data.draw(st.sampled_from(lawful_targets()))
    threads = data.draw(st.sampled_from([0, 1, 2, 3]))
    target = replace(target, configuration=replace(target.configuration, threads=threads))
    assume(not is_bound(graph, target))

    for fact in of(blind_engine(), graph, target).values():
        timed = fact.operators[np.isfinite(fact.operators)]
        assert -1 - NEAR < fact.elasticity < NEAR, fact
        # Where starts overlap, what is saved on one operator shows in the starts of the others.
        if not runs_ahead([target])[0]:
            assert ((timed > -1 - NEAR) & (timed < NEAR)).all(), fact
        assert 1 / 1.1 - NEAR < fact.more <= 1 + NEAR


@unhurried
@given(graphs(), st.data())
def test_the_bandwidths_elasticity_is_its_share_of_attention(
    graph: OperatorGraph, data: st.DataObject
) -> None:
    target = data.draw(st.sampled_from(lawful_targets()))
    device = target.device
    assume({"dram_bw_gbps", "fp32_tflops"} <= device.metrics.keys())
    assume(device.metric("dram_gb") is None or device.metric("host_link_gbps") is None)
    assume(not is_bound(graph, target))

    bandwidth = of(blind_engine(), graph, target).get("dram_bw_gbps")
    explained = explanation_of(blind_engine(), graph, target)

    assert explained.attention is not None
    alpha = explained.attention.operator_to_metric[:, 2].astype(np.float64)
    assert explained.attention.metrics[2] == "bandwidth"
    timed = explained.latency_ms > 0
    if bandwidth is not None:
        # Where starts overlap, what is saved on one operator shows in the starts of the others.
        if not runs_ahead([target])[0]:
            assert bandwidth.operators[timed] == pytest.approx(-alpha[timed], abs=2e-5)
        share = explained.latency_ms / explained.latency_ms.sum()
        assert bandwidth.elasticity == pytest.approx(-(share @ alpha), abs=2e-5)
    else:
        assert (explained.latency_ms * alpha).sum() < 2e-4 * explained.latency_ms.sum()


def test_the_roofline_moves_with_what_binds() -> None:
    """1 ms of arithmetic hides 1 of memory at this rate; the bound of a kink is half each.

    The second operator takes 0.2 ms of memory, and each a launch of 6 us.
    """
    graph = make_graph([Op(macs=2 * 10**9, read=10**8), Op(read=10**7, written=10**7)])
    facts = of(RooflineEngine(), graph, TARGET)
    whole = 2 + 0.2 + 0.012

    assert facts["fp32_tflops"].elasticity == pytest.approx(-2 / whole, abs=NEAR)
    assert facts["dram_bw_gbps"].elasticity == pytest.approx(-0.2 / whole, abs=NEAR)
    assert facts["fp32_tflops"].operators == pytest.approx([-2 / 2.006, 0], abs=NEAR)
    assert facts["fp32_tflops"].more == pytest.approx((2 / 1.1 + 0.212) / whole)


@pytest.mark.parametrize("name", ["fp32_tflops", "dram_bw_gbps"])
def test_variants_are_predicted_as_they_are(name: str) -> None:
    """At equal evidence, which the roofline and an engine without any have."""
    target = next(
        each
        for each in lawful_targets()
        if each.device.id == "rtx3060" and each.configuration.precision is Precision.FP32
    )
    devices = [scaled(target.device, name, factor) for factor in (0.5, 1.0, 3.0)]
    others = [replace(target, device=device) for device in devices]
    graph = samples()["yolov3-tiny-416"]

    for engine in (RooflineEngine(), blind_engine()):
        varied = engine.varied(graph, target, devices)
        assert varied.latency_ms == pytest.approx(
            engine.predict([graph], others, {}).latency_ms[0], rel=1e-6
        )


def test_a_latency_at_its_bound_moves_with_the_bound() -> None:
    """Nothing multiplies faster than at the peak; operators move as they are estimated."""
    facts = {"fp32_tflops": 7.5, "bf16_tflops": 8.0, "dram_bw_gbps": 1000.0}
    target = make_target(
        facts,
        precision=Precision.AMP_BF16,
        runtime="pytorch-compiled",
        architecture="ampere-ga10x",
    )
    graph = make_graph([Op(macs=10**13, read=10**9, written=8)])
    table = blind_engine().predict([graph], [target], {})
    moved = of(blind_engine(), graph, target)

    assert table.latency_ms[0, 0] == pytest.approx(1.05 * table.bound_ms[0, 0])  # the least
    assert list(moved) == ["bf16_tflops"]
    assert moved["bf16_tflops"].elasticity == pytest.approx(-1, abs=NEAR)
    assert -1 < moved["bf16_tflops"].operators[0] < -0.5


def test_measurements_with_the_old_facts_stay() -> None:
    """The user's own measurements say how the target is: they are not of its variants."""
    target = lawful_targets()[0]
    others = list(samples().values())[:2]
    plain = shipped_engine().predict(others, [target], {}).latency_ms[:, 0]
    own = {
        target.id: TargetMeasurements(
            signature_id="own", graphs=others, latency_ms=plain * 2, noise=np.full(2, 0.01)
        )
    }
    graph = samples()["yolov3-tiny-416"]

    now = shipped_engine().predict([graph], [target], own).latency_ms[0, 0]
    same, faster = (
        shipped_engine()
        .varied(graph, target, [target.device, scaled(target.device, "clock_mhz", 1.5)], own)
        .latency_ms
    )

    assert same == pytest.approx(now, rel=1e-6)
    assert now / 1.51 < faster < now * 1.01


def test_a_target_without_a_number_is_refused() -> None:
    unsupported = make_target(runs=(Precision.INT8,))
    for engine in (RooflineEngine(), shipped_engine()):
        with pytest.raises(InputError, match="not supported"):
            of(engine, GRAPH, unsupported)


def test_a_device_without_facts_has_none_that_move_its_latency() -> None:
    """What was measured on a device gives it numbers all the same."""
    bare = make_target({})

    assert of(Estimated(small_estimate()), GRAPH, bare) == {}
