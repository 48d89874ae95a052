"""The printed output of OpenVINO's benchmark_app and of onnxruntime_perf_test."""

from __future__ import annotations

import pytest

from tests.support.import_samples import ONNXRUNTIME_LOG, OPENVINO_LOG
from tests.support.importing import changed, read, refusal


def test_the_median_of_benchmark_app_is_the_headline() -> None:
    (latency,) = read(OPENVINO_LOG).latencies

    assert (latency.network, latency.value_ms, latency.statistic) == ("", 2.25, "median")
    assert (latency.runtime, latency.precision) == ("openvino", "fp16")
    assert (latency.threads, latency.batch) == (8, 1)
    assert latency.facts["max_ms"] == "4.75"


def test_short_times_of_benchmark_app_are_in_microseconds() -> None:
    short = changed(OPENVINO_LOG, "Median:        2.25 ms", "Median:        961.25 us")

    assert read(changed(short, "1.95 ms", "950.00 us")).latencies[0].value_ms == 0.96125


def test_a_synchronous_run_has_one_request() -> None:
    synchronous = changed(OPENVINO_LOG, "asynchronously, 1 inference requests", "synchronously")

    assert read(synchronous).latencies[0].value_ms == 2.25


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("1 inference requests", "12 inference requests", "12 requests ran at once"),
        ("   Median:        2.25 ms", "   Centre:        2.25 ms", "it has no median"),
        ("Median:        2.25 ms", "Median:        1.25 ms", "contradict each other"),
        (OPENVINO_LOG, OPENVINO_LOG * 2, "another run begins"),
    ],
)
def test_a_run_of_benchmark_app_that_is_no_latency_is_refused(
    old: str, new: str, said: str
) -> None:
    assert said in refusal(changed(OPENVINO_LOG, old, new))


def test_the_mean_of_perf_test_is_the_headline() -> None:
    (latency,) = read(ONNXRUNTIME_LOG).latencies

    assert (latency.value_ms, latency.statistic) == (pytest.approx(4.992), "mean")
    assert (latency.runtime, latency.runs, latency.threads) == ("onnxruntime", 1000, 4)
    assert latency.facts["p50_ms"] == "4.75"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("P50 Latency: 0.00475 s", "P50 Latency: 0.0095 s", "contradict each other"),
        ("P50 Latency: 0.00475 s", "P50 Latency: x s", "not a number"),
        (ONNXRUNTIME_LOG, ONNXRUNTIME_LOG * 2, "another run begins"),
    ],
)
def test_damaged_output_of_perf_test_is_refused(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(ONNXRUNTIME_LOG, old, new))
