from __future__ import annotations

import pytest

from tests.support.import_samples import TRTEXEC_OLD, TRTEXEC_PROFILE, TRTEXEC_TIMES, trtexec_query
from tests.support.importing import changed, line_of, read, refusal


def test_older_exports_are_read_without_their_warm_up() -> None:
    (latency,) = read(TRTEXEC_OLD).latencies

    assert latency.samples_ns == (2_750_000, 3_250_000, 3_000_000)
    assert latency.value_ms == pytest.approx(3.0)
    assert latency.facts["warm_ups_left_out"] == "1"
    assert latency.facts["gpu_compute_median_ms"] == "2.25"
    assert (latency.runtime, latency.statistic) == ("tensorrt", "median")


def test_newer_exports_hold_no_warm_up_and_no_end_to_end() -> None:
    (latency,) = read(TRTEXEC_TIMES).latencies

    # sorted: 1.75 2.75 3.75 4.75; sorted[4 // 2]
    assert latency.value_ms == pytest.approx(3.75)
    assert latency.runs == 4


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"latencyMs" : 2.75', '"latencyMs" : -2.75', "latencyMs is -2.75, not a time above 0"),
        ('"latencyMs" : 2.75', '"latencyMs" : 0', "not a time above 0"),
        ('"latencyMs" : 2.75', '"latencyMs" : NaN', "not a number"),
        ('"latencyMs" : 2.75', '"latencyMs" : 2750000000', "over an hour"),
        ('"latencyMs" : 2.75', '"latencyUs" : 2750', "latencyMs is None"),
        ('"computeMs" : 2,', '"computeMs" : 2000,', "contradict"),
        ('"startComputeMs" : 300.25', '"startComputeMs" : "x"', "startComputeMs is 'x'"),
        ('"startH2dMs" : 308', '"startH2dMs" : 301', "another run starts here"),
        ("\n]\n", "", "cut short"),
        (" }\n, {", " }\n {", "a comma is missing"),
        ('"h2dMs" : 0.25', '"h2dMs" : 0.25, "h2dMs" : 1', "stands twice"),
        ("[\n", "[\n 1,", "a query is 1, not a JSON object"),
    ],
)
def test_broken_times_are_refused(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(TRTEXEC_OLD, old, new))


def test_the_error_names_the_line() -> None:
    assert line_of(refusal(changed(TRTEXEC_OLD, '"latencyMs" : 3.25', '"latencyMs" : true'))) == 4


def test_warm_ups_alone_are_no_measurement() -> None:
    early = "[\n  " + trtexec_query(3.0, 0.25, 2.0, 0.5, end_to_end=True) + "\n]\n"

    assert "belong to the warm-up" in refusal(early)


def test_a_profile_tells_layers_and_no_latency() -> None:
    file = read(TRTEXEC_PROFILE)
    (latency,) = file.latencies

    assert latency.value_ms is None
    assert latency.statistic is None
    assert latency.runs == 50
    assert [(o.name, o.time_ms) for o in latency.operators] == [
        ("conv1/7x7_s2 + conv1/relu_7x7", 1.1),
        ("Reformatting CopyNode for Input Tensor 0", 0.0),
        ("pool1/3x3_s2", 0.7),
    ]
    assert "--exportTimes" in file.notes[0]


def test_older_profiles_have_means_alone() -> None:
    old = TRTEXEC_PROFILE.replace('"medianMs" : 1.1, ', "").replace('"medianMs" : 0.7, ', "")

    assert [o.time_ms for o in read(old).latencies[0].operators] == [1.2, 0.0, 0.8]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"count" : 50', '"count" : 0', "count is 0"),
        ('"count" : 50', '"count" : 2.5', "not a whole number"),
        ('"count" : 50', '"count" : 5000000000', "not a whole number"),
        ('"medianMs" : 1.1', '"medianMs" : -1.1', "not a time above 0"),
        ('"medianMs" : 1.1', '"medianMs" : Infinity', "not a number"),
        ('"averageMs" : 1.2', '"averageMs" : 1200', "contradict"),
        ('"percentage" : 60', '"percentage" : 6', "46 %, not 100 %"),
        ('"name" : "pool1/3x3_s2"', '"name" : 7', "the layer has no name"),
        (', { "name" : "pool1', ', { "count" : 3 }\n, { "name" : "pool1', "a second count"),
        ("]\n", "", "cut short"),
        ('"timeMs" : 40', '"timeMs" : 4O', "no valid JSON"),
    ],
)
def test_a_broken_profile_is_refused(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(TRTEXEC_PROFILE, old, new))
