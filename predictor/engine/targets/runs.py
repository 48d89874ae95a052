"""The runs that requested targets lead to, by graph.

A graph whose products are of integers runs them in INT8 on every target whose runtime and device
have it, whatever precision is requested; its float operators run as requested. A request for FP16
on a processor without halves is a run in FP32 between casts, under a runtime that does so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from predictor.core.arrays import Bools, Floats, Integers
from predictor.core.caching import IdentityCache
from predictor.core.records import Precision, Target, TargetId, by_run
from predictor.core.runtimes import runtime_of
from predictor.cost.engine import AttentionMaps, Explanation, TargetMeasurements
from predictor.cost.rates.runs import as_cast
from predictor.engine.estimate import shares
from predictor.engine.run_graphs import GraphParts, parts_of, with_casts
from predictor.engine.targets.interface import TargetLatencies, TargetModel
from predictor.engine.targets.lookup import TargetLookup, TargetModels
from predictor.graph.operator_graph import OperatorGraph

_GRAPHS: Final = 512
_MAIN_SHARE: Final = 0.5  # of the multiplications


class Part(NamedTuple):
    """One form of a graph, on those of T targets that run it so.

    Attributes:
        graph: the form.
        models: of the T targets.
        covers: bool [T], whether a target runs it.
    """

    graph: OperatorGraph
    models: TargetModels
    covers: Bools

    def latencies(self) -> Iterator[tuple[Integers, TargetLatencies]]:
        """Yield the latencies on targets that run it, with their places."""
        for places, model in self.models.families:
            inside = self.covers[places]
            if inside.all():
                yield places, model.latency(self.graph)
            elif inside.any():
                of = model.latency(self.graph)
                yield (
                    places[inside],
                    TargetLatencies(
                        of.latency_ms[inside], of.reach[:, inside], of.shared_error[inside]
                    ),
                )

    def doubts(self) -> Iterator[tuple[int, str]]:
        """Yield why latencies may be wrong, with the places of their targets."""
        for places, model in self.models.families:
            if self.covers[places].any():
                for place, words in zip(places.tolist(), model.doubts(self.graph), strict=True):
                    if words and self.covers[place]:
                        yield place, words


@dataclass(frozen=True, slots=True, eq=False)
class GraphRun:
    """The runs of one graph on T targets.

    Attributes:
        targets: in the precision that most of the work runs in.
        models: of these.
        precisions: of that work; None where it follows from the request alone.
        parts: that sum to the graph, first those that have the doubts.
    """

    targets: Sequence[Target]
    models: TargetModels
    precisions: Sequence[Precision | None]
    parts: Sequence[Part]

    def at(self, place: int) -> list[tuple[OperatorGraph, TargetModel, int]]:
        """Return the parts on one target: form, model, and the target's place inside that."""
        covering = (part for part in self.parts if part.covers[place])
        return [(part.graph, *part.models.by_place[place]) for part in covering]

    def latency(self) -> TargetLatencies:
        """Return the sum of the parts, whose errors go together."""
        count = len(self.targets)
        parts = [pair for part in self.parts for pair in part.latencies()]
        if len(parts) == 1:
            return parts[0][1]
        width = max((part.shared_error.shape[1] for _, part in parts), default=0)
        total, reach = np.zeros(count), np.zeros((2, count))
        shared = np.zeros((count, width), np.float32)
        for places, part in parts:
            total[places] += part.latency_ms
        for places, part in parts:
            share: Floats = part.latency_ms / total[places]
            reach[:, places] += share * part.reach
            shared[places, : part.shared_error.shape[1]] += share[:, None] * part.shared_error
        return TargetLatencies(total, reach, shared)

    def doubts(self) -> Mapping[int, str]:
        """Return why latencies may be wrong, by the places of their targets."""
        return dict(pair for part in reversed(self.parts) for pair in part.doubts())


class GraphForms:
    """Forms of graphs; those of the last ones are remembered."""

    def __init__(self) -> None:
        """Remember none."""
        self._parts: IdentityCache[GraphParts | None] = IdentityCache(_GRAPHS)
        self._casts: IdentityCache[OperatorGraph] = IdentityCache(_GRAPHS)

    def parts(self, graph: OperatorGraph) -> GraphParts | None:
        """Return the parts of a graph of integers, None of another."""
        return self._parts.get((graph,), lambda: parts_of(graph))

    def with_casts(self, graph: OperatorGraph) -> OperatorGraph:
        """Return a graph as it runs in FP32 between casts."""
        return self._casts.get((graph,), lambda: with_casts(graph))


