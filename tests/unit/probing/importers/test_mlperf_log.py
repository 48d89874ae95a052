from __future__ import annotations

import pytest

from tests.support.import_samples import MLPERF_LOG, mlperf_record
from tests.support.importing import changed, line_of, read, refusal

MEDIAN = mlperf_record("result_50.00_percentile_latency_ns", 24_900_000)
MEAN = mlperf_record("result_mean_latency_ns", 25_000_000)


def test_the_median_of_a_single_stream_run() -> None:
    (latency,) = read(MLPERF_LOG).latencies

    assert latency.value_ms == pytest.approx(24.9)
    assert (latency.statistic, latency.runs, latency.batch) == ("median", 2048, 1)
    assert latency.facts["result_90.00_percentile_latency_ms"] == "25.2186"
    assert latency.place == "line 11"


def test_without_a_median_the_mean_is_taken_then_the_minimum() -> None:
    without = changed(MLPERF_LOG, MEDIAN, "")

    assert read(without).latencies[0].statistic == "mean"
    assert read(changed(without, MEAN, "")).latencies[0].statistic == "minimum"


def test_an_invalid_run_is_read_and_says_so() -> None:
    invalid = changed(MLPERF_LOG, '"VALID"', '"INVALID"') + mlperf_record(
        "result_invalid_reason", "The test exited early. "
    )

    assert read(invalid).notes == ("LoadGen marks the run as INVALID: The test exited early.",)


def test_other_lines_of_the_log_are_passed_over() -> None:
    assert read("Detected a warning\n" + MLPERF_LOG).latencies[0].place == "line 12"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("24900000", "-24900000", "not a time above 0"),
        ("24900000", "0", "not a time above 0"),
        ("24900000", "NaN", "not a number"),
        ("24900000", '"24.9 ms"', "not a number"),
        ("24900000", "24.9", "contradict"),
        ("24900000", "9900000000000000", "over an hour"),
        ("2048", "0", "result_query_count is 0"),
        ('"effective_scenario", "value": "SingleStream"',
         '"effective_scenario", "value": "Server"', "the scenario is Server"),
        ('"effective_test_mode", "value": "PerformanceOnly"',
         '"effective_test_mode", "value": "AccuracyOnly"', "measured accuracy"),
        (MEDIAN, MEDIAN + MEDIAN, "stands twice, first on line 11"),
        (MEDIAN, MEDIAN[:60] + "\n", "cut short"),
        (MEDIAN, ":::MLLOG 3\n", "the record is 3, not a JSON object"),
        (MLPERF_LOG[MLPERF_LOG.index(':::MLLOG {"key": "result_min') :], "", "holds no result"),
    ],
)  # fmt: skip
def test_a_broken_log_is_refused(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(MLPERF_LOG, old, new))


@pytest.mark.parametrize("last", ["result_min_latency", "result_max_latency", "result_mean"])
def test_a_log_that_ends_too_soon_is_refused(last: str) -> None:
    lines = MLPERF_LOG.splitlines(keepends=True)
    end = next(i for i, line in enumerate(lines) if last in line)

    assert "ends before the percentiles" in refusal("".join(lines[: end + 1]))


def test_percentiles_alone_are_no_headline() -> None:
    kept = [line for line in MLPERF_LOG.splitlines(keepends=True) if "min_" not in line]
    bare = "".join(kept).replace(MEDIAN, "").replace(MEAN, "")

    assert "neither result_50.00_percentile_latency_ns nor a mean" in refusal(bare)


def test_the_error_names_the_line() -> None:
    assert line_of(refusal(changed(MLPERF_LOG, "25218600", "false"))) == 12
