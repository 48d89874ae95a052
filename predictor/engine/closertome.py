"""The engine that the product predicts with: the CloserToMe network and what was measured."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.deviation import Deviation, Expectation
from predictor.calibration.posterior import Z80, Z95
from predictor.core.errors import InputError
from predictor.core.records import Basis, Configuration, Device, Precision, Target
from predictor.cost.cores import threads_in_use
from predictor.cost.engine import (
    AttentionMaps,
    BoundType,
    Explanation,
    PredictionTable,
    TargetMeasurements,
)
from predictor.cost.roofline import RooflineEngine
from predictor.cost.support import check_supported
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.doubts import device_doubt, graph_doubts
from predictor.engine.expected import expectation, predicted
from predictor.engine.own import Films, films_of, own_deviation
from predictor.engine.related import Place, related
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.reference_rates import ReferenceRates, is_rated
from predictor.network.target_facts import CHOICE_KINDS, TargetFacts, target_facts
from predictor.network.term_runtime import EncodedGraph, HeadOutput, TermRuntime

Floats = NDArray[np.float64]
_Asked = tuple[tuple[Device, Configuration], ...]
_HALVE_UNTOLD: Final = frozenset({"ncnn", "ncnn-vulkan"})
_MOST_ENCODED: Final = 256  # graphs: a whole pool of reference networks
_UNRATED: Final = (
    "nothing tells how much the device can compute: neither a rate nor clock and number of cores is"
    " known; add one, or probe the device"
)
_PARTS: Final = (BoundType.COMPUTE, BoundType.MEMORY, BoundType.LAUNCH)


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What is known of T targets before any graph: facts, rates, deviations, widths."""

    facts: TargetFacts
    rates: ReferenceRates
    deviations: list[Deviation]
    basis: list[Basis]
    widths: list[tuple[float, float]]
    problems: dict[int, str]
    doubts: list[str]
    films: Films = field(default_factory=dict)


