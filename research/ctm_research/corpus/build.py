"""Builds the corpus of a data folder: reads every graph once and packs it at each batch."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.corpus import STATISTICS, Corpus, Graphs, Measurements
from ctm_research.corpus.drafts import Draft, GraphKey, Sizes, SpaceNetwork, collect
from ctm_research.corpus.graph_files import GraphReader
from ctm_research.corpus.noise import measurement_noise
from ctm_research.corpus.packing import GraphPacker
from ctm_research.corpus.single_operators import SingleOperator
from ctm_research.sources.samples import GraphFile
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.graph.operator_graph import OperatorGraph
from predictor.graph.scaling import at_batch

T = TypeVar("T")


def build_corpus(
    data: Path,
    sizes: Sizes | None = None,
    progress: ProgressCallback = no_progress,
    cancel: CancelToken | None = None,
    kept: Path | None = None,
) -> Corpus:
    """Build the corpus of a data folder.

    Args:
        data: folder with one folder a source.
        sizes: of the samples drawn from the large sources.
        progress: told before each graph is read.
        cancel: asks to stop.
        kept: folder of graphs that were read before, so that they are not read again; None keeps
            none.

    Raises:
        InputError: no source is there, or a file of one is missing or damaged.
        HostError: a graph cannot be kept.
        CancelledError: a stop was asked for.
    """
    cancel = cancel or CancelToken()
    progress(Progress(0, 1, "reading tables"))
    drafts = collect(data, Sizes() if sizes is None else sizes)
    builder = _GraphBuilder(kept)
    rows = builder.add_all(drafts.rows, progress, cancel)
    targets, target_index = _numbered([draft.target for draft in drafts.rows])
    sources, source_index = _numbered([draft.source for draft in drafts.rows])
    provenances, provenance_index = _numbered([draft.provenance for draft in drafts.rows])
    measurements = Measurements(
        graph=rows,
        target=target_index,
        source=source_index.astype(np.int8),
        statistic=np.array([STATISTICS.index(d.statistic) for d in drafts.rows], np.int8),
        provenance=provenance_index,
        latency_ms=np.array([draft.latency_ms for draft in drafts.rows], np.float64),
        noise=np.zeros(len(drafts.rows), np.float32),
    )
    families, graphs = builder.graphs()
    return Corpus(
        measurements=replace(measurements, noise=measurement_noise(measurements, len(sources))),
        graphs=graphs,
        targets=targets,
        sources=sources,
        families=families,
        provenances=provenances,
        left_out={source: dict(counts) for source, counts in drafts.left_out.items()},
        absent=drafts.absent,
    )


def _numbered(values: Sequence[T]) -> tuple[tuple[T, ...], NDArray[np.int32]]:
    """Return the distinct values in their order, and the number of each value."""
    numbers: dict[T, int] = {}
    index = [numbers.setdefault(value, len(numbers)) for value in values]
    return tuple(numbers), np.array(index, np.int32)


class _GraphBuilder:
    """Reads the graphs of drafts and joins those that are the same."""

    def __init__(self, kept: Path | None) -> None:
        self._kept = kept
        self._packer = GraphPacker()
        self._networks: dict[str, int] = {}  # by fingerprint
        self._blobs: list[bytes] = []
        self._numbers: dict[tuple[int, int], int] = {}  # by network and factor
        self._batches: list[int] = []
        self._names: list[str] = []
        self._families: list[str] = []
        self._joined = _Joined()

    def add_all(
        self, drafts: Sequence[Draft], progress: ProgressCallback, cancel: CancelToken
    ) -> NDArray[np.int32]:
        """Return the number of each draft's graph."""
        by_key: dict[GraphKey, list[int]] = defaultdict(list)
        for index, draft in enumerate(drafts):
            by_key[draft.graph].append(index)
        numbers = np.empty(len(drafts), np.int32)
        with GraphReader(self._kept) as reader:
            for done, (key, rows) in enumerate(by_key.items()):
                cancel.check()
                progress(Progress(done, len(by_key), f"graph of {drafts[rows[0]].network}"))
                graph = _read(key, reader)
                for row in rows:
                    numbers[row] = self._number(graph, drafts[row])
        return numbers

    def _number(self, graph: OperatorGraph, draft: Draft) -> int:
        network = self._network(graph)
        key = (network, draft.factor)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            self._packer.add(at_batch(graph, draft.factor))
            self._batches.append(draft.batch)
            self._names.append(draft.network)
            self._families.append(draft.family)
        number = self._numbers[key]
        self._joined.join(self._families[number], draft.family)
        return number

    def _network(self, graph: OperatorGraph) -> int:
        # By the former recipe: operators that are written in another way are learned from apart.
        fingerprint = graph.former_fingerprint or graph.fingerprint
        if fingerprint not in self._networks:
            self._networks[fingerprint] = len(self._blobs)
            self._blobs.append(zlib.compress(graph.to_bytes(), level=6))
        return self._networks[fingerprint]

    def graphs(self) -> tuple[tuple[str, ...], Graphs]:
        """Return the names of the families, and the graphs."""
        packed, costs = self._packer.packed()
        keys = np.array(list(self._numbers), np.int32).reshape(-1, 2)
        self._join_batches(keys[:, 0])
        families, family = _numbered([self._joined.first(name) for name in self._families])
        return families, Graphs(
            network=keys[:, 0].copy(),
            factor=keys[:, 1].copy(),
            batch=np.array(self._batches, np.int32),
            family=family.astype(np.int16),
            names=tuple(self._names),
            packed=packed,
            costs=costs,
            blob=np.frombuffer(b"".join(self._blobs), np.uint8),
            blob_offsets=np.cumsum([0, *map(len, self._blobs)], dtype=np.int64),
        )

    def _join_batches(self, networks: NDArray[np.int32]) -> None:
        """A network is of one family, whatever the batch at which it was measured."""
        first: dict[int, str] = {}
        for network, family in zip(networks.tolist(), self._families, strict=True):
            self._joined.join(first.setdefault(network, family), family)


class _Joined:
    """Families that share a network under two names are one, by the first name in the alphabet."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def first(self, name: str) -> str:
        while (parent := self._parents.get(name, name)) != name:
            name = parent
        return name

    def join(self, one: str, other: str) -> None:
        # By the alphabet, so that the name does not depend on the order of the sources.
        one, other = sorted((self.first(one), self.first(other)))
        self._parents[other] = one


def _read(key: GraphKey, reader: GraphReader) -> OperatorGraph:
    match key:
        case GraphFile():
            return reader.read(key)
        case SpaceNetwork() | SingleOperator():
            return key.graph()
