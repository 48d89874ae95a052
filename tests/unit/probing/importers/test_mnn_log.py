"""Printed output of MNN's benchmark.out, MNNV2Basic.out and timeProfile.out."""

from __future__ import annotations

import pytest

from tests.support.importing import changed, line_of, read, refusal
from tests.support.printed_samples import MNN_BASIC, MNN_BENCHMARK, MNN_PROFILE


def test_networks_of_two_runs_with_their_threads() -> None:
    reading = read(MNN_BENCHMARK)

    assert [
        (latency.network, latency.value_ms, latency.threads, latency.facts["forward_type"])
        for latency in reading.latencies
    ] == [
        ("resnet-v2-50.mnn", 38.189, 4, "CPU"),
        ("MobileNetV2_224.mnn", 5.489, 4, "CPU"),
        ("MobileNetV2_224.mnn", 8.489, 1, "CPU"),
    ]
    first = reading.latencies[0]
    assert (first.runtime, first.statistic, first.runs) == ("mnn", "mean", 20)
    assert (first.precision, first.facts["precision"]) == (None, "low")
    assert "hint" in reading.notes[0]


def test_the_number_of_a_gpu_is_no_number_of_threads() -> None:
    on_gpu = MNN_BENCHMARK.replace("**CPU** thread=4", "**Vulkan** thread=68")
    first = read(on_gpu[: on_gpu.rindex("MNN benchmark")]).latencies[0]

    assert (first.threads, first.facts["forward_type"]) == (None, "Vulkan")


def test_operators_of_a_timed_run() -> None:
    (latency,) = read(MNN_BASIC).latencies

    assert (latency.network, latency.value_ms, latency.runs) == ("mobilenetv2-7.mnn", 5.25, 10)
    assert latency.profiled
    assert [(o.name, o.op_type, o.time_ms) for o in latency.operators] == [
        ("452", "BinaryOp", 0.0047),
        ("486", "Convolution", 0.461),
    ]


def test_a_line_without_a_header_names_no_network() -> None:
    (latency,) = read("Avg= 5.250000 ms, min= 3.863000 ms, max= 11.596001 ms\n").latencies

    assert (latency.network, latency.value_ms, latency.profiled) == ("", 5.25, False)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (changed(MNN_BENCHMARK, "avg =   38.189 ms", "avg = 8.189 ms"), 5, "contradict"),
        (changed(MNN_BENCHMARK, "avg =   38.189 ms", "avg =   38.1"), 5, "not complete"),
        (changed(MNN_BENCHMARK, "resnet-v2-50", "MobileNetV2_224"), 6, "stands twice"),
        (changed(MNN_BENCHMARK, "thread=1", "thread=4"), 10, "stands twice"),
        (changed(MNN_BENCHMARK, "CPU** thread=1", "OpenCL** thread=1"), 8, "runs on OpenCL"),
        (changed(MNN_BENCHMARK, "thread=4", "thread=0"), 2, "whole number"),
        (MNN_BENCHMARK.replace("=    5.489 ms", "=        0 ms"), 6, "above 0"),
    ],
)
def test_a_damaged_line_is_named(text: str, line: int, said: str) -> None:
    sentence = refusal(text)

    assert said in sentence
    assert line_of(sentence) == line


def test_the_sum_of_operators_is_said_to_be_one() -> None:
    reading = read(MNN_PROFILE)
    (latency,) = reading.latencies

    assert (latency.network, latency.value_ms, latency.threads) == ("mobilenetv2-7.mnn", 12.5, 2)
    assert (latency.statistic, latency.profiled) == ("as stated, statistic unknown", True)
    assert [(o.name, o.op_type, o.time_ms) for o in latency.operators] == [
        ("339", "BinaryOp", 0.5),
        ("Convolution96", "Convolution", 12.0),
    ]
    assert "sum of operators" in reading.notes[-1]


def test_a_profile_without_its_total_is_refused() -> None:
    assert "no result" in refusal(MNN_PROFILE[: MNN_PROFILE.index("total time")])
    assert "not complete" in refusal(MNN_PROFILE[: MNN_PROFILE.index(" ms, total")])
