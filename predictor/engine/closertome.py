"""The engine that the product predicts with: the CloserToMe network and what was measured."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.deviation import Deviation, Expectation
from predictor.calibration.operators import OperatorFit, Work
from predictor.calibration.posterior import Z80, Z95
from predictor.core.errors import InputError
from predictor.core.records import Basis, Configuration, Device, Target
from predictor.cost.engine import Explanation, PredictionTable, TargetMeasurements
from predictor.cost.roofline import RooflineEngine
from predictor.cost.support import check_supported
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.doubts import device_doubt, graph_doubts
from predictor.engine.expected import expectation, predicted
from predictor.engine.explained import attention_maps, explanation
from predictor.engine.kept import KeptByGraph
from predictor.engine.own import Films, films_of, own_deviation
from predictor.engine.places import Place, learned_form, place_of
from predictor.engine.related import related
from predictor.engine.timed import eased, operator_fit
from predictor.engine.timed_work import TimedGraph, by_resource
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.reference_rates import ReferenceRates, is_rated
from predictor.network.target_facts import TargetFacts, target_facts
from predictor.network.term_runtime import EncodedGraph, HeadOutput, TermRuntime

Floats = NDArray[np.float64]
_Asked = tuple[tuple[Device, Configuration], ...]
_UNRATED: Final = (
    "nothing tells how much the device can compute: neither a rate nor clock and number of cores is"
    " known; add one, or probe the device"
)
_MOST_OWN: Final = 16  # targets that were measured
_SURE: Final = (1.0, 1.0)  # times the standard deviation that a fit of operators says


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What is known of T targets before any graph: facts, rates, deviations, widths.

    By their places: what their measurements tell beside the deviations.
    """

    asked: _Asked
    facts: TargetFacts
    rates: ReferenceRates
    deviations: list[Deviation]
    basis: list[Basis]
    widths: list[tuple[float, float]]
    problems: dict[int, str]
    doubts: list[str]
    films: Films = field(default_factory=dict)
    fits: Mapping[int, OperatorFit] = field(default_factory=dict)
    ease: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class _Own:
    """What a target's measurements tell beside its deviation.

    Attributes:
        fit: of its operators; None where none was timed.
        ease: the part of the physical bound that holds, as something ran faster.
    """

    measured: TargetMeasurements
    asked: _Asked
    fit: OperatorFit | None
    ease: float


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
        self._owned: deque[_Own] = deque(maxlen=_MOST_OWN)
        self._encode = KeptByGraph(self._encoded)
        self._timed = KeptByGraph(TimedGraph.of)

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
        return place_of(target) in self._shipped

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
        bound = analytic.bound_ms * np.array([known.ease.get(t, 1.0) for t in range(shape[1])])
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
            by_operators=frozenset(known.fits),
        )

    def explain(
        self, graph: OperatorGraph, target: Target, measured: TargetMeasurements | None = None
    ) -> Explanation:
        """Say where one graph's time goes; InputError where the target has no number for it."""
        check_supported(target.device, target.configuration)
        known = self._known([target], {} if measured is None else {target.key: measured})
        if known.problems:
            raise InputError(
                target.device.id, known.problems[0].partition("; ")[0], "add one, or probe it"
            )
        encoded = self._encode(graph)
        outputs = self._runtime.expect(encoded, known.facts, known.rates, known.films)
        _, output = next(iter(outputs))
        places, parts = self._parts(graph, encoded, output, known)
        bound = self._roofline.predict([graph], [target], {}).bound_ms[0, 0] * known.ease.get(
            0, 1.0
        )
        parts *= np.fmax(1.0, bound / parts.sum())
        attention = attention_maps(self._engine, len(graph), encoded, output, known.facts)
        return explanation(len(graph), places, parts, attention)

    def _parts(
        self, graph: OperatorGraph, encoded: EncodedGraph, output: HeadOutput, known: _Known
    ) -> tuple[NDArray[np.int64], Floats]:
        """Return which operators take time on one target, [R], and how long, [R, 3]."""
        if 0 in known.fits:
            parts_ms = known.fits[0].predict(self._work(graph, known, 0)).parts_ms
            return self._timed(graph).places, by_resource(parts_ms)
        deviation = known.deviations[0]
        expected = expectation(encoded, output, 0)
        latency = expected.latency_ms(deviation.weights) * deviation.factor
        # What a run costs whatever the graph is shared by its operators.
        return encoded.places, expected.shares(deviation.weights) * latency

    def _work(self, graph: OperatorGraph, known: _Known, column: int) -> Work:
        rates = known.rates.take(np.array([column]))
        return self._timed(graph).work(known.asked[column][0], rates)

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
        own = {place_of(targets[index]): deviation for index, deviation in found.items()}
        told = {index: measured[targets[index].key] for index in found}
        films = films_of(told, self.network)
        owned = {i: self._owned_by(plain, i, targets[i], each) for i, each in told.items()}
        fits = {i: own.fit for i, own in owned.items() if i not in films and own.fit is not None}
        return replace(
            plain,
            deviations=[
                found.get(i) or related(place_of(target), own) or plain.deviations[i]
                for i, target in enumerate(targets)
            ],
            basis=[Basis.PROBED if i in found else each for i, each in enumerate(plain.basis)],
            widths=[
                _SURE if i in fits else self._engine.widths.probed if i in found else each
                for i, each in enumerate(plain.widths)
            ],
            problems={
                index: words
                for index, words in plain.problems.items()
                if index not in found or words is not _UNRATED
            },
            doubts=["" if i in found else each for i, each in enumerate(plain.doubts)],
            films=films,
            fits=fits,
            ease={i: own.ease for i, own in owned.items()},
        )

    def _owned_by(
        self, known: _Known, index: int, target: Target, measured: TargetMeasurements
    ) -> _Own:
        """Return what a target's measurements tell; kept for the next call."""
        asked = (known.asked[index],)
        for own in self._owned:
            if own.measured is measured and _same(own.asked, asked):
                return own

        def of_graph(graph: OperatorGraph) -> tuple[TimedGraph, Work]:
            return self._timed(graph), self._work(graph, known, index)

        bound = self._roofline.predict(measured.graphs, [target], {}).bound_ms[:, 0]
        own = _Own(
            measured, asked, operator_fit(measured, of_graph), eased(bound, measured.latency_ms)
        )
        self._owned.append(own)
        return own

    def _plain(self, targets: Sequence[Target]) -> _Known:
        """Return what is known of targets but for the user's measurements; kept for the next call.

        The same targets are asked about again and again, for one model after the other.
        """
        asked = tuple((target.device, target.configuration) for target in targets)
        if self._last is None or not _same(self._last[0], asked):
            self._last = (asked, self._looked_up(targets, asked))
        return self._last[1]

    def _looked_up(self, named: Sequence[Target], asked: _Asked) -> _Known:
        targets = [learned_form(target) for target in named]
        rates = ReferenceRates.of(targets, self._engine.typical)
        problems: dict[int, str] = {}
        for index, target in enumerate(named):
            try:
                check_supported(target.device, target.configuration)
            except InputError as error:
                problems[index] = f"{error.reason}; {error.action}"
        for index, target in enumerate(targets):
            if not is_rated(target.device) and place_of(target) not in self._shipped:
                problems.setdefault(index, _UNRATED)
        places = [place_of(target) for target in targets]
        shipped = [self._shipped.get(place) for place in places]
        return _Known(
            asked,
            target_facts(targets, rates, self._engine.facts, self._engine.choices),
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

    def _encoded(self, graph: OperatorGraph) -> EncodedGraph:
        return self._runtime.encode(graph)

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

    def operator_work(self, graphs: Sequence[OperatorGraph], target: Target) -> list[Work]:
        """Return what the operators of graphs have to do on a target: parts of their times."""
        plain = self._plain([target])
        return [self._work(graph, plain, 0) for graph in graphs]

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
        for column, fit in known.fits.items():
            foretold = fit.predict(self._work(graph, known, column))
            latency[column] = foretold.parts_ms.sum()
            deviation[0, column] = foretold.deviation
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


def _same(before: _Asked, now: _Asked) -> bool:
    """Say whether targets are the same: devices by identity, as comparing all facts takes long."""
    return len(before) == len(now) and all(
        old[0] is new[0] and old[1] == new[1] for old, new in zip(before, now, strict=True)
    )
