"""Xilinx's published times of networks on its DPU, an accelerator in FPGAs.

Source: ``Xilinx/AI-Model-Zoo``, README.md. Times of one thread, which uses one core of the DPU;
work on images before and after is included. INT8.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from predictor.core.records import Configuration, Precision
from predictor.research.sources.networks import published_graphs
from predictor.research.sources.samples import GraphFile, Sample, Statistic
from predictor.research.sources.source import Share, Source
from predictor.research.sources.tables import Row, read_rows

NAME = "xilinx_dpu"
_TABLE = "latencies.csv"
_COLUMNS = ("release", "board", "dpu", "full_name", "e2e_latency_ms_1thread")

DEVICES: dict[str, str] = {
    "Alveo U200": "alveo-u200-dpu",
    "Alveo U250": "alveo-u250-dpu",
    "Alveo U50": "alveo-u50-dpu",
    "Ultra96": "ultra96-dpu",
    "ZCU102 (0432055-04)": "zcu102-dpu",
    "ZCU102 (0432055-05)": "zcu102-dpu",
    "ZCU104": "zcu104-dpu",
}
# Full names hold the input size and the operations, which agree with the graph's.
NETWORKS: dict[str, str] = {
    "cf_inceptionv1_imagenet_224_224_3.16G": "googlenet",
    "cf_inceptionv3_imagenet_299_299_11.4G": "inception-v3",
    "cf_inceptionv4_imagenet_299_299_24.5G": "inception-v4",
    "cf_mobilenetv2_imagenet_224_224_0.59G": "mobilenet-v2-1.0",
    "cf_resnet18_imagenet_224_224_3.65G": "resnet-18",
    "cf_resnet50_imagenet_224_224_7.7G": "resnet-50-v1",
    "tf_inceptionresnetv2_imagenet_299_299_26.35G": "inception-resnet-v2",
    "tf_inceptionv3_imagenet_299_299_11.45G": "inception-v3",
    "tf_inceptionv4_imagenet_299_299_24.55G": "inception-v4",
    "tf_mobilenetv1_1.0_imagenet_224_224_1.14G": "mobilenet-v1",
    "tf_mobilenetv1_imagenet_224_224_1.14G": "mobilenet-v1",
    "tf_mobilenetv2_1.0_imagenet_224_224_0.59G": "mobilenet-v2-1.0",
    "tf_mobilenetv2_1.4_imagenet_224_224_1.16G": "mobilenet-v2-1.4",
    "tf_mobilenetv2_imagenet_224_224_1.17G": "mobilenet-v2-1.4",
    "tf_vgg16_imagenet_224_224_30.96G": "vgg-16",
    "tf_vgg19_imagenet_224_224_39.28G": "vgg-19",
}
_BATCHES = {"Alveo U50": 3}  # a run there carries three images


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs = published_graphs(data)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        yield _sample(row, graphs)


def _sample(row: Row, graphs: Mapping[str, GraphFile]) -> Sample:
    batch = _BATCHES.get(row["board"], 1)
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["full_name"],
        graph=graphs.get(NETWORKS.get(row["full_name"], "")),
        batch_factor=batch,
        device=row["board"],
        device_id=DEVICES.get(row["board"], ""),
        configuration=Configuration("vitis-ai", Precision.INT8, 0, batch),
        latency_ms=row.positive("e2e_latency_ms_1thread"),
        statistic=Statistic.STATED,
        provenance=f"Xilinx/AI-Model-Zoo, README.md, {row['release']}, {row['dpu']}",
    )


SOURCE = Source(
    name=NAME,
    rank=8,
    title="Xilinx AI Model Zoo",
    repository="Xilinx/AI-Model-Zoo",
    commits=("38e23d8c", "7f3456b2"),
    licence="Apache-2.0",
    files=(_TABLE,),
    row="end to end on one thread",
    ships="README.md, end to end",
    samples=samples,
    shares={NAME: Share(0.01, 8, 8)},
    names=(DEVICES, NETWORKS),
)
