"""Xilinx's published times of networks on its DPU, an accelerator in FPGAs.

Source: ``Xilinx/AI-Model-Zoo``, README.md. Times of one thread, which uses one core of the DPU;
work on images before and after is included. INT8.
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

NAME = "xilinx_dpu"
_TABLE = "latencies.csv"
_COLUMNS = ("release", "board", "dpu", "full_name", "e2e_latency_ms_1thread")

_BATCHES = {"Alveo U50": 3}  # a run there carries three images


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs, aliases = joined_graphs(data, NAME), read_aliases(NAME)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        yield _sample(row, graphs, aliases)


def _sample(row: Row, graphs: Joined, aliases: Aliases) -> Sample:
    batch = _BATCHES.get(row["board"], 1)
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["full_name"],
        graph=graphs.get((row["full_name"], "")),
        batch_factor=batch,
        device=row["board"],
        device_id=aliases.find(row["board"]).device_id,
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
)
