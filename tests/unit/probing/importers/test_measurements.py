from __future__ import annotations

from datetime import UTC, datetime

import pytest

from predictor.core.errors import InputError
from predictor.core.records import Configuration, Precision
from predictor.probing.importers.measurements import resolve_configuration, to_measurement
from predictor.probing.importers.records import ImportedFile
from predictor.probing.operator_times import operator_times
from tests.support.import_samples import AIHUB_PROFILE as AIHUB
from tests.support.import_samples import ONNXRUNTIME_PROFILE as ONNXRUNTIME
from tests.support.import_samples import TRTEXEC_PROFILE, TRTEXEC_TIMES
from tests.support.importing import read

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
TABLE = "model,latency_ms,runtime,precision,threads,batch\nnet,5,ncnn,fp16,4,1\n"


def table() -> ImportedFile:
    return read(TABLE, "board.csv")


def test_a_record_keeps_value_samples_and_where_they_come_from() -> None:
    file = read(TRTEXEC_TIMES, "times.json")
    configuration = Configuration("tensorrt", Precision.FP16, 1, 1)

    record = to_measurement(file, file.latencies[0], "f" * 64, "rtx3090", configuration, NOW)

    assert record.value_ms == pytest.approx(3.75)
    assert record.samples_ns == (1_750_000, 4_750_000, 2_750_000, 3_750_000)
    assert (record.statistic, record.protocol) == ("median", "import/trtexec-times")
    assert record.configuration == configuration
    provenance = record.provenance.content
    assert (provenance["file"], provenance["place"]) == ("times.json", "line 2")
    assert provenance["sha256"] == file.sha256
    assert provenance["imported_at"] == "2026-05-04T12:00:00+00:00"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (ONNXRUNTIME, [["/stem/Conv", "Conv", 336_667], ["/stem/Relu", "Relu", 20_000]]),
        (AIHUB, None),
    ],
)
def test_times_of_nodes_are_kept_where_they_are_those_of_onnxruntime(
    content: str, expected: list[object] | None
) -> None:
    file = read(content)
    chosen = Configuration("unknown", Precision.FP32, 1, 1)
    record = to_measurement(file, file.latencies[0], "f", "d", chosen, NOW)
    assert file.latencies[0].operators
    assert record.provenance.content.get("operators") == expected
    assert len(operator_times(record.provenance)) == len(expected or ())


def test_two_records_have_two_ids() -> None:
    file = table()
    make = [
        to_measurement(
            file, file.latencies[0], "f", "d", Configuration(precision=Precision.FP16), NOW
        )
        for _ in range(2)
    ]

    assert make[0].id != make[1].id


def test_the_file_fills_what_the_target_leaves_open() -> None:
    file = table()
    chosen = Configuration("unknown", Precision.FP16, 0, 0)

    assert resolve_configuration(file, file.latencies[0], chosen) == Configuration(
        "ncnn", Precision.FP16, 4, 1
    )


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (
            Configuration("tflite", Precision.FP16, 4, 1),
            "runtime ncnn, the target has runtime tflite",
        ),
        (
            Configuration("ncnn", Precision.FP32, 4, 1),
            "precision fp16, the target has precision fp32",
        ),
        (Configuration("ncnn", Precision.FP16, 1, 1), "threads 4, the target has threads 1"),
        (Configuration("ncnn", Precision.FP16, 4, 8), "batch 1, the target has batch 8"),
    ],
)
def test_a_file_of_another_configuration_is_refused(chosen: Configuration, said: str) -> None:
    file = table()

    with pytest.raises(InputError) as caught:
        resolve_configuration(file, file.latencies[0], chosen)
    assert said in str(caught.value)
    assert "board.csv, line 2" in str(caught.value)


def test_times_of_layers_are_no_latency() -> None:
    file = read(TRTEXEC_PROFILE, "layers.json")

    with pytest.raises(InputError) as caught:
        to_measurement(file, file.latencies[0], "f", "d", Configuration("tensorrt"), NOW)
    assert "times of operators" in str(caught.value)
