"""Printed output of RKNN's toolkits and rknn_benchmark."""

from __future__ import annotations

import pytest

from tests.support.importing import changed, read, refusal
from tests.support.printed_samples import (
    RKNN_BENCHMARK,
    RKNN_LAYERS,
    RKNN_OLD_LAYERS,
    RKNN_TOTAL,
)


def test_a_table_of_layers_is_a_profile() -> None:
    reading = read(RKNN_LAYERS)
    (latency,) = reading.latencies

    assert (latency.network, latency.value_ms, latency.profiled) == ("", 1.0, True)
    assert (latency.runtime, latency.precision) == ("rknn", "int8")
    assert latency.statistic == "as stated, statistic unknown"
    assert [(o.name, o.op_type, o.time_ms, o.unit) for o in latency.operators[1:3]] == [
        ("/stem/Conv", "ConvRelu", 0.71, "NPU"),
        ("/head/Conv", "Conv", 0.24, "NPU"),
    ]
    assert "rknn_benchmark time whole runs" in reading.notes[0]


def test_columns_of_cycles_were_three_before() -> None:
    (latency,) = read(RKNN_OLD_LAYERS).latencies

    assert latency.value_ms == 0.435
    assert [operator.time_ms for operator in latency.operators] == [0.007, 0.428]


@pytest.mark.parametrize(
    "head", ["D RKNN: [05:07:06.566] ", "2024-05-01 10:00:00.123 ", "\x1b[32m"]
)
def test_heads_of_loggers_and_colours_are_left_out(head: str) -> None:
    logged = "".join(f"{head}{line}\x1b[0m\r\n" for line in RKNN_LAYERS.splitlines())

    assert read(logged).latencies == read(RKNN_LAYERS).latencies


def test_the_total_of_whole_runs_is_as_stated() -> None:
    reading = read(RKNN_TOTAL)
    (latency,) = reading.latencies

    assert (latency.value_ms, latency.statistic) == (6.25, "as stated, statistic unknown")
    assert (latency.profiled, latency.precision, reading.notes) == (False, None, ())


def test_runs_of_rknn_benchmark_after_the_warm_up() -> None:
    (latency,) = read(RKNN_BENCHMARK).latencies

    assert (latency.value_ms, latency.statistic, latency.runs) == (2.62, "median", 3)
    assert latency.samples_ns == (2_620_000, 2_600_000, 2_710_000)
    assert latency.facts == {"mean_ms": "2.64"}


def test_a_benchmark_with_the_layers_after_it_is_of_whole_runs() -> None:
    (latency,) = read(RKNN_BENCHMARK + RKNN_LAYERS).latencies

    assert (latency.value_ms, latency.profiled, len(latency.operators)) == (2.62, False, 4)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RKNN_TOTAL * 2, "another run begins"),
        (RKNN_BENCHMARK * 2, "another run begins"),
        (changed(RKNN_TOTAL, "6250", "x"), "not a number"),
        (changed(RKNN_LAYERS, "Time(us) ", "Time(ns) "), "no column Time(us)"),
        (changed(RKNN_LAYERS, "8.40/0.00/0.00       100.0%/0.0%/0.0%     20 ", ""), "cut short"),
        (RKNN_BENCHMARK[: RKNN_BENCHMARK.index("Avg")], "ends before its closing time"),
    ],
)
def test_output_without_one_time_is_refused(text: str, said: str) -> None:
    assert said in refusal(text)
