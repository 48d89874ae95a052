"""Reference rates: facts where they are known, what is typical of the family elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Precision, Target
from predictor.cost.columns import MATRIX, SINGLE, WIDTHS
from predictor.network.reference_rates import ReferenceRates, Typical
from tests.support.graphs import make_target

TYPICAL = Typical(
    {"any": 8.0, "cpu": 4.0}, {"any": 1e12, "gpu": 5e12}, {"any": (np.log(2e10), 0.0)}
)
SINGLE_PRODUCTS = MATRIX * WIDTHS + SINGLE


def rates_of(*targets: Target) -> ReferenceRates:
    return ReferenceRates.of(targets, TYPICAL)


def macs_per_s(target: Target) -> float:
    return float(1e3 / rates_of(target).ms_per_mac[0, SINGLE_PRODUCTS])


def test_facts_that_are_known_are_used() -> None:
    target = make_target({"fp32_tflops": 2.0, "fp16_tflops": 8.0, "dram_bw_gbps": 100.0})
    half = make_target(target.device.metrics, precision=Precision.FP16)

    assert macs_per_s(target) == pytest.approx(1e12)
    assert macs_per_s(half) == pytest.approx(4e12)
    assert rates_of(target).ms_per_byte[0] == pytest.approx(1e3 / 100e9)


def test_a_fact_that_is_missing_is_typical_of_the_family() -> None:
    bare = make_target({"memory_gb": 8.0})

    assert macs_per_s(bare) == pytest.approx(5e12)
    assert rates_of(bare).ms_per_byte[0] == pytest.approx(1e3 / 2e10)
    assert np.isnan(rates_of(bare).on_chip_bytes[0])


def test_cores_and_clock_tell_more_than_the_family_alone() -> None:
    cpu = make_target({"core_count": 4.0, "clock_mhz": 2000.0}, family=Family.CPU)

    assert macs_per_s(cpu) == pytest.approx(4 * 2e9 * 4.0)


def test_half_precision_is_twice_single_where_it_is_not_known() -> None:
    known = {"fp32_tflops": 2.0, "dram_bw_gbps": 100.0}

    assert macs_per_s(make_target(known, precision=Precision.FP16)) == pytest.approx(2e12)


def test_threads_share_a_cpu() -> None:
    cores = (Cluster(name="A", cores=4, clock_mhz=2000.0, fp32_au_per_core=8),)
    whole, half = (
        make_target({"dram_bw_gbps": 10.0}, family=Family.CPU, clusters=cores, threads=threads)
        for threads in (4, 2)
    )

    assert macs_per_s(whole) == pytest.approx(2 * macs_per_s(half))


def test_every_rate_is_finite_and_positive_for_every_family_without_facts() -> None:
    targets = [make_target({}, family=f, precision=p) for f in Family for p in Precision]

    rates = ReferenceRates.of(targets, TYPICAL)

    for values in (rates.ms_per_mac, rates.ms_per_byte, rates.weight_ratio, rates.activation_ratio):
        assert np.isfinite(values).all()
        assert (values > 0).all()
    assert (rates.launch_ms >= 0).all()


def test_no_target_and_some_targets() -> None:
    first, second = make_target(), make_target({"fp32_tflops": 4.0, "dram_bw_gbps": 50.0})

    assert len(rates_of()) == 0
    taken = rates_of(first, second).take(np.array([1]))
    np.testing.assert_array_equal(taken.ms_per_byte, rates_of(second).ms_per_byte)
