"""Benchmark tables of Ultralytics."""

from __future__ import annotations

import pytest

from tests.support.importing import changed, read, refusal
from tests.support.printed_samples import ULTRALYTICS, ULTRALYTICS_PANDAS


def test_a_row_is_a_runtime() -> None:
    reading = read(ULTRALYTICS)

    assert [(latency.runtime, latency.value_ms) for latency in reading.latencies] == [
        ("pytorch", 400.25),
        ("onnxruntime", 200.5),
        ("ncnn", 80.25),
    ]
    first = reading.latencies[0]
    assert (first.network, first.statistic, first.batch) == ("runs/yolo11n.pt", "mean", 1)
    assert "without pre- and postprocessing" in reading.notes[0]
    assert "TorchScript" in reading.notes[1]


def test_tables_of_pandas_in_turn_with_and_without_signs() -> None:
    assert [
        (latency.network, latency.runtime, latency.value_ms)
        for latency in read(ULTRALYTICS_PANDAS).latencies
    ] == [
        ("yolov8n.pt", "pytorch", 102.97),
        ("yolov8n.pt", "onnxruntime", 28.25),
        ("yolov8n.pt", "tensorflow", 90.5),
        ("yolov8s.pt", "onnxruntime", 65.75),
    ]


def test_the_table_alone_names_no_network() -> None:
    table = ULTRALYTICS_PANDAS.split("\n\n", 1)[0].split("\n", 2)[2]

    assert {latency.network for latency in read(table).latencies} == {""}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (changed(ULTRALYTICS, "200.5 ", "20.05 "), "contradict each other"),
        (changed(ULTRALYTICS, "200.5 ", "x "), "not complete"),
        (changed(ULTRALYTICS_PANDAS, "               28.25", ""), "not complete"),
        (changed(ULTRALYTICS_PANDAS, "28.25", "-28.25"), "above 0"),
        (ULTRALYTICS * 2, "ran in PyTorch before"),
        (ULTRALYTICS_PANDAS.replace("yolov8s", "yolov8n"), "ran in ONNX before"),
        (ULTRALYTICS[: ULTRALYTICS.index("| 1 ")], "no format in it ran"),
    ],
)
def test_tables_that_are_damaged_are_refused(text: str, said: str) -> None:
    assert said in refusal(text)
