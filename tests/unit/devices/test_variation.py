"""Devices that differ from another in one fact."""

from __future__ import annotations

import pytest

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device
from predictor.devices.variation import fact_value, facts_of, scaled

GPU = Device(
    id="gpu",
    name="GPU",
    vendor="",
    family=Family.GPU,
    metrics={"clock_mhz": 1000.0, "boost_clock_mhz": 1500.0, "fp32_tflops": 3.0, "l2_kb": 512.0},
)
PHONE = Device(
    id="phone",
    name="Phone",
    vendor="",
    family=Family.MOBILE_CPU,
    metrics={"dram_bw_gbps": 30.0, "boost_clock_mhz": 2000.0},
    clusters=(
        Cluster(name="Big", cores=2, clock_mhz=2000.0, fp32_au_per_core=8.0),
        Cluster(name="Little", cores=6, clock_mhz=1000.0),
    ),
)


def test_the_facts_are_those_that_are_stated_and_a_clock_is_one() -> None:
    assert facts_of(GPU) == ["clock_mhz", "fp32_tflops", "l2_kb"]
    assert facts_of(PHONE) == ["clock_mhz", "core_count", "fp32_au_per_core", "dram_bw_gbps"]
    boosted = Device(
        id="b", name="B", vendor="", family=Family.GPU, metrics={"boost_clock_mhz": 1500.0}
    )
    assert facts_of(boosted) == ["boost_clock_mhz"]


def test_a_fact_moves_alone_but_for_the_other_clock() -> None:
    faster = scaled(GPU, "clock_mhz", 1.1)

    assert faster.metrics == pytest.approx(
        {"clock_mhz": 1100.0, "boost_clock_mhz": 1650.0, "fp32_tflops": 3.0, "l2_kb": 512.0}
    )
    assert scaled(GPU, "fp32_tflops", 2.0).metrics == {**GPU.metrics, "fp32_tflops": 6.0}


def test_all_kinds_of_cores_move_alike() -> None:
    faster = scaled(PHONE, "clock_mhz", 0.5)

    assert [cluster.clock_mhz for cluster in faster.clusters] == [1000.0, 500.0]
    assert faster.metrics["boost_clock_mhz"] == 1000.0
    wider = scaled(PHONE, "fp32_au_per_core", 2.0)
    assert [cluster.fp32_au_per_core for cluster in wider.clusters] == [16.0, None]


def test_cores_are_whole_where_that_is_asked_for() -> None:
    assert [c.cores for c in scaled(PHONE, "core_count", 1.1).clusters] == pytest.approx([2.2, 6.6])
    whole = scaled(PHONE, "core_count", 1.1, full_cores=True)
    assert [c.cores for c in whole.clusters] == [3, 7]
    assert [c.clock_mhz for c in whole.clusters] == [2000.0, 1000.0]


def test_values_of_clusters_stand_in_for_those_of_the_device() -> None:
    assert fact_value(PHONE, "core_count") == 8
    assert fact_value(PHONE, "clock_mhz") == 2000.0
    assert fact_value(PHONE, "fp32_au_per_core") == 8.0
    assert fact_value(PHONE, "boost_clock_mhz") == 2000.0
    assert fact_value(PHONE, "l2_kb") is None
