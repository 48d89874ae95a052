"""Published tables of one form: what counts as a latency, of what, and why the rest does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctm_research.corpus.drafts import INTERVAL, NO_GRAPH, TAIL, left_out_reason
from ctm_research.sources import SOURCES, GraphFile, Sample, Statistic
from ctm_research.sources.stated import runtime_named
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Precision
from research.tests.data_folder import Cells, write_published

RATE: Cells = {"metric": "throughput_ips", "value": "80"}


def read(data: Path, folder: str = "x86") -> list[Sample]:
    return list(SOURCES[f"published_{folder}"].samples(data))


def reasons(data: Path, folder: str = "x86") -> list[str]:
    return [left_out_reason(sample) for sample in read(data, folder)]


def test_a_row_is_a_sample_with_the_graph_that_it_is_joined_to(tmp_path: Path) -> None:
    write_published(tmp_path, {"input_shape": "8x3x224x224", "batch": "8"}, {"model": "other"})

    sample, unjoined = read(tmp_path)

    assert sample.graph == GraphFile(tmp_path / "graphs/graphs.zip", "graphs/resnet18__224.onnx")
    assert (sample.batch_factor, sample.latency_ms) == (8, 12.5)
    assert sample.configuration == Configuration("onnxruntime", Precision.FP32, 4, 8)
    assert (sample.statistic, sample.device_id) == (Statistic.MEAN, "")
    assert (sample.device, sample.family) == ("some board, cpu", Family.CPU)
    assert sample.provenance == "someone/bench@1234567:README.md, 1.20"
    assert left_out_reason(unjoined) == NO_GRAPH


def test_a_rate_is_a_latency_only_where_one_run_at_a_time_is_stated(tmp_path: Path) -> None:
    write_published(
        tmp_path,
        {**RATE, "streams_or_instances": "1"},
        {**RATE, "streams_or_instances": "1", "batch": "8", "input_shape": "8x3x224x224"},
        {**RATE, "threads": "2"},
        {**RATE, "streams_or_instances": "14"},
    )

    one, batched, *_ = read(tmp_path)

    assert (one.latency_ms, one.statistic) == (12.5, Statistic.MEAN)
    assert batched.latency_ms == 100.0
    assert reasons(tmp_path) == ["", "", INTERVAL, INTERVAL]


def test_one_statistic_of_a_run_is_taken(tmp_path: Path) -> None:
    write_published(
        tmp_path,
        {"metric": "latency_min_ms"},
        {"metric": "latency_median_ms"},
        {"metric": "latency_p90_ms"},
        {"metric": "latency_p90_ms", "threads": "1"},
        {"metric": "latency_min_ms", "threads": "2"},
        {"metric": "latency_median_ms", "value": "12.75"},
    )

    taken = "another statistic of the same run is taken"
    assert reasons(tmp_path) == [taken, "", taken, TAIL, "", ""]


def test_threads_that_are_not_stated_are_not_known(tmp_path: Path) -> None:
    write_published(
        tmp_path,
        {"threads": ""},
        {"threads": "", "threads_likely": "4"},
        {"threads": "", "unit": "gpu"},
        {"threads": "", "source": "openvinotoolkit/openvino@12:a.csv", "runtime": "openvino"},
        {"note": "multi-threaded: as many threads as big cores (count filled from the SoC)"},
        {"threads": "2"},
        more={"threads_likely": ""},
    )

    assert [
        (s.configuration.threads, s.threads_stated, s.threads_likely) for s in read(tmp_path)
    ] == [(0, False, 0), (0, False, 4), (0, True, 0), (0, True, 0), (0, False, 4), (2, True, 0)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"precision": ""}, "the precision is not stated"),
        ({"precision": "fp32 (assumed: not stated in the file)"}, "the precision is not stated"),
        ({"precision": "w8a16"}, "a format of numbers, or a mixture"),
        ({"precision": "int8 sparse"}, "sparse or pruned"),
        ({"runtime": "deepsparse"}, "sparse or pruned"),
        ({"note": "INT8 QAT, sparse weights"}, "sparse or pruned"),
        ({"unit": "soc"}, "the unit that ran is not told apart"),
        ({"batch": ""}, "the batch is not stated"),
        ({"streams_or_instances": "4"}, "several runs at a time"),
        ({"note": "includes pre- and post-processing; line 3"}, "before and after the network"),
        ({"note": "submitter drops padding: at most 384"}, "padding is cut away"),
        ({"note": "v1.7; instances running at the same time not stated"}, "several runs"),
        ({"note": "README table, FPS without synchronise each call"}, "not waited for"),
        ({"provider_or_delegate": "little cores"}, "slower cores"),
        ({"source": "opencv/opencv_zoo@1:a.md"}, "before and after the network"),
        ({"source": "amd/RyzenAI-SW@1:a.md"}, "speaks against the figure: the processor"),
        (
            {
                "source": "openvinotoolkit/openvino@1:a.csv",
                "runtime_version": "2022.2",
                "device": "Intel Core i9-10920X",
            },
            "speaks against the figure: rows of the page are shifted",
        ),
        ({"scenario": "MultiStream"}, "a query of several samples"),
        ({"valid": "INVALID"}, "not a valid run"),
        ({"note": "DOUBTFUL: cells are shifted"}, "speaks against the figure: cells of the table"),
        ({"note": "AMBIGUOUS (several)"}, "speaks against the figure: several values"),
    ],
)
def test_a_row_that_is_not_used_says_why(tmp_path: Path, change: Cells, words: str) -> None:
    write_published(tmp_path, change, more={"scenario": "", "valid": ""})

    [reason] = reasons(tmp_path)

    assert words in reason


def test_a_table_of_two_folders_is_read_from_one(tmp_path: Path) -> None:
    classifiers = {"source": "PaddlePaddle/PaddleClas@12:README.md"}
    write_published(tmp_path, classifiers, folder="mobile")
    write_published(tmp_path, classifiers, folder="gpu")

    assert reasons(tmp_path, "mobile") == ["the same table is read from published_gpu"]
    assert reasons(tmp_path, "gpu") == [""]


def test_threads_on_slower_cores_say_on_which(tmp_path: Path) -> None:
    cores = ("1large", "1large3med", "3med", "1large1med", "4small", "3med4small", "")
    write_published(tmp_path, *({"provider_or_delegate": f"cores={c}" if c else ""} for c in cores))

    mixed = "run on slower cores before all of the faster ones, which a configuration cannot say"
    assert reasons(tmp_path) == ["", "", "", "", "", mixed, ""]
    assert [sample.cluster for sample in read(tmp_path)] == [0, 0, 1, 0, 2, 0, 0]


def test_an_accelerator_runs_on_all_its_cores(tmp_path: Path) -> None:
    cores = {"unit": "npu", "threads": ""}
    write_published(
        tmp_path,
        {**cores, "provider_or_delegate": "NPU cores=1"},
        {**cores, "provider_or_delegate": "NPU cores=3"},
        {**cores, "provider_or_delegate": "NPU cores=1", "device": "another"},
    )

    part, whole, single = reasons(tmp_path)

    assert "part of the accelerator's cores" in part
    assert (whole, single) == ("", "")


def test_a_kind_of_unit_is_known_of_a_device_that_the_catalogue_lacks(tmp_path: Path) -> None:
    write_published(
        tmp_path, {}, {"unit": "gpu"}, {"unit": "dsp"}, {"unit": "fpga"}, folder="mobile"
    )

    assert [s.family for s in read(tmp_path, "mobile")] == [
        *(Family.MOBILE_CPU, Family.MOBILE_GPU, Family.NPU, Family.FPGA),
    ]


@pytest.mark.parametrize(
    ("stated", "provider", "unit", "name"),
    [
        ("tflite", "armnn", "cpu", "armnn"),
        ("tflite", "xnnpack", "cpu", "tflite"),
        ("torch7", "nn", "gpu", "torch7-nn"),
        ("torch7", "cuDNN 5.0.05", "gpu", "torch7"),
        ("ncnn", "", "gpu", "ncnn-vulkan"),
        ("paddle-inference", "TensorRT", "gpu", "paddle-tensorrt"),
        ("onnxruntime", "TensorrtExecutionProvider", "gpu", "onnxruntime-tensorrt"),
        ("Qualcomm Neural Processing SDK v1.65.0", "", "npu", "snpe"),
        ("hobot_dnn (hrt_model_exec perf)", "BPU", "npu", "hobot-dnn"),
        ("FasterTransformer", "C++", "gpu", "fastertransformer"),
        ("", "", "cpu", "unknown"),
    ],
)
def test_a_stated_runtime_has_our_name(stated: str, provider: str, unit: str, name: str) -> None:
    assert runtime_named(stated, provider, unit) == name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": "fps"}, "metric is 'fps', not one of latency_median_ms"),
        ({"unit": "tpu"}, "unit is 'tpu', not one of cpu, gpu"),
        ({"value": "fast"}, "value is 'fast', not a number above 0"),
        ({"batch": "0"}, "batch is '0', not a whole number above 0"),
    ],
)
def test_a_wrong_cell_is_refused(tmp_path: Path, change: Cells, words: str) -> None:
    write_published(tmp_path, {}, change)

    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path)

    assert caught.value.subject.endswith("latencies.csv.gz, line 3")


@pytest.mark.parametrize(
    ("change", "precision"),
    [
        ({"precision": "uint8"}, Precision.INT8),
        ({"precision": "tf32", "unit": "gpu"}, Precision.FP32),
        ({"precision": "int8+fp16", "unit": "gpu"}, Precision.INT8),
        ({"precision": "fp16", "runtime": "tflite"}, Precision.FP32),
        ({"precision": "fp16", "runtime": "tflite", "unit": "gpu"}, Precision.FP16),
        ({"precision": "fp16", "runtime": "mnn"}, Precision.FP16),
    ],
)
def test_a_precision_is_the_one_that_ran(
    tmp_path: Path, change: Cells, precision: Precision
) -> None:
    write_published(tmp_path, change)

    [sample] = read(tmp_path)

    assert (sample.configuration.precision, sample.excluded) == (precision, "")
