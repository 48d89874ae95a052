"""Every measurement of a data folder that can be learned from, before its graph is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ctm_research.corpus.corpus import CorpusTarget
from ctm_research.corpus.single_operators import (
    OPERATOR_FAMILY,
    SingleOperator,
    operator_rows,
)
from ctm_research.corpus.versions import has_early_starts
from ctm_research.sources import (
    SOURCES,
    GraphFile,
    Sample,
    Source,
    Statistic,
    graphs,
    nas,
    neusight,
    present_sources,
)
from ctm_research.sources.samples import INTERVAL
from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Configuration
from predictor.graph.operator_graph import OperatorGraph
from predictor.probing.networks.spaces import operator_graph_of

TAIL = "a high percentile of the runs, and no other statistic"
DOUBTED = "the source itself speaks against the figure"
NO_GRAPH = "no graph of the network is at hand"
NOT_DRAWN = "not drawn: the corpus holds a part of the source"
COMPILED = "a compiler removed parts of the networks; which ones is not known"

# The space whose networks were run edge by edge, also where an edge has no effect on the output.
_EAGER = ("nasbench201", "nasbench201-eager")
# Devices of that space with a compiler. Removing every edge without effect is not what it did:
# networks that are then the same have times that are far apart.
_COMPILED = frozenset({"pixel3", "raspi4"})


@dataclass(frozen=True, slots=True)
class SpaceNetwork:
    """One architecture of a search space."""

    space: nas.SearchSpace
    architecture: int

    def graph(self) -> OperatorGraph:
        """Build its graph at batch 1, with every edge that was run.

        Raises:
            InputError: its code is none of the space.
        """
        space, builder = _EAGER
        if self.space.name == space:
            return operator_graph_of(builder, self.space.code(self.architecture))
        return self.space.graph(self.architecture)


GraphKey = GraphFile | SpaceNetwork | SingleOperator


@dataclass(frozen=True, slots=True)
class Draft:
    """One measurement.

    Attributes:
        graph: where its graph comes from.
        factor: batch of the run over the batch of that graph.
        batch: of the whole run.
        network: name in the source.
        family: of architectures.
        target: device and configuration of the run.
        latency_ms: of one run over the batch.
        statistic: of the runs, such as their median.
        source: name of the source; a part of one (``nas-fbnet``) has a name of its own.
        provenance: who measured it.
    """

    graph: GraphKey
    factor: int
    batch: int
    network: str
    family: str
    target: CorpusTarget
    latency_ms: float
    statistic: Statistic
    source: str
    provenance: str


@dataclass(frozen=True, slots=True)
class Sizes:
    """Size of the draws from the large sources, and their seed.

    Attributes:
        architectures: of each search space.
        operators: sizes of single operators.
        seed: of the draw.
    """

    architectures: int = 300
    operators: int = 6000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("architectures", "operators"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"number of {name}", f"it is {getattr(self, name)}", "give a number above 0"
                )


@dataclass(slots=True)
class Drafts:
    """The measurements of a data folder.

    Attributes:
        rows: those that can be learned from.
        left_out: number of the others by source and reason.
        absent: sources whose folder is not in the data folder.
    """

    rows: list[Draft] = field(default_factory=list)
    left_out: dict[str, Counter[str]] = field(default_factory=dict)
    absent: tuple[str, ...] = ()

    def leave_out(self, source: str, reason: str, count: int = 1) -> None:
        """Count rows that are not in the corpus."""
        if count:
            self.left_out.setdefault(source, Counter())[reason] += count


def collect(data: Path, sizes: Sizes) -> Drafts:
    """Return the measurements of a data folder, in the order of sources and tables.

    Raises:
        InputError: no source is there, or a table of one is missing or damaged.
    """
    present = present_sources(data)
    families = dict(graphs.families(data))
    for source in present:
        families |= source.families(data)
    drafts = Drafts(absent=tuple(name for name in SOURCES if SOURCES[name] not in present))
    for source in present:
        for sample in source.samples(data):
            _add_sample(drafts, source, sample, families)
    if neusight.SOURCE in present:
        _add_operators(drafts, data, sizes)
    if nas.SOURCE in present:
        for space in nas.search_spaces(data):
            _add_space(drafts, space, sizes)
    return drafts


def _add_sample(
    drafts: Drafts, source: Source, sample: Sample, families: Mapping[GraphFile, str]
) -> None:
    reason = left_out_reason(sample)
    if reason or sample.graph is None:
        drafts.leave_out(source.name, reason)
        return
    drafts.rows.append(
        Draft(
            graph=sample.graph,
            factor=sample.batch_factor,
            batch=sample.configuration.batch,
            network=sample.network,
            family=_family(sample.graph, families),
            target=sample_target(source, sample),
            latency_ms=sample.latency_ms,
            statistic=sample.statistic,
            source=source.name,
            provenance=sample.provenance,
        )
    )


def sample_target(source: Source, sample: Sample) -> CorpusTarget:
    """Return what a sample was measured on."""
    target = _target(source, sample.device_id, sample.device, sample.configuration, sample.family)
    return replace(
        target,
        threads_stated=sample.threads_stated,
        threads_likely=sample.threads_likely,
        cluster=sample.cluster,
        early_starts=has_early_starts(sample.configuration.runtime, sample.provenance),
    )


def _target(
    source: Source,
    device_id: str,
    device: str,
    configuration: Configuration,
    family: Family | None = None,
) -> CorpusTarget:
    unbatched = replace(configuration, batch=0)
    if device_id:
        return CorpusTarget(device_id, "", "", None, unbatched)
    family = family or source.unlisted_family(configuration.runtime)
    return CorpusTarget("", source.name, device, family, unbatched)


def left_out_reason(sample: Sample) -> str:
    """Return why a sample is not in the corpus, empty where it is."""
    if sample.excluded:
        return sample.excluded
    if not sample.statistic.is_latency:
        return INTERVAL if sample.statistic is Statistic.INTERVAL else TAIL
    if sample.doubt:
        return f"{DOUBTED}: {sample.doubt.partition(':')[0]}"
    return "" if sample.graph else NO_GRAPH


def _family(graph: GraphFile, families: Mapping[GraphFile, str]) -> str:
    """Return the family of a file, whichever source measured it.

    Raises:
        InputError: the source that holds it does not say.
    """
    file = replace(graph, side=0)
    if file not in families:
        raise InputError(
            str(graph.path),
            f"the family of architectures of {graph.member or graph.path.stem} is not known",
            "add it to the families of its source",
        )
    return families[file]


def _add_operators(drafts: Drafts, data: Path, sizes: Sizes) -> None:
    rows = list(operator_rows(data))
    distinct = sorted({row.operator for row in rows})
    chosen = _drawn(len(distinct), sizes.operators, sizes.seed)
    wanted = {distinct[index] for index in chosen}
    for row in rows:
        if row.operator in wanted:
            target = _target(neusight.SOURCE, row.device_id, row.device, row.configuration)
            drafts.rows.append(
                Draft(
                    graph=row.operator,
                    factor=1,
                    batch=1,
                    network=str(row.operator),
                    family=OPERATOR_FAMILY,
                    target=target,
                    latency_ms=row.latency_ms,
                    statistic=Statistic.MEAN_OF_FASTEST,
                    source=neusight.OPERATORS,
                    provenance="sitar-lab/NeuSight, ASPLOS 2025, single operators",
                )
            )
    drafts.leave_out(neusight.OPERATORS, NOT_DRAWN, sum(row.operator not in wanted for row in rows))


def _add_space(drafts: Drafts, space: nas.SearchSpace, sizes: Sizes) -> None:
    source = f"{nas.NAME}-{space.name}"
    count = len(space.latency_ms)
    drawn = _drawn(count, sizes.architectures, sizes.seed)
    for index, column in enumerate(space.columns):
        compiled = space.name == _EAGER[0] and column.name in _COMPILED
        reason = column.excluded or (COMPILED if compiled else "")
        if reason:
            drafts.leave_out(source, reason, count)
        else:
            drafts.leave_out(source, NOT_DRAWN, count - len(drawn))
            drafts.rows += [_space_draft(space, source, a, index) for a in drawn]


def _space_draft(space: nas.SearchSpace, source: str, architecture: int, index: int) -> Draft:
    column = space.columns[index]
    return Draft(
        graph=SpaceNetwork(space, architecture),
        factor=column.batch,
        batch=column.batch,
        network=f"{space.name} {architecture}",
        family=nas.FAMILIES[space.name],
        target=replace(
            _target(nas.SOURCE, column.device_id, column.name, column.configuration),
            threads_stated=False,
        ),
        latency_ms=float(space.latency_ms[architecture, index]),
        statistic=Statistic.STATED,
        source=source,
        provenance=f"HayeonLee/HELP, {space.name}, {column.name}",
    )


def _drawn(count: int, wanted: int, seed: int) -> list[int]:
    """Return ``wanted`` of ``count`` indices in order, all where there are no more."""
    if wanted >= count:
        return list(range(count))
    chosen: list[int] = np.sort(
        np.random.default_rng(seed).choice(count, wanted, replace=False)
    ).tolist()
    return chosen
