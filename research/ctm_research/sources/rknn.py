"""Rockchip's published frame rates of networks on the NPUs of its chips.

Source: ``airockchip/rknn_model_zoo``, README.md. One core of an NPU with several, as the runtime
takes by itself. Rockchip's rknn_benchmark runs one frame after the other and prints a frame rate
that is one over its time (github.com/airockchip/rknn-toolkit2, issue 129: 27.5 ms, 36.4 FPS), so
the time between two results is the latency.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ctm_research.sources.aliases import Aliases, read_aliases
from ctm_research.sources.graphs import Joined, joined_graphs
from ctm_research.sources.samples import Sample, Statistic
from ctm_research.sources.source import Share, Source
from ctm_research.sources.tables import Row, read_rows
from predictor.core.records import Configuration, Precision

NAME = "rknn"
_TABLE = "latencies.csv"
_COLUMNS = ("model", "input_shape", "dtype", "platform", "npu_cores_used", "ms", "note")

_PRECISIONS = {"INT8": Precision.INT8, "FP16": Precision.FP16}


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table that has a time; speech models have a real-time factor.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs, aliases = joined_graphs(data, NAME), read_aliases(NAME)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        if row["dtype"] not in _PRECISIONS:
            row.refuse("dtype", "INT8 or FP16")
        if row["ms"]:
            yield _sample(row, graphs, aliases)


def _sample(row: Row, graphs: Joined, aliases: Aliases) -> Sample:
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["model"],
        graph=graphs.get((row["model"], row["input_shape"])),
        batch_factor=1,
        device=row["platform"],
        device_id=aliases.find(row["platform"]).device_id,
        configuration=Configuration("rknn", _PRECISIONS[row["dtype"]], 0, 1),
        latency_ms=row.positive("ms"),
        statistic=Statistic.MEAN,
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
    row="a frame rate, one frame after the other",
    samples=samples,
    shares={NAME: Share(0.01, 8, 8)},
)
