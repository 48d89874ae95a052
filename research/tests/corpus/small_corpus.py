"""A small data folder of several sources, and the corpus of it."""

from __future__ import annotations

import gzip
import tempfile
import zipfile
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx

from ctm_research.corpus import Corpus, Sizes, build_corpus
from predictor.core.records import Device
from predictor.devices.catalogue import load_device_files
from research.tests.data_folder import (
    NCNN_ROW,
    NEUSIGHT_ROW,
    TIMM_ROW,
    Cells,
    write_graph_set,
    write_table,
)
from tests.support.networks.builder import Builder

SIZES = Sizes(architectures=3, operators=4, seed=0)

_TIMM_NETWORKS = {"resnet18": "resnet", "mobilenetv2_100": "efficientnet", "vgg16": "vgg"}
_TIMM = [
    {**TIMM_ROW, "device_id": device, "model": model, "batch_size": batch, "step_time_ms": time_ms}
    for device, time_ms in (("rtx3090", 90.0), ("rtx5090", 40.0), ("rtx_pro6000_maxq", 60.25))
    for model, batch in (
        ("resnet18", 256),
        ("resnet18", 64),
        ("mobilenetv2_100", 256),
        ("vgg16", 1),
    )
]
_NCNN = [
    {**NCNN_ROW, "avg_ms": 60.0, **change, "model": model}
    for change in (
        {"num_threads": 4},
        {"num_threads": 1, "min_ms": 170.5},
        {"device_id": "rock5b_rk3588", "min_ms": 41.25},
        {"device_id": "orangepi5_rk3588s", "min_ms": 44.5},
        {"device_id": "new_board", "min_ms": 39.75},
        {"device_id": "rtx3090", "backend": "vulkan", "min_ms": 2.5},
    )
    for model in ("resnet50", "mobilenet_v2")
]
_AIHUB_ROW: Cells = {
    "model_id": "resnet18",
    "component": "ResNet18",
    "precision": "float",
    "device": "Samsung Galaxy S24",
    "runtime": "tflite",
    "inference_time_ms": 0.6,
    "primary_compute_unit": "NPU",
    "layers_gpu": "0",
    "layers_cpu": "",
    "qairt_version": "2.40",
    "job_id": "j1",
    "mirror_of": "",
}
_HAILO_ROW: Cells = {
    "chip": "HAILO8",
    "task": "classification",
    "model": "resnet_v1_18",
    "input_resolution_hwc": "224x224x3",
    "fps_batch1": 2000,
    "dfc_version": "3.33.0",
}
_CORAL_ROW: Cells = {
    "device": "Raspberry Pi 4 B + Coral USB",
    "link": "USB 3",
    "runs_on": "edgetpu",
    "test": "basic_engine",
    "model": "mobilenet_v2_1.0_224_quant",
    "input_hw": "224x224",
    "ms": 2.6,
}
_OPERATOR_COLUMNS = (
    *("device_id", "op", "mm_batch", "mm_rows", "mm_inner", "mm_cols", "vec_rows", "vec_cols"),
    *("conv_batch", "conv_in_ch", "conv_out_ch", "conv_kernel", "conv_in_size"),
    *("conv_stride", "conv_pad", "latency_ms"),
)
OPERATORS = (
    "Tesla_T4,linear,2,8,16,32,,,,,,,,,,0.02",
    "Tesla_P4,linear,2,8,16,32,,,,,,,,,,0.03",
    "Tesla_T4,bmm,2,8,16,32,,,,,,,,,,0.04",
    "Tesla_T4,conv,,,,,,,1,4,8,3,10,1,1,0.05",
    "Tesla_T4,ln,,,,,64,128,,,,,,,,0.01",
)
NAS_DEVICES = np.array(["1080ti_32", "new_card", "raspi4", "eyeriss"])


def network(*channels: int) -> onnx.ModelProto:
    """Return pointwise convolutions one after the other, on 16 x 16."""
    b = Builder()
    data = b.input("image", [1, channels[0], 16, 16])
    for before, after in pairwise(channels):
        data = b.conv(data, before, after, 1)
    b.nodes.append(onnx.helper.make_node("Identity", [data], ["out"]))
    b.output("out", [1, channels[-1], 16, 16])
    return b.model()