@dataclass(frozen=True, eq=False)
class TargetRuns:
    """The runs of T requested targets, for any graph.

    Attributes:
        lookup: of models.
        forms: of graphs.
        requested: the T targets.
        measured: the user's measurements.
    """

    lookup: TargetLookup
    forms: GraphForms
    requested: Sequence[Target]
    measured: Mapping[TargetId, TargetMeasurements]

    @cached_property
    def models(self) -> TargetModels:
        """Of float graphs."""
        return self.lookup.models(self._floats, self.measured)

    @cached_property
    def _casts(self) -> Bools:
        """Whether each target runs FP16 in FP32 between casts, bool [T]."""
        casts = np.zeros(len(self.requested), np.bool_)
        for place, target in enumerate(self.requested):
            if target.configuration.precision is Precision.FP16:
                casts[place] = as_cast(target) is not target
        return casts

    @cached_property
    def _floats(self) -> Sequence[Target]:
        """The targets that float graphs run on."""
        return [as_cast(t) for t in self.requested] if self._casts.any() else self.requested

    @cached_property
    def _has_int8(self) -> Bools:
        """Whether runtime and device of each target have INT8, bool [T]."""
        return np.array(by_run(self.requested, _has_int8), np.bool_)

    @cached_property
    def _integers(self) -> Sequence[Target]:
        """The targets that products of integers run on: their INT8 twins where there are some."""
        pairs = zip(self._floats, self._has_int8.tolist(), strict=True)
        return [in_precision(target, Precision.INT8) if has else target for target, has in pairs]

    def of_graph(self, graph: OperatorGraph) -> GraphRun:
        """Return the runs of a graph."""
        parts = self.forms.parts(graph)
        everywhere = np.ones(len(self.requested), np.bool_)
        if parts is None:
            precisions: list[Precision | None] = [None] * len(self.requested)
            for place in np.flatnonzero(self._casts).tolist():
                precisions[place] = Precision.FP32
            parts_of_floats = self._as_floats(graph, everywhere)
            return GraphRun(self._floats, self.models, precisions, parts_of_floats)
        has_int8 = self._has_int8
        models = self.lookup.models(self._integers, self.measured)
        summed = [Part(parts.integers, models, has_int8)]
        if parts.floats is not None:
            summed.append(Part(parts.floats, self.models, has_int8))
        run = GraphRun(
            self._integers,
            models,
            [target.configuration.precision for target in self._integers],
            [*summed, *self._as_floats(graph, ~has_int8)],
        )
        if parts.share >= _MAIN_SHARE:
            return run
        return replace(run, targets=self._floats, models=self.models, parts=run.parts[::-1])

    def _as_floats(self, graph: OperatorGraph, covers: Bools) -> list[Part]:
        """Return the parts of a graph on targets that run all of it in one precision."""
        if not self._casts.any():
            return [Part(graph, self.models, covers)]
        return [
            Part(graph, self.models, covers & ~self._casts),
            Part(self.forms.with_casts(graph), self.models, covers & self._casts),
        ]


def in_precision(target: Target, precision: Precision) -> Target:
    """Return a target in another precision."""
    return replace(target, configuration=replace(target.configuration, precision=precision))


def _has_int8(target: Target) -> bool:
    """Return whether runtime and device of a target have INT8."""
    stated = {configuration.precision for configuration in target.device.configurations}
    precisions = runtime_of(target.configuration.runtime).precisions
    return Precision.INT8 in stated and Precision.INT8 in precisions


def summed(parts: Sequence[Explanation], latency_ms: float) -> Explanation:
    """Return the explanation of a graph from those of its parts, none of which share an operator.

    Args:
        parts: of N operators, all but those of a part 0.
        latency_ms: as predicted, which may be raised to the bound: so are the parts.
    """
    by_part = [np.stack([p.compute_ms, p.memory_ms, p.launch_ms], axis=1) for p in parts]
    parts_ms: Floats = np.sum(by_part, axis=0)
    parts_ms *= np.fmax(1.0, latency_ms / parts_ms.sum())
    return Explanation.of_parts(parts_ms, _joined([part.attention for part in parts], parts))


def _joined(
    maps: Sequence[AttentionMaps | None], parts: Sequence[Explanation]
) -> AttentionMaps | None:
    """Return the attention of a graph: shares of time add up, a network's is the main part's."""
    terms, learned = [], np.ones(1)
    for part, of in zip(parts, maps, strict=True):
        if of is None or of.learned is None:
            return maps[0]
        terms.append(part.latency_ms[:, None] * of.operator_to_metric)
        learned = np.where(part.latency_ms[:, None] > 0, of.learned, learned)
    joined = shares(np.sum(terms, axis=0), learned)
    return joined if maps[0] is None else replace(joined, network=maps[0].network)
