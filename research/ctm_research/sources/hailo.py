"""Hailo's published frame rates of networks on its accelerators.

Source: ``hailo-ai/hailo_model_zoo``, docs/public_models. The chip works on several frames at once,
so the time between two results is no latency. No chip can beat its peak with it all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ctm_research.sources.aliases import Aliases, read_aliases
from ctm_research.sources.graphs import Joined, joined_graphs
from ctm_research.sources.samples import Sample, Statistic
from ctm_research.sources.source import Source
from ctm_research.sources.tables import Row, read_rows
from predictor.core.records import Configuration, Precision

NAME = "hailo"
_TABLE = "latencies.csv"
_COLUMNS = ("chip", "task", "model", "input_resolution_hwc", "fps_batch1", "dfc_version")


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table that has a frame rate at batch 1.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs, aliases = joined_graphs(data, NAME), read_aliases(NAME)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        if row["fps_batch1"]:
            yield _sample(row, graphs, aliases)


def _sample(row: Row, graphs: Joined, aliases: Aliases) -> Sample:
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["model"],
        graph=graphs.get((row["model"], row["input_resolution_hwc"])),
        batch_factor=1,
        device=row["chip"],
        device_id=aliases.find(row["chip"]).device_id,
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
)