def write_data(data: Path) -> None:
    """Write the folder: six sources with rows, and hailo, whose rows are throughput."""
    _write_ncnn(data)
    _write_timm(data)
    _write_graphs(data)
    _write_neusight(data)
    write_table(data / "aihub/latencies.csv", _AIHUB_ROW, {**_AIHUB_ROW, "model_id": "unheard"})
    write_table(data / "hailo/latencies.csv", _HAILO_ROW)
    write_table(data / "coral_edgetpu/latencies.csv", _CORAL_ROW)
    _write_nas(data)


def _write_ncnn(data: Path) -> None:
    graphs = {"resnet50": network(16, 32, 16), "mobilenet_v2": network(8, 8, 8, 8)}
    for name, model in graphs.items():
        path = data / f"ncnn/graphs/{name}.onnx"
        path.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(model, path)
    write_table(
        data / "ncnn/models.csv",
        *({"model": n, "precision": "float", "graph": f"graphs/{n}.onnx"} for n in graphs),
    )
    write_table(data / "ncnn/latencies.csv", *_NCNN)


def _write_timm(data: Path) -> None:
    write_table(
        data / "timm/graphs.csv",
        *(
            {
                "model": model,
                "family": family,
                "img_size": 224,
                "graph_variant": "plain",
                "file": f"{model}__224.onnx",
            }
            for model, family in _TIMM_NETWORKS.items()
        ),
    )
    with zipfile.ZipFile(data / "timm/graphs.zip", "w") as archive:
        for model in _TIMM_NETWORKS:
            archive.writestr(f"graphs/{model}__224.onnx", _timm_network(model).SerializeToString())
    write_table(data / "timm/latencies.csv", *_TIMM)


def _write_graphs(data: Path) -> None:
    """Write the set that sources without graphs share; its networks are timm's."""
    files = {
        "resnet18__224x224.onnx": "resnet18",
        "mobilenet_v2_1.0__224x224.onnx": "mobilenetv2_100",
    }
    write_graph_set(data, {file: _timm_network(model) for file, model in files.items()})


def _timm_network(model: str) -> onnx.ModelProto:
    return network(16, 24 * (1 + list(_TIMM_NETWORKS).index(model)), 48, 16)


def _write_neusight(data: Path) -> None:
    path = data / "neusight/graphs/bert_large-512-8.onnx"
    path.parent.mkdir(parents=True)
    onnx.save(network(12, 20), path)
    row = {**NEUSIGHT_ROW, "model": "bert_large"}
    write_table(data / "neusight/models.csv", row, {**row, "mode": "train"})
    with gzip.open(data / "neusight/ops_train.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join([",".join(_OPERATOR_COLUMNS), *OPERATORS]) + "\n")


def _write_nas(data: Path) -> None:
    folder = data / "nas"
    folder.mkdir()
    latency_ms = np.linspace(2.5, 9.5, 12, dtype=np.float32).reshape(3, 4)
    common = {"devices": NAS_DEVICES, "latency_ms": latency_ms}
    fbnet = np.tile(np.array([[0], [2], [3]], np.int8), 22)
    np.savez(folder / "fbnet.npz", **common, arch=fbnet)
    cells = np.array([[1] * 6, [0] * 6, [3] * 6], np.int8)  # the middle one is empty
    np.savez(folder / "nasbench201.npz", **common, arch=cells)
    shapes = {"ks": (3, 20), "expand": (3, 20), "depth": (3, 5), "resolution": (3,)}
    smallest = {"ks": 3, "expand": 3, "depth": 2, "resolution": 128}
    codes = {key: np.full(shape, smallest[key], np.int16) for key, shape in shapes.items()}
    np.savez(folder / "ofa.npz", **common, **codes)


@cache
def small_corpus() -> Corpus:
    """Build the corpus of the folder, once for all tests."""
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder))
        return build_corpus(Path(folder), SIZES)


@cache
def catalogue() -> dict[str, Device]:
    """Return the shipped devices by id."""
    return {file.device.id: file.device for file in load_device_files()}
