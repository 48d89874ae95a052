"""Our own measurements: the same networks under every CPU runtime, on one machine.

The table ships with ``ctm_research.bridge``, which measured it; the graphs are those of the
data folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ctm_research.sources.graphs import graph_file
from ctm_research.sources.samples import Sample, Statistic
from ctm_research.sources.source import Source
from ctm_research.sources.tables import Row, read_rows
from predictor.core.records import Configuration, Precision

NAME = "bridge"
DEVICE = "xeon-amx-vm-2"
_TABLE = "latencies.csv.gz"
_COLUMNS = (
    *("network", "set", "file", "runtime", "precision", "threads", "median_ms", "verdict"),
    *("contended", "reason"),
)
_FOLDER = Path(__file__).parents[1] / "bridge" / "data"


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row with a number; the bridge's page has the others with their reasons.

    Raises:
        InputError: the table is missing or damaged.
    """
    for row in read_rows(SOURCE.path(data) / _TABLE, _COLUMNS):
        if row["median_ms"]:
            yield _sample(data, row)


def _sample(data: Path, row: Row) -> Sample:
    if row["precision"] not in {"fp32", "int8"}:
        row.refuse("precision", "fp32 or int8")
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["network"],
        graph=graph_file(data, row["set"], row["file"]),
        batch_factor=1,
        device="a virtual machine with two cores of an Intel Xeon with AMX",
        device_id=DEVICE,
        configuration=Configuration(
            row["runtime"], Precision(row["precision"]), row.count("threads"), batch=1
        ),
        latency_ms=row.positive("median_ms"),
        statistic=Statistic.MEDIAN,
        provenance="measured by ctm_research.bridge",
        flags=("contended",) if row["contended"] == "True" else (),
    )


SOURCE = Source(
    name=NAME,
    rank=17,
    title="The bridge between runtimes",
    repository="this project",
    licence="Apache-2.0",
    files=(_TABLE,),
    row="a median of two blocks, batch 1",
    samples=samples,
    shipped=_FOLDER,
)
