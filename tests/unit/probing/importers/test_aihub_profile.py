from __future__ import annotations

import pytest

from tests.support.import_samples import AIHUB_PROFILE
from tests.support.importing import changed, read, refusal

RUNS = ',\n  "all_inference_times": [4205, 1650, 1701, 1699, 1688]'


def test_the_median_of_all_runs_is_the_headline() -> None:
    (latency,) = read(AIHUB_PROFILE).latencies

    assert latency.samples_ns == (4_205_000, 1_650_000, 1_701_000, 1_699_000, 1_688_000)
    assert latency.value_ms == pytest.approx(1.699)
    assert latency.statistic == "median"
    assert latency.facts["estimated_inference_time_ms"] == "1.65"
    assert latency.facts["layers_by_compute_unit"] == "CPU 1, NPU 2"


def test_layers_keep_their_unit() -> None:
    (latency,) = read(AIHUB_PROFILE).latencies

    assert [(o.name, o.op_type, o.unit, o.time_ms) for o in latency.operators] == [
        ("model/div", "MUL", "CPU", 0.023),
        ("model/conv", "CONV_2D", "NPU", 1.210),
        ("model/transpose", "TRANSPOSE", "NPU", 0.0),
    ]


def test_without_runs_the_summary_is_kept_as_stated() -> None:
    (latency,) = read(changed(AIHUB_PROFILE, RUNS, "")).latencies

    assert latency.value_ms == pytest.approx(1.65)
    assert latency.statistic == "as stated, statistic unknown"
    assert latency.samples_ns == ()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (": 1650,", ": -1650,", "estimated_inference_time is -1650, not a time above 0"),
        (": 1650,", ": 0,", "not a time above 0"),
        (": 1650,", ": NaN,", "not a number"),
        (": 1650,", ': "1.65 ms",', "not a number"),
        (": 1650,", ": 4000000000000,", "over an hour"),
        (": 1650,", ": 1650000,", "contradict"),
        ('"estimated_inference_time": 1650,', "", "estimated_inference_time is None"),
        ("1701", "null", "all_inference_times[2]: a time is None"),
        ("[4205, 1650, 1701, 1699, 1688]", "{}", "not a JSON array"),
        ('"execution_time": 23', '"execution_time": -23', "execution_detail[0]"),
        ('"execution_time": 23', '"execution_ms": 23', "execution_time is None"),
        ('"execution_detail": [', '"execution_detail": [7,', "a layer is 7, not a JSON object"),
        ('"warm_load_time"', '"first_load_time"', "'first_load_time' stands twice"),
        (" ]\n}\n", "", "cut short"),
        ('"execution_summary": {', '"execution_summary": 3, "other": {', "not a JSON object"),
    ],
)
def test_a_broken_profile_is_refused(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(AIHUB_PROFILE, old, new))
