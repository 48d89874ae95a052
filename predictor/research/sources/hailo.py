"""Hailo's published frame rates of networks on its accelerators.

Source: ``hailo-ai/hailo_model_zoo``, docs/public_models. The chip works on several frames at once,
so the time between two results is no latency. No chip can beat its peak with it all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from predictor.core.records import Configuration, Precision
from predictor.research.sources.networks import published_graphs
from predictor.research.sources.samples import GraphFile, Sample, Statistic
from predictor.research.sources.source import Source
from predictor.research.sources.tables import Row, read_rows

NAME = "hailo"
_TABLE = "latencies.csv"
_COLUMNS = ("chip", "task", "model", "input_resolution_hwc", "fps_batch1", "dfc_version")
_IMAGE = "224x224x3"

DEVICES: dict[str, str] = {
    "HAILO10H": "hailo-10h",
    "HAILO15H": "hailo-15h",
    "HAILO15L": "hailo-15l",
    "HAILO8": "hailo-8",
    "HAILO8L": "hailo-8l",
}
# By model and input; parameters and operations agree with the graph's.
NETWORKS: dict[tuple[str, str], str] = {
    ("davit_tiny", _IMAGE): "davit-tiny",
    ("efficientformer_l1", _IMAGE): "efficientformer-l1",
    ("efficientnet_lite0", _IMAGE): "efficientnet-lite0",
    ("efficientnet_lite1", "240x240x3"): "efficientnet-lite1",
    ("efficientnet_lite2", "260x260x3"): "efficientnet-lite2",
    ("mobilenet_v1", _IMAGE): "mobilenet-v1",
    ("mobilenet_v2_1.0", _IMAGE): "mobilenet-v2-1.0",
    ("mobilenet_v2_1.4", _IMAGE): "mobilenet-v2-1.4",
    ("nextvit_base", _IMAGE): "nextvit-base",
    ("nextvit_small", _IMAGE): "nextvit-small",
    ("regnetx_800mf", _IMAGE): "regnet-x-800mf",
    ("repvgg_a1", _IMAGE): "repvgg-a1",
    ("resnet_v1_18", _IMAGE): "resnet-18",
    ("resnet_v1_34", _IMAGE): "resnet-34",
    ("resnext50_32x4d", _IMAGE): "resnext-50",
    ("vit_base", _IMAGE): "vit-base-16",
}


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table that has a frame rate at batch 1.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs = published_graphs(data)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        if row["fps_batch1"]:
            yield _sample(row, graphs)


def _sample(row: Row, graphs: Mapping[str, GraphFile]) -> Sample:
    network = NETWORKS.get((row["model"], row["input_resolution_hwc"]), "")
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["model"],
        graph=graphs.get(network) if row["task"] == "classification" else None,
        batch_factor=1,
        device=row["chip"],
        device_id=DEVICES.get(row["chip"], ""),
        configuration=Configuration("hailort", Precision.INT8, 0, 1),
        latency_ms=1e3 / row.positive("fps_batch1"),
        statistic=Statistic.INTERVAL,
        provenance=f"hailo-ai/hailo_model_zoo, compiler {row['dfc_version']}",
    )


SOURCE = Source(
    name=NAME,
    rank=5,
    title="Hailo Model Zoo",
    repository="hailo-ai/hailo_model_zoo",
    licence="MIT",
    files=(_TABLE,),
    row="a frame rate",
    samples=samples,
    names=(DEVICES, NETWORKS),
)
