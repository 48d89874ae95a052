from __future__ import annotations

import pytest

from tests.support.import_samples import NCNN_LOG
from tests.support.importing import changed, line_of, read, refusal

GPU = """[0 Adreno (TM) 630]  queueC=0[1]  queueG=0[1]  queueT=0[1]
[0 Adreno (TM) 630]  fp16-p/s/a=1/1/1  int8-p/s/a=1/1/1
loop_count = 4
num_threads = 1
powersave = 0
gpu_device = 0
cooling_down = 1
          squeezenet  min =    2.10  max =    2.20  avg =    2.15
"""


def test_the_minimum_is_the_headline() -> None:
    first, second, third = read(NCNN_LOG).latencies

    assert (first.network, first.value_ms, first.statistic) == ("squeezenet", 4.21, "minimum")
    assert (first.runtime, first.threads, first.runs, first.batch) == ("ncnn", 4, 8, 1)
    assert first.precision is None
    assert second.precision == "int8"
    assert third.facts["mean_ms"] == "1901.2"
    assert third.place == "line 10"


def test_a_gpu_run_is_another_runtime() -> None:
    (latency,) = read(GPU).latencies

    assert (latency.runtime, latency.facts["gpu_device"]) == ("ncnn-vulkan", "0")


def test_a_new_header_starts_a_new_run() -> None:
    file = read(NCNN_LOG + GPU)

    assert [one.runtime for one in file.latencies] == ["ncnn"] * 3 + ["ncnn-vulkan"]
    assert file.notes == ()


def test_rows_without_a_header_are_read_with_a_note() -> None:
    file = read("          squeezenet  min =    4.21  max =    4.36  avg =    4.27\n")

    assert file.latencies[0].threads is None
    assert file.latencies[0].runtime is None
    assert "not known" in file.notes[0]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("min =    4.92", "min =   -4.92", "min is '-4.92', not a time above 0"),
        ("min =    4.92", "min =    0.00", "not a time above 0"),
        ("min =    4.92", "min =     nan", "min is 'nan', not a number"),
        ("min =    4.92", "min =    4.92ms", "not a number"),
        ("min =    4.92", "min =  125.68/s", "not a number"),
        ("min =    4.92", "min = 4920.00", "contradict"),
        ("max =    5.23", "max =    0.01", "contradict"),
        ("max = 1912.86", "max = 1e30", "over an hour"),
        ("  avg =    5.04", "", "the row is not complete"),
        ("avg =    5.04", "avg =    5.04  p95", "'p95' follows the mean"),
        ("squeezenet_int8", "squeezenet", "stands twice, first on line 8"),
        ("num_threads = 4", "num_threads = four", "num_threads is 'four'"),
        ("loop_count = 8", "loop_count = 0", "loop_count is '0'"),
    ],
)
def test_a_broken_log_is_refused_whole(old: str, new: str, said: str) -> None:
    assert said in refusal(changed(NCNN_LOG, old, new))


def test_a_header_alone_is_no_measurement() -> None:
    assert "no line of a network" in refusal(NCNN_LOG[: NCNN_LOG.index("          squeezenet")])


def test_the_error_names_the_line() -> None:
    assert line_of(refusal(changed(NCNN_LOG, "4.92", "x"))) == 9
