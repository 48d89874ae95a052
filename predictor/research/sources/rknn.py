"""Rockchip's published frame rates of networks on the NPUs of its chips.

Source: ``airockchip/rknn_model_zoo``, README.md. One core of an NPU with several. Whether frames
overlap is not said, so the time between two results is not taken for a latency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from predictor.core.records import Configuration, Precision
from predictor.research.sources.networks import published_graphs
from predictor.research.sources.samples import GraphFile, Sample, Statistic
from predictor.research.sources.source import Source
from predictor.research.sources.tables import Row, read_rows

NAME = "rknn"
_TABLE = "latencies.csv"
_COLUMNS = ("model", "input_shape", "dtype", "platform", "npu_cores_used", "ms", "note")

DEVICES: dict[str, str] = {
    "RK1808": "rk1808-npu",
    "RK3562": "rk3562-npu",
    "RK3566/RK3568": "rk3568-npu",
    "RK3576": "rk3576-npu",
    "RK3588": "rk3588-npu",
    "RV1109": "rv1109-npu",
    "RV1126": "rv1126-npu",
}
NETWORKS: dict[tuple[str, str], str] = {
    ("mobilenetv2-12", "[1, 3, 224, 224]"): "mobilenet-v2-1.0",
}
_PRECISIONS = {"INT8": Precision.INT8, "FP16": Precision.FP16}


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table that has a time; speech models have a real-time factor.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs = published_graphs(data)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        if row["dtype"] not in _PRECISIONS:
            row.refuse("dtype", "INT8 or FP16")
        if row["ms"]:
            yield _sample(row, graphs)


def _sample(row: Row, graphs: Mapping[str, GraphFile]) -> Sample:
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["model"],
        graph=graphs.get(NETWORKS.get((row["model"], row["input_shape"]), "")),
        batch_factor=1,
        device=row["platform"],
        device_id=DEVICES.get(row["platform"], ""),
        configuration=Configuration("rknn", _PRECISIONS[row["dtype"]], 0, 1),
        latency_ms=row.positive("ms"),
        statistic=Statistic.INTERVAL,
        provenance="airockchip/rknn_model_zoo 2.3.2, README.md",
        flags=tuple(
            filter(
                None,
                [
                    f"NPU cores: {row['npu_cores_used']}" if row["npu_cores_used"] else "",
                    row["note"],
                ],
            )
        ),
    )


SOURCE = Source(
    name=NAME,
    rank=6,
    title="RKNN Model Zoo",
    repository="airockchip/rknn_model_zoo",
    commits=("bad6c733",),
    licence="Apache-2.0",
    notice=", release 2.3.2",
    files=(_TABLE,),
    row="a frame rate",
    samples=samples,
    names=(DEVICES, NETWORKS),
)