class CloserToMeEngine:
    """Predicts with intervals, for any graph on any target.

    Never under the physical bound, never faster with a larger batch (with measurements as long as
    its launches take as long), unchanged by names and by the order of operators.

    Reference:
        CloserToMe, Eq. (3) to (9).
    """

    def __init__(self, folder: Path) -> None:
        """Read the checkpoint; the network itself is loaded with the first prediction.

        Raises:
            InputError: the checkpoint is missing, damaged or newer than this program.
        """
        self._checkpoint = read_checkpoint(folder)
        self._engine = self._checkpoint.engine
        self._roofline = RooflineEngine()
        self._last: tuple[_Asked, _Known] | None = None
        self._encoded: dict[int, tuple[OperatorGraph, EncodedGraph]] = {}

    @property
    def name(self) -> str:
        """Name and version, as stored with each prediction."""
        return self._engine.name

    @cached_property
    def _runtime(self) -> TermRuntime:
        found = self._checkpoint
        return TermRuntime(found.encoder, found.head, self._engine.operators)

    @cached_property
    def _shipped(self) -> Mapping[Place, Deviation]:
        return self._checkpoint.signatures.deviations()

    def has_signature(self, target: Target) -> bool:
        """Whether published measurements of the target came with the program."""
        return _place(target) in self._shipped

    def predict(
        self,
        graphs: Sequence[OperatorGraph],
        targets: Sequence[Target],
        measured: Mapping[str, TargetMeasurements],
    ) -> PredictionTable:
        """Predict every graph on every target; see :class:`predictor.cost.engine.Engine`."""
        analytic = self._roofline.predict(graphs, targets, {})
        known = self._known(targets, measured)
        shape = (len(graphs), len(targets))
        latency, deviation = np.full(shape, np.nan), np.full((2, *shape), np.nan)
        shared = np.zeros((*shape, 1 + self._engine.responses), np.float32)
        doubts: dict[tuple[int, int], str] = {}
        for row, graph in enumerate(graphs):
            found = self._graph(graph, known)
            latency[row], deviation[:, row], shared[row] = found[0], found[1], found[2]
            for column, words in found[3].items():
                doubts[row, column] = words
        for column in known.problems:
            latency[:, column] = np.nan
        bound = analytic.bound_ms
        latency = np.fmax(latency, np.where(np.isnan(latency), np.nan, bound))
        edges = self._intervals(latency, deviation, known, bound)
        return PredictionTable(
            engine=self.name,
            latency_ms=latency,
            low80_ms=edges[0],
            high80_ms=edges[1],
            low95_ms=edges[2],
            high95_ms=edges[3],
            bound_ms=bound,
            basis=[
                [None if t in known.problems else basis for t, basis in enumerate(known.basis)]
                for _ in graphs
            ],
            memory_bytes=analytic.memory_bytes,
            fits_memory=analytic.fits_memory,
            problems={
                (g, t): words for g in range(shape[0]) for t, words in known.problems.items()
            },
            predicted_ms=latency,
            out_of_distribution=doubts,
            shared_error=shared,
            fine_tuned=frozenset(known.films),
        )

    def explain(
        self, graph: OperatorGraph, target: Target, measured: TargetMeasurements | None = None
    ) -> Explanation:
        """Say where the time of one graph goes on one target.

        Raises:
            InputError: the target has no number for this graph.
        """
        check_supported(target.device, target.configuration)
        known = self._known([target], {} if measured is None else {target.key: measured})
        if known.problems:
            raise InputError(
                target.device.id, known.problems[0].partition("; ")[0], "add one, or probe it"
            )
        encoded = self._encode(graph)
        known_output = self._runtime.expect(encoded, known.facts, known.rates, known.films)
        _, output = next(iter(known_output))
        deviation = known.deviations[0]
        expected = expectation(encoded, output, 0)
        latency = expected.latency_ms(deviation.weights) * deviation.factor
        bound = self._roofline.predict([graph], [target], {}).bound_ms[0, 0]
        # What a run costs whatever the graph is shared by its operators.
        parts = expected.shares(deviation.weights) * float(np.fmax(latency, bound))
        return self._explanation(graph, encoded.places, parts, output, known)

    def _explanation(
        self,
        graph: OperatorGraph,
        places: NDArray[np.int64],
        parts: Floats,
        output: HeadOutput,
        known: _Known,
    ) -> Explanation:
        columns = np.zeros((len(graph), 3))
        columns[places] = parts
        kind = np.array(_PARTS, np.int8)[columns.argmax(axis=1)]
        return Explanation(
            latency_ms=columns.sum(axis=1),
            compute_ms=columns[:, 0],
            memory_ms=columns[:, 1],
            launch_ms=columns[:, 2],
            bound_ms=np.full(len(graph), np.nan),
            bound_type=np.where(columns.sum(axis=1) > 0, kind, BoundType.NONE).astype(np.int8),
            attention=self._attention(len(graph), places, output, known),
        )

    def _attention(
        self, operators: int, places: NDArray[np.int64], output: HeadOutput, known: _Known
    ) -> AttentionMaps | None:
        """Return what HODM attended to: rows of operators that take no time are level."""
        metrics = known.facts.available[0]
        if not metrics.any() or not len(output.parts_ms):
            return None
        attended = np.concatenate([np.ones(len(CHOICE_KINDS), np.bool_), metrics])
        read = tuple(
            name
            for name, is_known in zip(self._engine.facts.names, metrics, strict=True)
            if is_known
        )
        names = (*CHOICE_KINDS, *read)
        forward = np.full((operators, len(names)), 1 / len(names), np.float32)
        forward[places] = output.operator_to_metric[:, 0, :-1][:, attended]
        backward = np.zeros((len(names), operators), np.float32)
        backward[:, places] = output.metric_to_operator[:, 0, :-1][:, attended].T
        return AttentionMaps(names, forward, backward, self._engine.blend, self._engine.residual)

    def _known(
        self, targets: Sequence[Target], measured: Mapping[str, TargetMeasurements]
    ) -> _Known:
        plain = self._plain(targets)
        found = {
            index: self._own(plain, index, measured[target.key])
            for index, target in enumerate(targets)
            if target.key in measured and len(measured[target.key].graphs)
        }
        if not found:
            return plain
        own = {_place(targets[index]): deviation for index, deviation in found.items()}
        return replace(
            plain,
            deviations=[
                found.get(i) or related(_place(target), own) or plain.deviations[i]
                for i, target in enumerate(targets)
            ],
            basis=[Basis.PROBED if i in found else each for i, each in enumerate(plain.basis)],
            widths=[
                self._engine.widths.probed if i in found else each
                for i, each in enumerate(plain.widths)
            ],
            problems={
                index: words
                for index, words in plain.problems.items()
                if index not in found or words is not _UNRATED
            },
            doubts=["" if i in found else each for i, each in enumerate(plain.doubts)],
            films=films_of({i: measured[targets[i].key] for i in found}, self.network),
        )

    def _plain(self, targets: Sequence[Target]) -> _Known:
        """Return what is known of targets but for the user's measurements; kept for the next call.

        The same targets are asked about again and again, for one model after the other.
        """
        asked = tuple((target.device, target.configuration) for target in targets)
        if self._last is None or not _same(self._last[0], asked):
            self._last = (asked, self._looked_up(targets))
        return self._last[1]

    def _looked_up(self, asked: Sequence[Target]) -> _Known:
        targets = [learned_form(target) for target in asked]
        rates = ReferenceRates.of(targets, self._engine.typical)
        problems: dict[int, str] = {}
        for index, target in enumerate(asked):
            try:
                check_supported(target.device, target.configuration)
            except InputError as error:
                problems[index] = f"{error.reason}; {error.action}"
        for index, target in enumerate(targets):
            if not is_rated(target.device) and _place(target) not in self._shipped:
                problems.setdefault(index, _UNRATED)
        places = [_place(target) for target in targets]
        shipped = [self._shipped.get(place) for place in places]
        return _Known(
            target_facts(targets, rates, self._engine.facts),
            rates,
            [
                deviation or related(place, self._shipped) or self._unmeasured
                for deviation, place in zip(shipped, places, strict=True)
            ],
            [Basis.ZERO_SHOT if deviation is None else Basis.PROBED for deviation in shipped],
            [
                self._engine.widths.zero_shot
                if deviation is None
                else self._engine.widths.published
                for deviation in shipped
            ],
            problems,
            [
                "" if deviation is not None else device_doubt(target, self._engine.experience)
                for deviation, target in zip(shipped, targets, strict=True)
            ],
        )

    def _encode(self, graph: OperatorGraph) -> EncodedGraph:
        """Encode a graph, once for as long as it is asked about again and again."""
        known = self._encoded.get(id(graph))
        if known is None or known[0] is not graph:
            if len(self._encoded) >= _MOST_ENCODED:
                self._encoded.pop(next(iter(self._encoded)))
            known = self._encoded[id(graph)] = (graph, self._runtime.encode(graph))
        return known[1]

    @cached_property
    def _unmeasured(self) -> Deviation:
        return self._engine.prior.unmeasured(self._engine.responses)

    def _own(self, known: _Known, index: int, measured: TargetMeasurements) -> Deviation:
        """Return what the user's measurements say of a target."""
        one = np.array([index])
        facts, rates = known.facts.take(one), known.rates.take(one)

        def expect(graph: OperatorGraph, films: Films) -> Expectation:
            encoded = self._encode(graph)
            _, output = next(iter(self._runtime.expect(encoded, facts, rates, films)))
            return expectation(encoded, output, 0)

        return own_deviation(expect, self._engine.prior, measured, self.network)

    @cached_property
    def network(self) -> str:
        """SHA-256 of the part of the network that FiLM fine-tuning fits."""
        return hashlib.sha256(self.head.read_bytes()).hexdigest()

    @property
    def head(self) -> Path:
        """File of that part."""
        return self._checkpoint.head

    def head_inputs(
        self, graphs: Sequence[OperatorGraph], target: Target
    ) -> list[dict[str, NDArray[np.generic]]]:
        """Return what that part reads of each graph on a target."""
        plain = self._plain([target])
        encoded = [self._encode(graph) for graph in graphs]
        return [self._runtime.head_inputs(each, plain.facts, plain.rates) for each in encoded]

    def _graph(
        self, graph: OperatorGraph, known: _Known
    ) -> tuple[Floats, Floats, Floats, dict[int, str]]:
        """Return latency [T], deviations of its logarithm [2, T], shared parts, and doubts."""
        count = len(known.rates)
        latency, deviation = np.full(count, np.nan), np.full((2, count), np.nan)
        shared = np.zeros((count, 1 + self._engine.responses))
        doubts: dict[int, str] = {}
        encoded = self._encode(graph)
        outputs = self._runtime.expect(encoded, known.facts, known.rates, known.films)
        for part, output in outputs:
            some = known.deviations[part]
            latency[part], deviation[:, part], shared[part], shares = predicted(
                encoded, output, some, self._unmeasured
            )
            for place, words in enumerate(
                graph_doubts(graph, encoded.places, shares, self._engine.experience)
            ):
                both = "; ".join(filter(None, (words, known.doubts[part][place])))
                if both:
                    doubts[part.start + place] = both
        return latency, deviation, shared, doubts

    def _intervals(
        self, latency: Floats, deviation: Floats, known: _Known, bound: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return low and high of the 80 % and the 95 % interval, each [G, T].

        What was measured never makes an interval wider than it is without.
        """
        widths, usual = np.array(known.widths).reshape(-1, 2), self._engine.widths.zero_shot
        edges: list[Floats] = []
        apart = np.ones_like(latency)
        for place, quantile in enumerate((Z80, Z95)):
            wide = np.minimum(widths[:, place] * deviation[0], usual[place] * deviation[1])
            apart = np.fmax(apart, np.exp(quantile * wide))  # one that covers more is no narrower
            low = np.fmax(latency / apart, np.where(np.isnan(latency), np.nan, bound))
            edges += [low, latency * apart]
        return edges[0], edges[1], edges[2], edges[3]


def learned_form(target: Target) -> Target:
    """Return a target as the published measurements name it.

    ncnn stores and computes in FP16 where it can, and its published latencies do not say where it
    did: a float network on ncnn is one and the same configuration here.
    """
    c = target.configuration
    if c.runtime in _HALVE_UNTOLD and c.precision is Precision.FP16:
        return Target(target.device, replace(c, precision=Precision.FP32))
    return target


def _same(before: _Asked, now: _Asked) -> bool:
    """Say whether targets are the same: devices by identity, as comparing all facts takes long."""
    return len(before) == len(now) and all(
        old[0] is new[0] and old[1] == new[1] for old, new in zip(before, now, strict=True)
    )


def _place(target: Target) -> Place:
    c = learned_form(target).configuration
    threads = threads_in_use(target.device, c.threads)
    return Place(target.device.id, c.runtime, str(c.precision), threads)
