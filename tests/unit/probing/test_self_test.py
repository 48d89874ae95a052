import sys
from dataclasses import replace
from pathlib import Path

import pytest

from predictor.core.errors import CancelledError, HostError
from predictor.core.metrics import COMPUTED_HERE, Family
from predictor.core.progress import CancelToken
from predictor.core.records import Cluster, Device, MeasuredRate, SustainedRates
from predictor.probing import self_test
from predictor.probing.self_test import run_self_test, with_measured_rates

pytestmark = pytest.mark.slow

DAY = "2026-01-31"
BARE = Device(
    id="this",
    name="This",
    vendor="V",
    family=Family.CPU,
    metrics={"core_count": 2},
    sources={"core_count": "system"},
)


def test_the_child_process_measures_both_rates():
    result = run_self_test(cores=2, seconds_per_rate=0.02)
    # Wide enough for any machine: an old board copies 1 GB/s, a server 1 TB/s.
    assert 0.1 < result.copy_gbps < 10_000
    assert 1e-5 < result.product_tflops < 1000
    assert 1e-5 < result.all_cores_tflops < 1000


def test_modules_in_the_current_folder_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "numpy.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    assert run_self_test(seconds_per_rate=0.02).copy_gbps > 0


def test_a_cancelled_test_ends_its_child():
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        run_self_test(seconds_per_rate=600, cancel=token)


def test_a_child_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(self_test, "_TIME_LIMIT_S", 0.2)
    with pytest.raises(HostError, match="it took over"):
        run_self_test(seconds_per_rate=600)


def test_a_child_that_fails_is_an_error_of_the_host(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(HostError, match="its process ended with code 1"):
        run_self_test()


def test_a_child_without_a_result_is_an_error_of_the_host(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/bin/true")
    with pytest.raises(HostError, match="gave no result"):
        run_self_test()


def test_measured_rates_are_added_with_their_day():
    device = with_measured_rates(BARE, SustainedRates(12.500123, 0.25, 0.45, DAY))
    assert device.metric("dram_bw_gbps") == 12.5  # as many digits as mean something
    assert device.metric("fp32_tflops") == 0.5  # of both cores
    assert device.measured["fp32_tflops"].value == 0.45
    assert device.measured["core_fp32_tflops"] == MeasuredRate(
        0.25,
        "measured on this machine, 2026-01-31: FP32 matrix product of ONNX Runtime, one core, "
        "sustained",
    )
    assert device.sources["dram_bw_gbps"] == (
        "measured on this machine, 2026-01-31: copy of a large array, sustained"
    )
    assert device.sources["core_count"] == "system"


def test_all_cores_are_no_slower_than_one():
    device = with_measured_rates(BARE, SustainedRates(12.5, 0.25, 0.24, DAY))
    assert device.measured["fp32_tflops"].value == 0.25
    assert device.measured["core_fp32_tflops"].value == 0.25


def test_a_stated_rate_is_not_replaced_by_a_measured_one():
    stated = Device(
        id="d",
        name="D",
        vendor="V",
        family=Family.CPU,
        metrics={"dram_bw_gbps": 68},
        sources={"dram_bw_gbps": "datasheet"},
    )
    device = with_measured_rates(stated, SustainedRates(12.5, 0.25, 0.45, DAY))
    assert device.metric("dram_bw_gbps") == 68
    assert device.sources["dram_bw_gbps"] == "datasheet"
    assert device.metric("fp32_tflops") == 0.25
    assert device.measured["dram_bw_gbps"].value == 12.5


def test_a_rate_that_was_computed_from_the_cores_gives_way_to_a_measured_one():
    computed = replace(BARE, metrics={"fp32_tflops": 0.9}, sources={"fp32_tflops": COMPUTED_HERE})
    device = with_measured_rates(computed, SustainedRates(12.5, 0.25, 0.45, DAY))
    assert device.metric("fp32_tflops") == 0.25
    assert device.sources["fp32_tflops"].startswith("measured on this machine")


def test_small_cores_count_as_what_they_are_worth():
    clusters = (
        Cluster(name="big", cores=4, clock_mhz=2400.0, fp32_au_per_core=8),
        Cluster(name="little", cores=4, clock_mhz=1200.0, fp32_au_per_core=4),
    )
    device = with_measured_rates(
        replace(BARE, metrics={"core_count": 8}, clusters=clusters),
        SustainedRates(12.5, 0.1, 0.5, DAY),
    )
    assert device.metric("fp32_tflops") == 0.5  # four of 0.1 and four of a quarter of that
