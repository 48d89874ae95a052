"""Qualcomm AI Hub's published latencies of networks on the NPUs of phones and boards.

Source: ``quic/ai-hub-models``, perf.yaml of each model. The time is the vendor's own summary of
many runs; whether it is the minimum or the mean is not said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from predictor.core.metrics import Family
from predictor.core.records import Configuration, Precision
from predictor.research.sources.networks import published_graphs
from predictor.research.sources.samples import GraphFile, Sample, Statistic
from predictor.research.sources.source import Share, Source
from predictor.research.sources.tables import Row, read_rows

NAME = "aihub"
_TABLE = "latencies.csv"
_COLUMNS = (
    *("model_id", "component", "precision", "device", "runtime", "inference_time_ms"),
    *("primary_compute_unit", "layers_gpu", "layers_cpu", "qairt_version", "job_id", "mirror_of"),
)

# The NPU of each device. A proxy is other hardware with the same chip family.
DEVICES: dict[str, str] = {
    "Dragonwing IQ-9075 EVK": "iq-9075-npu",
    "Dragonwing Q-6690 MTP": "qcm6690-npu",
    "Dragonwing RB3 Gen 2 Vision Kit": "qcs6490-npu",
    "QCS8275 (Proxy)": "iq-8275-npu",
    "QCS8450 (Proxy)": "qcs8450-npu",
    "QCS8550 (Proxy)": "qcs8550-npu",
    "SA7255P ADP": "iq-8275-npu",  # its jobs are also published as those of QCS8275 (Proxy)
    "SA8775P ADP": "sa8775p-npu",
    "Samsung Galaxy S24": "snapdragon-8-gen-3-npu",
    "Samsung Galaxy S25": "snapdragon-8-elite-npu",
}
NETWORKS: dict[str, str] = {
    "convnext_base": "convnext-base",
    "convnext_tiny": "convnext-tiny",
    "densenet121": "densenet-121",
    "dla102x": "dla-102x",
    "efficientformer": "efficientformer-l1",
    "efficientnet_b0": "efficientnet-b0",
    "efficientvit_l2_cls": "efficientvit-l2",
    "mobilenet_v2": "mobilenet-v2-1.0",
    "mobilenet_v3_large": "mobilenet-v3-large",
    "regnet_y_800mf": "regnet-y-800mf",
    "resnet101": "resnet-101",
    "resnet18": "resnet-18",
    "resnet50": "resnet-50-v1.5",
    "resnext101": "resnext-101",
    "resnext50": "resnext-50",
    "sequencer2d": "sequencer2d-s",
    "vit": "vit-base-16",
    "wideresnet50": "wide-resnet-50",
}
# The NPU runs float networks in half precision, the source says.
_PRECISIONS = {"float": Precision.FP16, "w8a8": Precision.INT8}
_RUNTIMES = {
    "onnx": "onnxruntime",
    "precompiled_qnn_onnx": "onnxruntime",
    "qnn_context_binary": "qnn",
    "qnn_dlc": "qnn",
    "tflite": "tflite",
}


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs = published_graphs(data)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        if row["runtime"] not in _RUNTIMES:
            row.refuse("runtime", f"one of {', '.join(_RUNTIMES)}")
        yield _sample(row, graphs)


def _sample(row: Row, graphs: Mapping[str, GraphFile]) -> Sample:
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=f"{row['model_id']}, {row['component']}",
        graph=graphs.get(NETWORKS.get(row["model_id"], "")),
        batch_factor=1,
        device=row["device"],
        device_id=DEVICES.get(row["device"], ""),
        configuration=Configuration(
            _RUNTIMES[row["runtime"]], _PRECISIONS.get(row["precision"], Precision.INT8), 0, 1
        ),
        latency_ms=row.positive("inference_time_ms"),
        statistic=Statistic.STATED,
        provenance=f"quic/ai-hub-models 0.46.1, job {row['job_id']}, "
        f"QAIRT {row['qairt_version'] or 'not stated'}",
        flags=tuple(
            f"layers on the {unit}"
            for unit in ("gpu", "cpu")
            if row[f"layers_{unit}"] not in {"", "0"}
        ),
        excluded=_exclusion(row),
    )


def _exclusion(row: Row) -> str:
    if row["mirror_of"]:
        return "copy of another device's measurement"
    if row["primary_compute_unit"] != "NPU":
        return "most layers ran on the processor or the GPU"
    if row["precision"] not in _PRECISIONS:
        return "mixed widths of integers (w8a16 and the like), which no precision of ours says"
    return ""


SOURCE = Source(
    name=NAME,
    rank=4,
    title="Qualcomm AI Hub",
    repository="quic/ai-hub-models",
    commits=("52c080d2",),
    licence="BSD-3-Clause",
    notice=", release 0.46.1; each model has a licence of its own",
    files=(_TABLE,),
    row="the vendor's summary, batch 1",
    ships="perf.yaml of each model",
    samples=samples,
    shares={NAME: Share(0.07, 10, 12)},
    names=(DEVICES, NETWORKS),
    unlisted={"": Family.NPU},
)
