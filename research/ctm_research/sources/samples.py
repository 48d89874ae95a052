"""The record that every source of measurements is read into."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from predictor.core.metrics import Family
from predictor.core.records import Configuration

INTERVAL: Final = "interval between results: throughput, no latency"
"""Why a rate is left out."""


class Statistic(StrEnum):
    """Statistic of the runs behind a published time."""

    MINIMUM = "minimum"
    MEDIAN = "median"
    MEAN = "mean"
    MEAN_OF_FASTEST = "mean of the fastest"
    STATED = "as stated, statistic unknown"
    INTERVAL = "interval between results"
    P90 = "90th percentile"
    P99 = "99th percentile"

    @property
    def is_latency(self) -> bool:
        """Whether it is the time of a usual run.

        Results of a pipeline follow one another quicker, and the tail is slower.
        """
        return self not in {Statistic.INTERVAL, Statistic.P90, Statistic.P99}


@dataclass(frozen=True, slots=True)
class GraphFile:
    """Where the operator graph of a network is.

    Attributes:
        path: an ONNX file, one in gzip, or a zip archive of them.
        member: name in the archive; empty where ``path`` is the file itself.
        side: of the square image that the network gets instead of the file's; 0 for the file's.
    """

    path: Path
    member: str = ""
    side: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """One published measurement.

    Attributes:
        source: name of the source's folder.
        table: name of its table in that folder.
        line: line of the table, 1 being the header.
        network: name of the network in the source.
        graph: its operator graph at the batch of the file, or None where none is at hand.
        batch_factor: batch of the run over that of the file.
        device: name of the device in the source.
        device_id: id of the device in the catalogue; empty where the catalogue lacks it.
        configuration: as run, the batch being that of the whole run.
        latency_ms: of one run over the batch.
        statistic: of the runs, in ``latency_ms``.
        provenance: who measured it, and the tool where the source names it.
        flags: remarks of the source on this row.
        excluded: why it is no latency of this graph on this target, else empty.
        doubt: why the source itself speaks against the figure, else empty; not to be learned from.
        family: kind of unit that ran, for a device that the catalogue lacks; None for the source's.
        threads_stated: whether the source says how many threads ran, 0 being all; it means nothing
            on a unit without threads.
        threads_likely: a deduced number of threads where it does not, 0 for none.
        cluster: kind of cores that the threads were bound to, by its place in the device; 0 for the
            fastest, on which threads run that are not bound.
    """

    source: str
    table: str
    line: int
    network: str
    graph: GraphFile | None
    batch_factor: int
    device: str
    device_id: str
    configuration: Configuration
    latency_ms: float
    statistic: Statistic
    provenance: str
    flags: tuple[str, ...] = ()
    excluded: str = ""
    doubt: str = ""
    family: Family | None = None
    threads_stated: bool = True
    threads_likely: int = 0
    cluster: int = 0
