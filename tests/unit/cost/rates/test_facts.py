"""Rates and memories by hand, each from the fact that it stands on."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Device, MeasuredRate
from predictor.cost.rates.facts import (
    Clocks,
    bandwidth,
    chip_bytes,
    clocks_of,
    core_cache_bytes,
    derived_fp32_macs_per_s,
    fp32_macs_per_s,
    is_streaming,
    on_chip_bytes,
    reached_bandwidth,
    sockets,
    stated_macs_per_s,
    unit_cycles_per_s,
)


def device(family: Family = Family.GPU, **metrics: float) -> Device:
    return Device(id="d", name="D", vendor="V", family=family, metrics=metrics)


def test_a_stated_rate_counts_two_operations_for_a_multiply_accumulate() -> None:
    card = device(fp32_tflops=2.0, fp32_matrix_tflops=4.0, tf32_tflops=8.0, int8_tops=32.0)

    names = ("fp32", "fp32_matrix", "tf32", "int8")
    assert [stated_macs_per_s(card, name) for name in names] == [1e12, 2e12, 4e12, 16e12]
    assert stated_macs_per_s(card, "fp16") is None


def test_the_fp32_peak_is_stated_or_cores_times_lanes_times_the_highest_clock() -> None:
    facts = {"core_count": 4.0, "fp32_au_per_core": 8.0, "clock_mhz": 1000.0}
    cores = device(Family.CPU, **facts, boost_clock_mhz=2000.0)

    assert fp32_macs_per_s(cores) == derived_fp32_macs_per_s(cores) == pytest.approx(64e9)
    assert fp32_macs_per_s(device(Family.CPU, **facts, fp32_tflops=0.1)) == pytest.approx(50e9)
    assert fp32_macs_per_s(device(Family.CPU, core_count=4.0)) is None


def test_the_fp32_peak_of_clusters_has_the_clock_and_the_lanes_of_each() -> None:
    """4 x 2 GHz x 8 lanes and 4 x 1 GHz x 4; lanes of the device where a cluster states none."""
    phone = device(Family.MOBILE_CPU, fp32_au_per_core=4.0)
    clusters = (
        Cluster(name="Big", cores=4, clock_mhz=2000.0, fp32_au_per_core=8.0),
        Cluster(name="Little", cores=4, clock_mhz=1000.0),
    )

    assert fp32_macs_per_s(replace(phone, clusters=clusters)) == pytest.approx(80e9)
    assert fp32_macs_per_s(replace(phone, clusters=clusters, metrics={})) is None


@pytest.mark.parametrize(
    ("facts", "clocks"),
    [
        ({"clock_mhz": 1000.0, "boost_clock_mhz": 4000.0}, Clocks(1000.0, 2000.0, 4000.0)),
        ({"clock_mhz": 1000.0}, Clocks(1000.0, 1000.0, 1000.0)),
        ({"boost_clock_mhz": 4000.0}, Clocks(4000.0, 4000.0, 4000.0)),
        ({}, None),
    ],
)
def test_all_cores_together_run_half_way_between_base_and_boost(
    facts: dict[str, float], clocks: Clocks | None
) -> None:
    assert clocks_of(device(Family.CPU, **facts)) == clocks


def test_an_x86_processor_that_states_its_base_clock_alone_boosts() -> None:
    x86 = replace(device(Family.CPU, clock_mhz=1000.0), instruction_sets=("avx2",))

    assert clocks_of(x86) == Clocks(1000.0, math.sqrt(1000.0 * 1470.0), 1470.0)


def test_the_memory_of_a_device_or_its_link_feeds_it() -> None:
    stick = device(Family.NPU, onchip_sram_kb=8.0, host_link_gbps=0.5)

    assert bandwidth(device(dram_bw_gbps=100.0, host_link_gbps=32.0)) == pytest.approx(100e9)
    assert bandwidth(stick) == pytest.approx(0.5e9)
    assert math.isnan(bandwidth(device(host_link_gbps=32.0)))
    assert (is_streaming(stick), chip_bytes(stick)) == (True, 8192.0)
    assert chip_bytes(device(onchip_sram_kb=8.0, dram_bw_gbps=1.0)) == 0


def test_reads_reach_less_than_the_stated_bandwidth() -> None:
    card = device(dram_bw_gbps=500.0)
    measured = replace(card, measured={"dram_bw_gbps": MeasuredRate(205.0, "stencil")})

    assert reached_bandwidth(card) == pytest.approx(500e9)
    assert reached_bandwidth(measured) == pytest.approx(500e9 * math.sqrt(0.41 / 0.82))
    # As stated, whatever one thread's copy reached.
    server = replace(device(Family.CPU, dram_bw_gbps=300.0), measured=measured.measured)
    assert reached_bandwidth(server) == pytest.approx(300e9)
    assert reached_bandwidth(device()) is None


def test_processors_read_the_memory_of_one_socket_over_their_fabric() -> None:
    server = device(Family.CPU, dram_bw_gbps=900.0, core_count=64)
    pair = replace(server, name="2 x Server")
    assert (sockets(server), sockets(pair)) == (1, 2)
    assert reached_bandwidth(pair) == pytest.approx(450e9)
    # Eight chiplets, or two, at 32 bytes x 2 GHz.
    assert reached_bandwidth(replace(server, architecture="zen-4")) == pytest.approx(512e9)
    few = replace(device(Family.CPU, dram_bw_gbps=256.0, core_count=9), architecture="zen-5")
    assert reached_bandwidth(few) == pytest.approx(128e9)


def test_memories_of_the_chip() -> None:
    chip = device(l1_kb_per_core=64.0, l2_kb=4096.0, llc_kb=1024.0, core_count=4.0)

    assert on_chip_bytes(chip) == 5120 * 1024
    assert core_cache_bytes(chip) == (64 * 1024, 1024 * 1024)
    assert math.isnan(on_chip_bytes(device()))
    assert core_cache_bytes(device()) == (None, None)


def test_cycles_of_all_units() -> None:
    assert unit_cycles_per_s(device(core_count=8.0, clock_mhz=500.0)) == pytest.approx(4e9)
    assert math.isnan(unit_cycles_per_s(device(core_count=8.0)))
