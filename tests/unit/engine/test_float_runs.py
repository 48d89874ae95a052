"""ncnn's float runs: halved where it may, in FP32 where an option forbids it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from predictor.calibration.evidence import Evidence
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.engine.estimate import Estimate
from predictor.engine.float_runs import forbids_halves, keys_of, run_form
from tests.support.estimates import evidence_of, small_estimate
from tests.support.graphs import Op, make_graph, make_target

CONVOLUTION = make_graph([Op(macs=10**10)])


def core(architecture: str) -> Device:
    metrics = {"core_count": 4.0, "clock_mhz": 2000.0, "dram_bw_gbps": 1e6}
    target = make_target(metrics, family=Family.MOBILE_CPU, runtime="ncnn")
    runs = tuple(Configuration("ncnn", p) for p in (Precision.FP16, Precision.FP32))
    return replace(target.device, architecture=architecture, configurations=runs)


def run(device: Device, precision: Precision) -> Target:
    return Target(device, Configuration("ncnn", precision))


A76, A53 = core("cortex-a76"), core("cortex-a53")
FLOATS, HALVES = run(A76, Precision.FP32), run(A76, Precision.FP16)


def latency_ms(estimate: Estimate, target: Target) -> float:
    return float(estimate.predict(CONVOLUTION, estimate.of([target])).latency_ms[0])


@pytest.mark.parametrize("evidence", [None, evidence_of([FLOATS], [0.7], [5])])
def test_halves_take_half_the_time_of_floats(evidence: Evidence | None) -> None:
    """A core that multiplies halves has twice as many of them in a vector."""
    estimate = small_estimate(evidence)

    ratio = latency_ms(estimate, FLOATS) / latency_ms(estimate, HALVES)

    assert ratio == pytest.approx(2.0, rel=0.02)


def test_without_half_arithmetic_both_are_one_run() -> None:
    floats, halves = run(A53, Precision.FP32), run(A53, Precision.FP16)

    assert not forbids_halves(floats)
    assert run_form(floats) == run_form(halves) == floats
    assert keys_of([floats]).targets() == keys_of([halves]).targets()


def test_a_device_that_lists_no_halves_has_the_published_run_under_fp32() -> None:
    device = replace(A76, configurations=(Configuration("ncnn"),))

    assert not forbids_halves(run(device, Precision.FP32))
    assert run_form(run(device, Precision.FP32)).configuration.precision is Precision.FP16


def test_what_was_published_is_of_the_halved_run_and_stands_in_for_the_other() -> None:
    estimate = small_estimate(evidence_of([FLOATS], [0.7], [5]))

    halved, plain = (estimate.of([target]) for target in (HALVES, FLOATS))

    assert estimate.have_measured([HALVES, FLOATS]) == [True, False]
    assert halved.evidence[0].startswith("from 5 networks measured on this device")
    assert plain.evidence[0].startswith("from this device under ncnn, all cores (5 networks)")
    assert plain.factors == pytest.approx(halved.factors)
    assert plain.variance[0] > halved.variance[0]


@pytest.mark.parametrize(("measured", "other"), [(FLOATS, HALVES), (HALVES, FLOATS)])
def test_a_measurement_of_the_users_is_of_its_run_alone(measured: Target, other: Target) -> None:
    estimate = small_estimate()
    before = latency_ms(estimate, measured)
    fit = estimate.fitted(measured, [CONVOLUTION] * 8, np.full(8, 3 * before))

    known, near = (estimate.of([target], [fit]) for target in (measured, other))

    assert known.evidence[0].startswith("from 8 networks that you measured")
    assert near.evidence[0].startswith("from this device under ncnn")
    assert float(estimate.predict(CONVOLUTION, known).latency_ms[0]) > 2 * before
