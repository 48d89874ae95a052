"""The corpus: published measurements of all sources over distinct graphs and distinct targets."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.packing import CostRows
from ctm_research.corpus.silicon import one_cluster, silicon_key
from ctm_research.network.graph_table import GraphTable
from ctm_research.packed import PackedGraphs
from ctm_research.sources.samples import Statistic
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Target
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch

STATISTICS: Final = tuple(Statistic)
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Measurements:
    """M measurements.

    Attributes:
        graph: int32 [M], index of the graph.
        target: int32 [M], index of the target.
        source: int8 [M], index into ``Corpus.sources``.
        statistic: int8 [M], index into :data:`STATISTICS`.
        provenance: int32 [M], index into ``Corpus.provenances``.
        latency_ms: float64 [M], of one run over the graph's batch.
        noise: float32 [M], standard deviation of the log-latency: repeats and rounding.
    """

    graph: NDArray[np.int32]
    target: NDArray[np.int32]
    source: NDArray[np.int8]
    statistic: NDArray[np.int8]
    provenance: NDArray[np.int32]
    latency_ms: NDArray[np.float64]
    noise: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.graph)


@dataclass(frozen=True, slots=True, eq=False)
class Graphs:
    """G distinct graphs; a network at another batch is another graph.

    Attributes:
        network: int32 [G], the network that it is, index into B networks as read from files.
        factor: int32 [G], its batch over the batch of the file.
        batch: int32 [G], images or sequences of a run.
        family: int16 [G], index into ``Corpus.families``.
        names: of each graph in the first source that names it.
        packed: operators and edges of all graphs.
        costs: inputs of the roofline.
        blob: uint8, the compressed bytes of the B networks.
        blob_offsets: int64 [B + 1].
    """

    network: NDArray[np.int32]
    factor: NDArray[np.int32]
    batch: NDArray[np.int32]
    family: NDArray[np.int16]
    names: tuple[str, ...]
    packed: PackedGraphs
    costs: CostRows
    blob: NDArray[np.uint8]
    blob_offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.network)

    def table(self, indices: NDArray[np.integer] | Sequence[int]) -> GraphTable:
        """Return graphs as the network reads them, in this order.

        Raises:
            IndexError: an index is not in the corpus.
        """
        return self.packed.take(indices)

    def operator_graph(self, index: int) -> OperatorGraph:
        """Return one graph at its batch.

        Raises:
            IndexError: the index is not in the corpus.
        """
        network = int(self.network[index])
        start, stop = self.blob_offsets[network], self.blob_offsets[network + 1]
        graph = OperatorGraph.from_bytes(zlib.decompress(self.blob[start:stop].tobytes()))
        return at_batch(graph, int(self.factor[index]))


@dataclass(frozen=True, slots=True)
class CorpusTarget:
    """A device with a configuration; the batch belongs to the graphs and is 0 here.

    Attributes:
        device_id: in the catalogue; empty where the catalogue lacks the device.
        source: the source that names a device which the catalogue lacks, else empty.
        device: its name there, else empty.
        family: kind of compute unit of such a device, else None.
        configuration: runtime, precision and threads.
        threads_stated: whether the source says how many threads ran, 0 being all; else 0 says
            nothing. It means nothing on a unit without threads.
        threads_likely: a deduced number where they are not stated, 0 for none; never a fact.
        cluster: kind of cores that the threads were bound to, 0 for the fastest or for no binding.
        early_starts: whether an early version of the framework ran, which starts more slowly.
    """

    device_id: str
    source: str
    device: str
    family: Family | None
    configuration: Configuration
    threads_stated: bool = True
    threads_likely: int = 0
    cluster: int = 0
    early_starts: bool = False

    @property
    def is_listed(self) -> bool:
        """Whether the catalogue has the device; if not, nothing is known of it but its name."""
        return bool(self.device_id)

    @property
    def silicon(self) -> str:
        """Key of its silicon, the same in all sources."""
        if not self.is_listed:
            return f"{self.source}/{self.device}"
        return silicon_key(self.device_id, self.cluster)

    def target(self, devices: Mapping[str, Device]) -> Target:
        """Return it with its device of the catalogue, or with one without any metric.

        Threads that were bound to slower cores have a device of these cores alone.

        Raises:
            InputError: the catalogue lacks a device, or a kind of cores, that the corpus names.
        """
        if self.is_listed:
            if self.device_id not in devices:
                raise InputError(
                    f"device {self.device_id}",
                    f"it is not one of the {len(devices)} devices of the catalogue",
                    "correct the id, or describe the device first",
                )
            return Target(one_cluster(devices[self.device_id], self.cluster), self.configuration)
        name = f"{self.source}/{self.device}"
        device = Device(
            id=name, name=self.device, vendor="", family=self.family or Family.CPU, metrics={}
        )
        return Target(device, self.configuration)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Measurements of all sources.

    Attributes:
        measurements: M rows.
        graphs: G distinct graphs.
        targets: T distinct targets.
        sources: names of the sources; a part of one has a name of its own.
        families: names of the families of architectures.
        provenances: who measured, in words.
        left_out: number of the rows that are not here, by source and reason.
        absent: sources that the data folder does not have.
    """

    measurements: Measurements
    graphs: Graphs
    targets: tuple[CorpusTarget, ...]
    sources: tuple[str, ...]
    families: tuple[str, ...]
    provenances: tuple[str, ...]
    left_out: Mapping[str, Mapping[str, int]]
    absent: tuple[str, ...]

    @cached_property
    def silicon(self) -> tuple[str, ...]:
        """Silicon of each target, T keys."""
        return tuple(target.silicon for target in self.targets)

    def rows_of(self, source: str) -> Rows:
        """Return the measurements of one source.

        Raises:
            ValueError: there is no such source.
        """
        return np.flatnonzero(self.measurements.source == self.sources.index(source))

    def target_list(self, devices: Mapping[str, Device]) -> list[Target]:
        """Return the T targets with their devices.

        Raises:
            InputError: the catalogue lacks a device that the corpus says it has.
        """
        return [target.target(devices) for target in self.targets]
