"""The printed output of benchmark_app, onnxruntime_perf_test, hailortcli and perf_analyzer."""

from __future__ import annotations

import pytest

from tests.support.import_samples import (
    HAILO_LOG,
    ONNXRUNTIME_LOG,
    OPENVINO_LOG,
    PERF_ANALYZER_LOG,
)
from tests.support.importing import changed, read, refusal
from tests.support.printed_samples import OPENVINO_REPORT, OPENVINO_TABLE


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
        ("1 inference requests", f"{'9' * 5000} inference requests", "not a number"),
        ("   Median:        2.25 ms", "   Centre:        2.25 ms", "it has no median"),
        ("Median:        2.25 ms", "Median:        1.25 ms", "contradict each other"),
        (OPENVINO_LOG, OPENVINO_LOG * 2, "another run begins"),
    ],
)
def test_a_run_of_benchmark_app_that_is_no_latency_is_refused(
    old: str, new: str, said: str
) -> None:
    assert said in refusal(changed(OPENVINO_LOG, old, new))


@pytest.mark.parametrize("text", [OPENVINO_REPORT, OPENVINO_TABLE])
def test_the_report_of_benchmark_app_as_json_and_as_table(text: str) -> None:
    (latency,) = read(text).latencies

    assert (latency.network, latency.value_ms, latency.statistic) == ("", 2.25, "median")
    assert (latency.runtime, latency.runs, latency.batch) == ("openvino", 200, 1)
    assert latency.facts["topology"] == "resnet50"


def test_another_percentile_is_no_median() -> None:
    other = changed(OPENVINO_REPORT, '"percentile_boundary": 50', '"percentile_boundary": 90')
    (latency,) = read(other).latencies

    assert (latency.value_ms, latency.statistic) == (2.5, "mean")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (changed(OPENVINO_REPORT, '"nireq": 1', '"nireq": 4'), "4 requests ran at once"),
        (changed(OPENVINO_REPORT, '"nireq": 1,', ""), "nireq is None, not a number"),
        (changed(OPENVINO_TABLE, "requests;1", "requests;12"), "12 requests ran at once"),
        (changed(OPENVINO_REPORT, "2.25", "1.25"), "contradict each other"),
        (changed(OPENVINO_TABLE, "Average latency", "Median latency"), "stands twice"),
        (OPENVINO_TABLE[: OPENVINO_TABLE.index("Median")], "it has no latency"),
    ],
)
def test_a_report_that_is_no_latency_is_refused(text: str, said: str) -> None:
    assert said in refusal(text)


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


def test_the_latency_of_hailortcli_is_that_of_its_network_on_the_chip() -> None:
    reading = read(HAILO_LOG)
    (latency,) = reading.latencies

    assert (latency.network, latency.value_ms, latency.statistic) == (
        "yolov5m_wo_spp",
        12.8354,
        "mean",
    )
    assert latency.runtime == "hailort"
    assert latency.facts == {"fps_hw_only": "218.106", "fps_streaming": "218.078"}
    assert "way through the host" in reading.notes[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Latency (hw)                      = 12.8354 ms\n", "", "it has no latency"),
        ("= 12.8354 ms", "= x ms", "not a number"),
        (HAILO_LOG, HAILO_LOG * 2, "another run begins"),
        (
            "Network yolov5m_wo_spp/yolov5m_wo_spp: 100% | 699",
            "Network b/b: 100% | 699",
            "2 networks",
        ),
    ],
)
def test_output_of_hailortcli_without_one_latency_is_refused(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(HAILO_LOG, old, new))


def test_perf_analyzer_counts_where_requests_run_one_at_a_time() -> None:
    (latency,) = read(PERF_ANALYZER_LOG).latencies

    assert (latency.network, latency.value_ms, latency.statistic) == ("", 13.936, "median")
    assert (latency.runs, latency.batch) == (348, 1)
    assert latency.facts["p99_ms"] == "21.859"


def test_perf_analyzer_without_percentiles_has_a_mean() -> None:
    mean = changed(PERF_ANALYZER_LOG, "p50 latency: 13936 usec", "Avg latency: 13990 usec (x)")
    (latency,) = read(mean).latencies

    assert (latency.value_ms, latency.statistic) == (13.99, "mean")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Request concurrency: 1\n", "Request concurrency: 4\n", "one request at a time"),
        ("Request concurrency: 1\n", f"Request concurrency: {'9' * 5000}\n", "not a number"),
        ("p50 latency: 13936", "p50 latency: 19936", "contradict each other"),
        (PERF_ANALYZER_LOG, PERF_ANALYZER_LOG * 2, "another run begins"),
    ],
)
def test_output_of_perf_analyzer_that_is_no_latency_is_refused(
    old: str, new: str, said: str
) -> None:
    assert said in refusal(changed(PERF_ANALYZER_LOG, old, new))
