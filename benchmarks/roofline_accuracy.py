"""Measured latencies against the roofline's estimate and bound, by source and target.

Reads tables of published measurements with their graphs from a folder (``--data DIR``) that holds
``neusight/``, ``timm/`` and ``ncnn/``; devices come from the catalogue. A measurement under the
bound proves the bound or a fact of the device wrong, so the command fails on one.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.common import Table, add_arguments, publish
from predictor.core.errors import CtmError
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.core.units import significant
from predictor.cost.roofline import RooflineEngine
from predictor.graph.ingest import ingest
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.catalogue import load_catalogue

# Names of the tables' devices in the catalogue; other devices of the tables are left out.
NEUSIGHT = {
    "Tesla_P4": "tesla-p4",
    "Tesla_P100-PCIE-16GB": "tesla-p100-pcie-16gb",
    "Tesla_V100-PCIE-32GB": "tesla-v100-pcie-32gb",
    "Tesla_T4": "tesla-t4",
    "NVIDIA_A100-PCIE-40GB": "a100-pcie-40gb",
}
TIMM = {
    "rtx3090": "rtx-3090",
    "rtx5090": "rtx-5090",
    "rtx_pro6000_maxq": "rtx-pro-6000-max-q",
    "i9_10940x": "core-i9-10940x",
}
NCNN = {
    ("dimensity9300_mt6989", "cpu"): "dimensity-9300",
    ("jetson_agx_orin", "cpu"): "jetson-agx-orin-cpu",
    ("jetson_nano", "cpu"): "jetson-nano-cpu",
    ("jetson_orin_nano", "cpu"): "jetson-orin-nano-cpu",
    ("rk3588", "cpu"): "rk3588-cpu",
    ("rk3588", "vulkan"): "rk3588-mali",
    ("rock5b_rk3588", "cpu"): "rk3588-cpu",
    ("rpi5_bcm2712", "cpu"): "rpi-5",
    ("sd835_msm8998", "cpu"): "snapdragon-835",
    ("sd888", "cpu"): "snapdragon-888",
    ("visionfive2_jh7110", "cpu"): "visionfive-2-cpu",
    ("atom_x5_z8350", "cpu"): "atom-x5-z8350",
    ("celeron_n5105", "cpu"): "celeron-n5105",
    ("hyperv_i7_11800h", "cpu"): "core-i7-11800h",
    ("hyperv_i7_7700k", "cpu"): "core-i7-7700k",
    ("ryzen_5700g", "cpu"): "ryzen-7-5700g",
    ("ryzen9_5950x", "cpu"): "ryzen-9-5950x",
    ("ryzen_v1605b", "cpu"): "ryzen-embedded-v1605b",
    ("threadripper_3970x", "cpu"): "threadripper-3970x",
    ("hyperv_gtx1050ti", "vulkan"): "gtx-1050-ti",
    ("hyperv_rtx3070_laptop", "vulkan"): "rtx-3070-laptop",
    ("quadro_rtx8000", "vulkan"): "quadro-rtx-8000",
    ("rtx2060_notebook", "vulkan"): "rtx-2060-mobile",
    ("rtx2080_desktop", "vulkan"): "rtx-2080",
    ("rtx3090", "vulkan"): "rtx-3090",
    ("rtxa3000_notebook", "vulkan"): "rtx-a3000-laptop",
}
_LITTLE_CORES_ONLY = "1"  # of the column powersave: our threads fill the fastest cores


@dataclass(frozen=True)
class Measured:
    """One row of a table: which graph ran where, and for how long."""

    source: str
    graph: Callable[[], OperatorGraph | None]
    device_id: str
    configuration: Configuration
    latency_ms: float


@cache
def read_graph(path: Path) -> OperatorGraph | None:
    """Ingest a file; one that cannot be ingested is named and left out."""
    try:
        return ingest(path).graph
    except CtmError as error:
        print(f"left out: {error}")
        return None


def with_batch(graph: OperatorGraph, batch: int) -> OperatorGraph:
    """Return a graph of batch 1 at ``batch``: everything grows with it but the weights."""
    return replace(
        graph,
        macs=graph.macs * batch,
        bytes_read=graph.bytes_read * batch,
        bytes_written=graph.bytes_written * batch,
        input_bytes=graph.input_bytes * batch,
        output_bytes=graph.output_bytes * batch,
        peak_activation_bytes=graph.peak_activation_bytes * batch,
    )


def neusight(data: Path) -> Iterator[Measured]:
    """Whole transformers on server GPUs, eager, TF32 off."""
    for row in rows(data / "neusight/models.csv"):
        path = data / f"neusight/graphs/{row['model']}-{row['seq_len']}-{row['batch']}.onnx"
        whole = row["mode"] == "inf" and row["fused"] == "False" and row["n_gpus"] == "1"
        if whole and path.is_file() and row["device_id"] in NEUSIGHT:
            yield Measured(
                "neusight",
                lambda path=path: read_graph(path),
                NEUSIGHT[row["device_id"]],
                Configuration("pytorch", Precision.FP32, 0, int(row["batch"])),
                float(row["measured_e2e_ms"]),
            )


def timm(data: Path, folder: Path) -> Iterator[Measured]:
    """Image networks on GPUs at large batches; graphs are unpacked into ``folder``."""
    zipfile.ZipFile(data / "timm/graphs.zip").extractall(folder)
    files = {path.stem: path for path in folder.rglob("*.onnx")}
    for row in rows(data / "timm/latencies.csv"):
        variant = "" if row["graph_variant"] == "plain" else f"__{row['graph_variant']}"
        path = files.get(f"{row['model']}__{row['img_size']}{variant}")
        if path is None or row["device_id"] not in TIMM or "differ" in row["flag"]:
            continue
        batch = int(row["batch_size"])
        runtime = "pytorch-compiled" if row["compiled"] == "yes" else "pytorch"

        def graph(path: Path = path, batch: int = batch) -> OperatorGraph | None:
            single = read_graph(path)
            return None if single is None else with_batch(single, batch)

        yield Measured(
            "timm",
            graph,
            TIMM[row["device_id"]],
            Configuration(runtime, Precision(row["precision"]), 0, batch),
            float(row["step_time_ms"]),
        )


def ncnn(data: Path, devices: Mapping[str, Device]) -> Iterator[Measured]:
    """Small image networks on processors and GPUs at batch 1; each run's fastest time.

    ncnn runs float networks in half precision where the device can, the source says.
    """
    for row in rows(data / "ncnn/latencies.csv"):
        device = NCNN.get((row["device_id"], row["backend"]))
        path = data / f"ncnn/graphs/{row['model']}.onnx"
        int8 = row["model"].endswith("int8")
        if device is None or int8 or not path.is_file() or row["powersave"] == _LITTLE_CORES_ONLY:
            continue
        on_cpu = row["backend"] == "cpu"
        runtime = "ncnn" if on_cpu else "ncnn-vulkan"
        half = Configuration(runtime, Precision.FP16)
        precision = half.precision if half in devices[device].configurations else Precision.FP32
        yield Measured(
            "ncnn",
            lambda path=path: read_graph(path),
            device,
            Configuration(runtime, precision, int(row["num_threads"]) if on_cpu else 0, 1),
            float(row["min_ms"]),
        )


def rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def ratios(measured: Iterator[Measured], devices: dict[str, Device]) -> dict[str, np.ndarray]:
    """Return measured over estimate and measured over bound, [rows, 2], by source and target."""
    engine = RooflineEngine()
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in measured:
        graph, device = row.graph(), devices.get(row.device_id)
        if graph is None or device is None:
            continue
        table = engine.predict([graph], [Target(device, row.configuration)], {})
        c = row.configuration
        key = f"{row.source}, {row.device_id}, {c.runtime} {c.precision}"
        estimate, bound = table.latency_ms[0, 0], table.bound_ms[0, 0]
        if not table.problems:
            found[key].append((row.latency_ms / estimate, row.latency_ms / bound))
    return {key: np.array(values) for key, values in sorted(found.items())}


def summary(target: str, values: np.ndarray) -> dict[str, object]:
    """Return the figures of one target from its ratios, [rows, 2]."""
    low, middle, high = np.quantile(values[:, 0], [0.1, 0.5, 0.9])
    return {
        "target": target,
        "rows": len(values),
        "median_measured_over_estimate": float(middle),
        "quantile10": float(low),
        "quantile90": float(high),
        "under_bound": int(np.sum(values[:, 1] < 1)),
        "least_measured_over_bound": float(values[:, 1].min()),
    }


def main() -> int:
    """Compare, print, and fail on a measurement under its bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the measurements")
    add_arguments(parser)
    arguments = parser.parse_args()
    devices = dict(load_catalogue().by_id)
    summaries = []
    with tempfile.TemporaryDirectory() as folder:
        data = arguments.data
        for source in (neusight(data), timm(data, Path(folder)), ncnn(data, devices)):
            found = ratios(source, devices)
            summaries += [summary(target, values) for target, values in found.items()]
            if found:
                name = next(iter(found)).partition(",")[0]
                summaries.append(summary(f"{name}, all", np.concatenate(list(found.values()))))
    table = Table(
        HEADER,
        [
            [str(value) if not isinstance(value, float) else significant(value) for value in line]
            for line in (list(figures.values()) for figures in summaries)
        ],
    )
    title = "Measured latencies against the roofline's estimate and bound"
    publish("roofline_accuracy", title, table, summaries, arguments.output, NOTES)
    return int(any(figures["under_bound"] for figures in summaries))


NOTES = (
    "gtx-1050-ti and rtx-3070-laptop were measured in a virtual machine, Vulkan over Direct3D 12.",
    "ncnn is taken to run float networks in half precision on devices that list it.",
    "The fp32 runs of neusight had TF32 switched off, while the bound allows for it.",
)
HEADER = (
    "target",
    "rows",
    "median of measured / estimate",
    "10 %",
    "90 %",
    "rows under the bound",
    "least measured / bound",
)


if __name__ == "__main__":
    sys.exit(main())
