"""The sources of measurements: which target a row is about, and which rows are no latency of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctm_research.sources import (
    SOURCES,
    GraphFile,
    Sample,
    Statistic,
)
from ctm_research.sources.aliases import alias_files
from ctm_research.sources.tables import read_rows
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Precision
from predictor.services.devices.catalogue import load_catalogue
from research.tests.data_folder import (
    convolution,
    write_graph_set,
    write_ncnn,
    write_neusight,
    write_table,
    write_timm,
)

# Ids of the catalogue by device and unit as stated, by source.
ALIASED: dict[str, dict[tuple[str, str], str]] = {
    name: {
        (row["device"], row["unit"]): row["device_id"]
        for path in alias_files(name)
        for row in read_rows(path, ("device", "unit", "device_id"))
    }
    for name in ("ncnn", "mlperf_inference_v05")
}
RESNET = "resnet18__224x224.onnx"
MOBILENET = "mobilenet_v2_1.0__224x224.onnx"


def write_graphs(data: Path, *names: str) -> None:
    write_graph_set(data, {name: convolution() for name in names})


def graph_of(data: Path, name: str) -> GraphFile:
    return GraphFile(data / "graphs/graphs.zip", f"graphs/{name}")


def rows(source: str, data: Path) -> list[Sample]:
    return list(SOURCES[source].samples(data))


def one(source: str, data: Path) -> Sample:
    (sample,) = rows(source, data)
    return sample


def test_a_run_on_a_gpu_is_never_that_of_the_processor_beside_it() -> None:
    known = load_catalogue().by_id
    ids = {
        **{key: key[1] == "vulkan" for key in ALIASED["ncnn"]},
        **{
            key: key[0].endswith("-opencl")
            for key in ALIASED["mlperf_inference_v05"]
            if key[0].endswith(("-opencl", "-neon"))
        },
    }
    devices = {**ALIASED["ncnn"], **ALIASED["mlperf_inference_v05"]}

    wrong = [
        key
        for key, on_gpu in ids.items()
        if devices[key]
        and (known[devices[key]].family in {Family.GPU, Family.MOBILE_GPU}) != on_gpu
    ]

    assert wrong == []


def test_ncnn_takes_the_fastest_of_a_run_with_its_threads(tmp_path: Path) -> None:
    write_ncnn(tmp_path, {})

    sample = one("ncnn", tmp_path)

    assert sample.device_id == "rpi5"
    assert sample.configuration == Configuration("ncnn", Precision.FP32, threads=4, batch=1)
    assert (sample.latency_ms, sample.statistic) == (50.0, Statistic.MINIMUM)
    assert sample.graph == GraphFile(tmp_path / "ncnn/graphs/resnet50.onnx")
    assert (sample.line, sample.excluded, sample.doubt) == (2, "", "")


def test_ncnn_on_a_gpu_has_no_threads(tmp_path: Path) -> None:
    write_ncnn(tmp_path, {"device_id": "rtx3090", "backend": "vulkan", "num_threads": 10})

    assert one("ncnn", tmp_path).configuration == Configuration("ncnn-vulkan", batch=1)


def test_ncnn_rows_that_are_not_of_their_target_say_why(tmp_path: Path) -> None:
    write_ncnn(
        tmp_path,
        {"backend": "vulkan", "model": "resnet50_int8", "flags": "int8_on_cpu"},
        {"powersave": 1},
        {"model": "resnet50_int8"},
        {"model": "forgotten", "device_id": "unheard_of"},
    )

    on_gpu, little, int8, forgotten = rows("ncnn", tmp_path)

    assert "the processor did the work" in on_gpu.excluded
    assert "little cores" in little.excluded
    assert (int8.configuration.precision, int8.excluded) == (Precision.INT8, "")
    assert (forgotten.graph, forgotten.device_id) == (None, "")


def test_times_from_where_a_gpu_stopped_on_are_doubted(tmp_path: Path) -> None:
    write_ncnn(
        tmp_path,
        {"run_id": "s029_r1", "src_line": 2896},
        {"run_id": "s029_r1", "src_line": 2897},
        {"run_id": "s030_r1", "src_line": 2897},
    )

    assert [bool(sample.doubt) for sample in rows("ncnn", tmp_path)] == [False, True, False]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": "unheard_of"}, "model is 'unheard_of', not a network of models.csv"),
        ({"backend": "tpu"}, "backend is 'tpu', not cpu or vulkan"),
        ({"min_ms": "nan"}, "min_ms is 'nan', not a number above 0"),
    ],
)
def test_a_wrong_cell_of_ncnn_is_refused(
    tmp_path: Path, change: dict[str, object], words: str
) -> None:
    write_ncnn(tmp_path, {}, change)

    with pytest.raises(InputError, match=words) as caught:
        rows("ncnn", tmp_path)

    assert caught.value.subject.endswith("latencies.csv, line 3")


def test_timm_times_a_whole_batch(tmp_path: Path) -> None:
    write_timm(tmp_path, {}, {"compiled": "yes", "precision": "bf16"})

    eager, compiled = rows("timm", tmp_path)

    assert eager.device_id == "rtx3090"
    assert eager.configuration == Configuration("pytorch", Precision.AMP_FP16, 0, 256)
    assert (eager.batch_factor, eager.latency_ms) == (256, 90.0)
    assert eager.graph == GraphFile(tmp_path / "timm/graphs.zip", "graphs/resnet18__224.onnx")
    assert compiled.configuration == Configuration("pytorch-compiled", Precision.BF16, 0, 256)


def test_timm_rows_of_another_graph_are_told_apart(tmp_path: Path) -> None:
    write_timm(tmp_path, {"graph_variant": "reparam"}, {"flag": "macs_low;graph_params_differ"})

    other, changed = rows("timm", tmp_path)

    assert other.graph is None
    assert changed.flags == ("macs_low", "graph_params_differ")
    assert "changed after it was measured" in changed.excluded


def test_neusight_has_one_file_a_batch(tmp_path: Path) -> None:
    write_neusight(tmp_path, {}, {"batch": 16}, {"mode": "train"}, {"fused": "True"}, {"n_gpus": 4})

    whole, other, training, fused, several = rows("neusight", tmp_path)

    assert whole.graph == GraphFile(tmp_path / "neusight/graphs/bert-512-8.onnx")
    assert (whole.batch_factor, whole.configuration.batch) == (1, 8)
    assert whole.statistic is Statistic.MEAN_OF_FASTEST
    assert other.graph is None
    assert training.excluded == "forward and backward pass"
    assert fused.configuration.runtime == "pytorch-compiled"
    assert several.excluded == "several GPUs at once"


AIHUB_ROW = {
    "model_id": "resnet18",
    "component": "ResNet18",
    "precision": "float",
    "device": "Samsung Galaxy S24",
    "runtime": "qnn_dlc",
    "inference_time_ms": 0.9,
    "primary_compute_unit": "NPU",
    "layers_gpu": 0,
    "layers_cpu": 2,
    "qairt_version": "2.4",
    "job_id": "j1",
    "mirror_of": "",
}


def test_aihub_runs_float_networks_in_halves_on_the_npu(tmp_path: Path) -> None:
    write_graphs(tmp_path, RESNET)
    changes = [
        {},
        {"precision": "w8a8", "runtime": "onnx"},
        {"precision": "w8a16"},
        {"mirror_of": "SA7255P ADP"},
        {"primary_compute_unit": "CPU"},
        {"model_id": "trocr"},
    ]
    write_table(tmp_path / "aihub/latencies.csv", *({**AIHUB_ROW, **c} for c in changes))

    half, int8, mixed, copied, on_cpu, unjoined = rows("aihub", tmp_path)

    assert half.configuration == Configuration("qnn", Precision.FP16, 0, 1)
    assert half.graph == graph_of(tmp_path, RESNET)
    assert half.flags == ("layers on the cpu",)
    assert int8.configuration == Configuration("onnxruntime", Precision.INT8, 0, 1)
    assert [bool(s.excluded) for s in (half, int8, mixed, copied, on_cpu)] == [0, 0, 1, 1, 1]
    assert unjoined.graph is None


def test_frame_rates_are_latencies_where_one_frame_follows_the_other(tmp_path: Path) -> None:
    write_timm(tmp_path, {})
    write_graphs(tmp_path, MOBILENET)
    frame = {
        "chip": "HAILO8",
        "task": "classification",
        "model": "resnet_v1_18",
        "input_resolution_hwc": "224x224x3",
        "fps_batch1": 2000,
        "dfc_version": "3",
    }
    other_size = {**frame, "input_resolution_hwc": "320x320x3"}
    write_table(tmp_path / "hailo/latencies.csv", frame, other_size, {**frame, "fps_batch1": ""})
    npu = {
        "model": "mobilenetv2-12",
        "input_shape": "[1, 3, 224, 224]",
        "dtype": "INT8",
        "platform": "RK3588",
        "npu_cores_used": "1 of several",
        "ms": 2.2,
        "note": "",
    }
    write_table(tmp_path / "rknn/latencies.csv", npu, {**npu, "ms": ""})

    joined, larger = rows("hailo", tmp_path)
    rockchip = one("rknn", tmp_path)

    assert (joined.latency_ms, joined.statistic) == (0.5, Statistic.INTERVAL)
    assert not joined.statistic.is_latency
    assert joined.graph is not None
    assert larger.graph is None
    assert rockchip.configuration == Configuration("rknn", Precision.INT8, 0, 1)
    assert (rockchip.graph is not None, rockchip.statistic) == (True, Statistic.MEAN)


def test_coral_rows_are_of_the_accelerator_or_of_its_host(tmp_path: Path) -> None:
    write_graphs(tmp_path, "mobilenet_v1_1.0__224x224.onnx")
    row = {
        "device": "Raspberry Pi 4 B + Coral USB",
        "link": "USB 3.0",
        "runs_on": "edgetpu",
        "test": "basic_engine",
        "model": "mobilenet_v1_1.0_224_quant",
        "input_hw": "224x224",
        "ms": 2.4,
    }
    write_table(
        tmp_path / "coral_edgetpu/latencies.csv",
        row,
        {**row, "runs_on": "cpu"},
        {**row, "test": "classification"},
    )

    stick, host, with_images = rows("coral_edgetpu", tmp_path)

    assert [s.device_id for s in (stick, host)] == ["coral-usb-accelerator", "rpi4"]
    assert stick.graph == graph_of(tmp_path, "mobilenet_v1_1.0__224x224.onnx")
    assert not host.threads_stated
    assert with_images.excluded


def test_a_run_of_an_alveo_u50_carries_three_images(tmp_path: Path) -> None:
    write_timm(tmp_path, {})
    row = {
        "release": "Vitis AI 1.1",
        "board": "Alveo U50",
        "dpu": "6 DPUv3E kernels",
        "full_name": "cf_resnet18_imagenet_224_224_3.65G",
        "e2e_latency_ms_1thread": 5.0,
    }
    write_table(tmp_path / "xilinx_dpu/latencies.csv", row, {**row, "board": "ZCU104"})

    card, board = rows("xilinx_dpu", tmp_path)

    assert (card.batch_factor, card.configuration.batch) == (3, 3)
    assert (board.batch_factor, board.device_id) == (1, "zcu104-dpu")


def test_mlperf_takes_the_median_of_what_is_stated_well(tmp_path: Path) -> None:
    write_graphs(tmp_path, MOBILENET)
    row = {
        "division": "open",
        "submitter": "dividiti",
        "system": "rpi4-tflite-v1.15",
        "benchmark": "mobilenet-v2-1.0-224",
        "run": "run_1",
        "weight_dtype_stated": "uint8",
        "p50_ms": 80.0,
        "valid": "VALID",
    }
    write_table(
        tmp_path / "mlperf_inference_v05/latencies.csv",
        row,
        {**row, "weight_dtype_stated": "We transform the original fp32 weight to int8 weight."},
        {**row, "weight_dtype_stated": ""},
        {**row, "valid": "INVALID"},
        {**row, "system": "clx-9282-2s"},
    )

    pi, worded, unsaid, invalid, server = rows("mlperf_inference_v05", tmp_path)

    assert pi.configuration == Configuration("tflite", Precision.INT8, 0, 1)
    assert (pi.device_id, pi.latency_ms, pi.statistic) == ("rpi4", 80.0, Statistic.MEDIAN)
    assert worded.configuration.precision is Precision.INT8
    assert [bool(s.excluded) for s in (pi, worded, unsaid, invalid)] == [0, 0, 1, 1]
    assert server.device_id == ""


def test_sources_without_graphs_do_without_the_folders_that_have_them(tmp_path: Path) -> None:
    write_table(tmp_path / "aihub/latencies.csv", AIHUB_ROW)

    assert one("aihub", tmp_path).graph is None
