"""Small data folders in the forms of the published sources."""

from __future__ import annotations

import csv
import gzip
import zipfile
from collections.abc import Mapping
from pathlib import Path

import onnx

from tests.support.networks.convolution import convolution, write_graph

# Of the convolution.
MACS = 64 * 64 * 32 * 32
WEIGHT_BYTES = 4 * 64 * 64
ACTIVATION_BYTES = 4 * 64 * 32 * 32  # of the input, and as many of the output

Cells = Mapping[str, object]


def write_table(path: Path, *rows: Cells) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


NCNN_ROW: Cells = {
    "device_id": "rpi5_bcm2712",
    "backend": "cpu",
    "num_threads": 4,
    "powersave": 2,
    "model": "resnet50",
    "min_ms": 50.0,
    "run_id": "s1_r1",
    "variant": "",
    "readme_date": "2024-01-01",
    "flags": "",
    "src_line": 7,
}


def write_ncnn(data: Path, *changes: Cells) -> None:
    """Write ncnn's folder with one row for each change of :data:`NCNN_ROW`."""
    write_table(
        data / "ncnn/models.csv",
        {"model": "resnet50", "precision": "float", "graph": "graphs/resnet50.onnx"},
        {"model": "resnet50_int8", "precision": "int8", "graph": "graphs/resnet50.onnx"},
        {"model": "forgotten", "precision": "float", "graph": ""},
    )
    write_graph(data / "ncnn/graphs/resnet50.onnx")
    write_table(data / "ncnn/latencies.csv", *({**NCNN_ROW, **change} for change in changes))


TIMM_ROW: Cells = {
    "device_id": "rtx3090",
    "precision": "amp_fp16",
    "compiled": "no",
    "torch": "2.4.0",
    "model": "resnet18",
    "img_size": 224,
    "batch_size": 256,
    "step_time_ms": 90.0,
    "source_file": "benchmark.csv",
    "family": "resnet",
    "graph_variant": "plain",
    "flag": "",
}
TIMM_GRAPHS = ("resnet18", "mobilenetv1_100", "mobilenetv2_100")


def write_timm(data: Path, *changes: Cells) -> None:
    """Write timm's folder with one row for each change of :data:`TIMM_ROW`."""
    files = {model: f"{model}__224.onnx" for model in TIMM_GRAPHS}
    write_table(
        data / "timm/graphs.csv",
        *(
            {"model": model, "img_size": 224, "graph_variant": "plain", "file": file}
            for model, file in files.items()
        ),
    )
    with zipfile.ZipFile(data / "timm/graphs.zip", "w") as archive:
        for file in files.values():
            archive.writestr(f"graphs/{file}", convolution().SerializeToString())
    write_table(data / "timm/latencies.csv", *({**TIMM_ROW, **change} for change in changes))


NEUSIGHT_ROW: Cells = {
    "device_id": "Tesla_V100-PCIE-32GB",
    "model": "bert",
    "mode": "inf",
    "seq_len": 512,
    "batch": 8,
    "fused": "False",
    "n_gpus": 1,
    "measured_e2e_ms": 100.0,
}


def write_neusight(data: Path, *changes: Cells) -> None:
    """Write NeuSight's folder with one row for each change of :data:`NEUSIGHT_ROW`."""
    write_graph(data / "neusight/graphs/bert-512-8.onnx")
    write_table(data / "neusight/models.csv", *({**NEUSIGHT_ROW, **change} for change in changes))


def write_graph_set(
    data: Path, graphs: Mapping[str, onnx.ModelProto], folder: str = "graphs"
) -> None:
    """Write a set of graphs that belongs to no source, by name of the file."""
    write_table(data / folder / "graphs.csv", *({"file": name} for name in graphs))
    with zipfile.ZipFile(data / folder / "graphs.zip", "w") as archive:
        for name, model in graphs.items():
            archive.writestr(f"graphs/{name}", model.SerializeToString())


PUBLISHED_ROW: Cells = {
    "source": "someone/bench@1234567:README.md",
    "device": "some board",
    "unit": "cpu",
    "runtime": "onnxruntime",
    "runtime_version": "1.20",
    "provider_or_delegate": "",
    "precision": "fp32",
    "threads": "4",
    "batch": "1",
    "model": "net",
    "input_shape": "1x3x224x224",
    "metric": "latency_mean_ms",
    "value": "12.5",
    "streams_or_instances": "",
    "note": "",
}


def write_published(
    data: Path, *changes: Cells, folder: str = "x86", more: Cells | None = None
) -> None:
    """Write a folder with a row for each change, and the graph that its network is joined to."""
    rows = [{**PUBLISHED_ROW, **(more or {}), **change} for change in changes]
    path = data / "published" / folder / "latencies.csv.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    join = {"folder": folder, "model": "net", "file": "resnet18__224.onnx", "graphs_in": "graphs"}
    shapes = ("1x3x224x224", "8x3x224x224")
    write_table(data / "joins.csv", *({**join, "input_shape": shape} for shape in shapes))
    write_graph_set(data, {"resnet18__224.onnx": convolution()})
