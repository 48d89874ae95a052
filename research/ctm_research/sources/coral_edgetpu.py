"""Coral's published times of networks on the Edge TPU and on its hosts' processors.

Source: ``google-coral/edgetpu``, benchmarks/reference. The mean of the test ``basic_engine`` is one
call of the network; the other tests include work on images in Python.
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

NAME = "coral_edgetpu"
_TABLE = "latencies.csv"
_COLUMNS = ("device", "link", "runs_on", "test", "model", "input_hw", "ms")


def samples(data: Path) -> Iterator[Sample]:
    """Yield every row of the table.

    Raises:
        InputError: the table is missing or damaged.
    """
    graphs, aliases = joined_graphs(data, NAME), read_aliases(NAME)
    for row in read_rows(data / NAME / _TABLE, _COLUMNS):
        yield _sample(row, graphs, aliases)


def _sample(row: Row, graphs: Joined, aliases: Aliases) -> Sample:
    return Sample(
        source=NAME,
        table=_TABLE,
        line=row.line,
        network=row["model"],
        graph=graphs.get((row["model"], row["input_hw"])),
        batch_factor=1,
        device=f"{row['device']}, {row['runs_on']}",
        device_id=aliases.find(row["device"], row["runs_on"]).device_id,
        configuration=Configuration("tflite", Precision.INT8, 0, 1),
        latency_ms=row.positive("ms"),
        statistic=Statistic.MEAN,
        provenance="google-coral/edgetpu, benchmarks/reference, 2019",
        flags=(f"link: {row['link']}",) if row["link"] else (),
        threads_stated=False,
        excluded=_exclusion(row),
    )


def _exclusion(row: Row) -> str:
    if row["test"] != "basic_engine":
        return "work on images in Python is included"
    over_usb2 = row["runs_on"] == "edgetpu" and row["link"] == "USB 2.0"
    return "over USB 2.0: the accelerator of the catalogue is on USB 3" if over_usb2 else ""


SOURCE = Source(
    name=NAME,
    rank=7,
    title="Coral Edge TPU reference benchmarks",
    repository="google-coral/edgetpu",
    commits=("75e67563",),
    licence="Apache-2.0",
    files=(_TABLE,),
    row="a mean, batch 1",
    ships="benchmarks/reference",
    samples=samples,
    shares={NAME: Share(0.01, 8, 8)},
)
