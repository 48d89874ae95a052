"""The product's engine: the CloserToMe network calibrated by measurements of the target."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.deviation import Deviation, Expectation
from predictor.calibration.operator_fit import Work
from predictor.core.caching import IdentityCache
from predictor.core.errors import InputError
from predictor.core.percentiles import Z80, Z95
from predictor.core.records import Basis, Device, Target, TargetId
from predictor.core.text import plural
from predictor.cost.capability import check_supported
from predictor.cost.engine import (
    NOTHING_MEASURED,
    Explanation,
    FilmBiases,
    PredictionTable,
    TargetMeasurements,
    VariedTimes,
)
from predictor.cost.roofline import RooflineEngine
from predictor.devices.catalogue import device_name
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.doubts import graph_doubts, rare_operators
from predictor.engine.estimate import Estimate, TargetEstimates
from predictor.engine.outputs import (
    GraphLatency,
    attention_maps,
    expectation,
    explanation,
    graph_latency,
)
from predictor.engine.targets import (
    UNRATED,
    MeasuredState,
    TargetStates,
    bound_factor,
    film_for,
    from_nearest,
    operator_fit,
    posterior,
    published_form,
)
from predictor.engine.timed_work import TimedGraph, by_resource
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.term_runtime import EncodedGraph, HeadOutput, TermRuntime

Floats = NDArray[np.float64]
_MOST_GRAPHS: Final = 512  # a whole pool of reference networks, and the user's own
_MOST_MEASURED: Final = 16  # targets
_FIT_WIDTHS: Final = (1.0, 1.0)  # a calibration by operators needs no widening


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
        self._card = self._checkpoint.engine
        self._roofline = RooflineEngine()
        # The same targets and graphs are asked about again and again.
        self._looked_up: IdentityCache[TargetStates] = IdentityCache(1)
        self._measured: IdentityCache[MeasuredState] = IdentityCache(_MOST_MEASURED)
        self._estimated: IdentityCache[TargetEstimates] = IdentityCache(1)
        self._encoded: IdentityCache[EncodedGraph] = IdentityCache(_MOST_GRAPHS)
        self._timed_graphs: IdentityCache[TimedGraph] = IdentityCache(_MOST_GRAPHS)

    @property
    def name(self) -> str:
        """Name and version, as stored with each prediction."""
        return self._card.name

    @cached_property
    def network(self) -> str:
        """SHA-256 of the part of the network that FiLM fine-tuning fits."""
        return hashlib.sha256(self.head.read_bytes()).hexdigest()

    @property
    def head(self) -> Path:
        """File of that part."""
        return self._checkpoint.head

    def has_signature(self, target: Target) -> bool:
        """Whether published measurements of the target came with the program."""
        return published_form(target).id in self._shipped

    def predict(
        self,
        graphs: Sequence[OperatorGraph],
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements],
    ) -> PredictionTable:
        """Predict every graph on every target; see :class:`predictor.cost.engine.Engine`."""
        analytic = self._roofline.predict(graphs, targets, {})
        states = self._states(targets, measured)
        shape = (len(graphs), len(targets))
        latency, spreads = np.full(shape, np.nan), np.full((2, *shape), np.nan)
        shared = np.zeros((*shape, 1 + self._card.responses), np.float32)
        doubts: dict[tuple[int, int], str] = {}
        estimated = self._estimated_places(states)
        learned = np.setdiff1d(np.arange(shape[1]), estimated)
        estimates = self._estimates(states, estimated, measured)
        network = states.take(learned) if len(estimated) else states
        for row, graph in enumerate(graphs):
            for part, block, words in self._latencies(graph, network):
                columns = learned[part]
                latency[row, columns], spreads[:, row, columns] = block.latency_ms, block.spreads
                shared[row, columns] = block.shared_error
                doubts |= _named(row, columns, words)
            if estimates is not None:
                latency[row, estimated] = self._shipped_estimate.latency_ms(graph, estimates)
                shared[row, estimated, 0] = np.sqrt(estimates.shared)
                doubts |= _named(row, estimated, self._estimate_doubts(graph, estimates))
            # Times of the target's own operators replace the network's, see decision 0014.
            for column, fit in states.fits.items():
                timed = fit.predict(self._work(graph, states, column))
                latency[row, column] = timed.parts_ms.sum()
                spreads[0, row, column] = timed.deviation
        # The network has typical rates for every target, so it returns a number here too.
        latency[:, list(states.problems)] = np.nan
        bound = analytic.bound_ms * [states.bound_factors.get(t, 1.0) for t in range(shape[1])]
        latency = _at_least(latency, bound)
        apart = self._apart(spreads, states)
        if estimates is not None:
            apart[:, :, estimated] = np.exp(estimates.apart)[:, None]
        low80, low95 = _at_least(latency / apart, bound)
        high80, high95 = latency * apart
        basis = [None if t in states.problems else each for t, each in enumerate(states.basis)]
        return PredictionTable(
            engine=self.name,
            latency_ms=latency,
            low80_ms=low80,
            high80_ms=high80,
            low95_ms=low95,
            high95_ms=high95,
            bound_ms=bound,
            basis=[basis] * len(graphs),
            memory_bytes=analytic.memory_bytes,
            fits_memory=analytic.fits_memory,
            problems={
                (g, t): words for g in range(len(graphs)) for t, words in states.problems.items()
            },
            predicted_ms=latency,
            out_of_distribution=doubts,
            shared_error=shared,
            facts={
                "fine_tuned": [[t in states.films for t in range(shape[1])]] * shape[0],
                "by_operators": [[t in states.fits for t in range(shape[1])]] * shape[0],
                "evidence": [_evidence(states, estimated, estimates, measured)] * shape[0],
            },
        )

    def explain(
        self,
        graph: OperatorGraph,
        target: Target,
        measured: Mapping[TargetId, TargetMeasurements] = NOTHING_MEASURED,
    ) -> Explanation:
        """Explain one graph on one target; InputError where the target has no number for it."""
        states = self._explicable(target, measured)
        bound = self._roofline.predict([graph], [target], {}).bound_ms[0, 0]
        bound *= states.bound_factors.get(0, 1.0)
        estimates = self._estimates(states, self._estimated_places(states), measured)
        if estimates is not None:
            return self._shipped_estimate.explanation(graph, estimates, bound)
        encoded = self._encode(graph)
        _, output = next(self._runtime.expect(encoded, states.facts, states.rates, states.films))
        places, parts = self._parts(graph, encoded, output, states)
        # predict() raises the latency to the bound, and the parts must sum to the same number;
        # fmax ignores the NaN of an unknown bound.
        parts *= np.fmax(1.0, bound / parts.sum())
        attention = attention_maps(self._card, len(graph), encoded, output, states.facts)
        return explanation(len(graph), places, parts, attention)

    def varied(
        self,
        graph: OperatorGraph,
        target: Target,
        devices: Sequence[Device],
        measured: Mapping[TargetId, TargetMeasurements] = NOTHING_MEASURED,
    ) -> VariedTimes:
        """Return the times of a graph on a target whose device has other facts, at its evidence.

        Raises:
            InputError: the target has no number for it.
        """
        states = self._explicable(target, measured)
        others = [replace(target, device=device) for device in devices]
        estimates = self._estimates(states, self._estimated_places(states), measured)
        if estimates is not None:
            operator_ms = self._shipped_estimate.varied_ms(graph, estimates, devices)
        else:
            operator_ms = np.array([self._varied(graph, states, other) for other in others])
        bound = self._roofline.predict([graph], others, {}).bound_ms[0]
        bound *= states.bound_factors.get(0, 1.0)
        return VariedTimes(operator_ms, np.fmax(operator_ms.sum(axis=1), bound))

    def _varied(self, graph: OperatorGraph, states: TargetStates, other: Target) -> Floats:
        """Return the times of the operators by the network were the target another, [N]."""
        facts = self._looked_up_states([other])
        one = replace(states, targets=[other], facts=facts.facts, rates=facts.rates)
        encoded = self._encode(graph)
        _, output = next(self._runtime.expect(encoded, one.facts, one.rates, one.films))
        operator_ms = np.zeros(len(graph))
        places, parts = self._parts(graph, encoded, output, one)
        operator_ms[places] = parts.sum(axis=1)
        return operator_ms

    def _explicable(
        self, target: Target, measured: Mapping[TargetId, TargetMeasurements]
    ) -> TargetStates:
        """Return the state of a target; InputError where it has no number."""
        check_supported(target.device, target.configuration)
        states = self._states([target], measured)
        if states.problems:
            raise InputError(
                target.device.id, states.problems[0].partition("; ")[0], "add one, or probe it"
            )
        return states

    def head_inputs(
        self, graphs: Sequence[OperatorGraph], target: Target
    ) -> list[dict[str, NDArray[np.generic]]]:
        """Return the inputs of the part that fine-tuning fits, of each graph on a target."""
        states = self._plain_states([target])
        encoded = [self._encode(graph) for graph in graphs]
        return [self._runtime.head_inputs(each, states.facts, states.rates) for each in encoded]

    def operator_work(self, graphs: Sequence[OperatorGraph], target: Target) -> list[Work]:
        """Return the work of the operators of graphs on a target: parts of their times."""
        states = self._plain_states([target])
        return [self._work(graph, states, 0) for graph in graphs]

    @cached_property
    def _runtime(self) -> TermRuntime:
        files = self._checkpoint
        return TermRuntime(files.encoder, files.head, self._card.operators)

    @cached_property
    def _shipped(self) -> Mapping[TargetId, Deviation]:
        return self._checkpoint.signatures.deviations()

    @cached_property
    def _unmeasured(self) -> Deviation:
        return self._card.prior.unmeasured(self._card.responses)

    @property
    def _shipped_estimate(self) -> Estimate:
        assert self._checkpoint.estimate is not None  # noqa: S101  # asked for estimated targets
        return self._checkpoint.estimate

    def _estimated_places(self, states: TargetStates) -> NDArray[np.int64]:
        """Return the targets that the estimate predicts, not the network."""
        if self._checkpoint.estimate is None:
            return np.empty(0, np.int64)
        return np.flatnonzero(states.estimated)

    def _estimates(
        self,
        states: TargetStates,
        places: NDArray[np.int64],
        measured: Mapping[TargetId, TargetMeasurements],
    ) -> TargetEstimates | None:
        """Return what the estimate knows of the targets at ``places``; None where there are none.

        What the user measured of a device tells about its other configurations.
        """
        if not len(places):
            return None
        targets = [states.targets[place] for place in places.tolist()]
        estimate = self._shipped_estimate
        devices = {target.device.id: target.device for target in targets}
        for key, own in measured.items():
            if key.device_id in devices and len(own.graphs):
                neighbour = Target(devices[key.device_id], key.configuration)
                estimate = estimate.with_measured(neighbour, own.graphs, own.latency_ms)
        if estimate is not self._shipped_estimate:
            return estimate.of(targets)
        return self._estimated.get(
            tuple(target.device for target in targets),
            lambda: estimate.of(targets),
            tuple(target.configuration for target in targets),
        )

    def _estimate_doubts(self, graph: OperatorGraph, estimates: TargetEstimates) -> list[str]:
        """Return the doubts about a graph on estimated targets, empty for none."""
        experience = self._card.experience
        rare = np.flatnonzero(rare_operators(graph.op_types, experience))
        shares = self._shipped_estimate.shares(graph, estimates, rare)
        of_graph = graph_doubts(graph, rare, shares, experience)
        both = zip(of_graph, estimates.doubts, strict=True)
        return ["; ".join(filter(None, each)) for each in both]

    def _encode(self, graph: OperatorGraph) -> EncodedGraph:
        return self._encoded.get((graph,), lambda: self._runtime.encode(graph))

    def _timed(self, graph: OperatorGraph) -> TimedGraph:
        return self._timed_graphs.get((graph,), lambda: TimedGraph.of(graph))

    def _work(self, graph: OperatorGraph, states: TargetStates, column: int) -> Work:
        rates = states.rates.take(np.array([column]))
        return self._timed(graph).work(states.targets[column].device, rates)

    def _plain_states(self, targets: Sequence[Target]) -> TargetStates:
        """Return the states of targets but for the user's measurements."""
        return self._looked_up.get(
            tuple(target.device for target in targets),
            lambda: self._looked_up_states(targets),
            tuple(target.configuration for target in targets),
        )

    def _looked_up_states(self, targets: Sequence[Target]) -> TargetStates:
        states = TargetStates.of(targets, self._card, self._shipped)
        if self._checkpoint.estimate is None:
            return states
        return states.with_twins(self._checkpoint.estimate.twins(targets), self._shipped)

    def _states(
        self, targets: Sequence[Target], measured: Mapping[TargetId, TargetMeasurements]
    ) -> TargetStates:
        """Return the states of targets with the user's measurements."""
        plain = self._plain_states(targets)
        own = {
            index: self._measured_state(plain, index, measured[target.id])
            for index, target in enumerate(targets)
            if target.id in measured and len(measured[target.id].graphs)
        }
        if not own:
            return plain
        deviations = {
            published_form(targets[index]).id: each.deviation for index, each in own.items()
        }
        films = {index: each.film for index, each in own.items() if each.film is not None}
        fits = {
            index: each.fit
            for index, each in own.items()
            # The user chose fine-tuning: it goes before calibration by operators (0014).
            if each.fit is not None and index not in films
        }
        near = {
            index: own[index].deviation if index in own else nearest
            for index, target in enumerate(targets)
            for nearest in [from_nearest(published_form(target).id, deviations)]
            if index in own or nearest is not None
        }
        return replace(
            plain,
            deviations=[near.get(i) or each for i, each in enumerate(plain.deviations)],
            estimated=[each and i not in near for i, each in enumerate(plain.estimated)],
            basis=[Basis.PROBED if i in own else each for i, each in enumerate(plain.basis)],
            widths=[
                _FIT_WIDTHS if i in fits else self._card.widths.probed if i in own else each
                for i, each in enumerate(plain.widths)
            ],
            problems={
                index: words
                for index, words in plain.problems.items()
                # Measurements stand in for a missing rate, not for a missing runtime or precision.
                if index not in own or words != UNRATED
            },
            doubts=["" if i in own else each for i, each in enumerate(plain.doubts)],
            films=films,
            fits=fits,
            bound_factors={index: each.bound_factor for index, each in own.items()},
        )

    def _measured_state(
        self, states: TargetStates, index: int, measured: TargetMeasurements
    ) -> MeasuredState:
        target = states.targets[index]
        return self._measured.get(
            (measured, target.device),
            lambda: self._fitted(states, index, measured),
            target.configuration,
        )

    def _fitted(
        self, states: TargetStates, index: int, measured: TargetMeasurements
    ) -> MeasuredState:
        # The posterior is of this target alone, whatever others are asked about beside it.
        one = np.array([index])
        facts, rates = states.facts.take(one), states.rates.take(one)

        def expect(graph: OperatorGraph, films: Mapping[int, FilmBiases]) -> Expectation:
            encoded = self._encode(graph)
            _, output = next(self._runtime.expect(encoded, facts, rates, films))
            return expectation(encoded, output, 0)

        def timed_work(graph: OperatorGraph) -> tuple[TimedGraph, Work]:
            return self._timed(graph), self._work(graph, states, index)

        film = film_for(measured, self.network)
        bound = self._roofline.predict(measured.graphs, [states.targets[index]], {}).bound_ms[:, 0]
        return MeasuredState(
            posterior(expect, self._card.prior, measured, film),
            film,
            operator_fit(measured, timed_work),
            bound_factor(bound, measured.latency_ms),
        )

    def _latencies(
        self, graph: OperatorGraph, states: TargetStates
    ) -> Iterator[tuple[slice, GraphLatency, list[str]]]:
        """Yield latencies and doubts of a graph, some targets at a time."""
        if not states.targets:
            return
        encoded = self._encode(graph)
        for part, output in self._runtime.expect(encoded, states.facts, states.rates, states.films):
            latency = graph_latency(encoded, output, states.deviations[part], self._unmeasured)
            of_graph = graph_doubts(graph, encoded.places, latency.shares, self._card.experience)
            both = zip(of_graph, states.doubts[part], strict=True)
            yield part, latency, ["; ".join(filter(None, each)) for each in both]

    def _parts(
        self, graph: OperatorGraph, encoded: EncodedGraph, output: HeadOutput, states: TargetStates
    ) -> tuple[NDArray[np.int64], Floats]:
        """Return the operators that take time on one target, [R], and their parts, [R, 3] in ms."""
        if 0 in states.fits:
            parts_ms = states.fits[0].predict(self._work(graph, states, 0)).parts_ms
            return self._timed(graph).places, by_resource(parts_ms)
        deviation = states.deviations[0]
        expected = expectation(encoded, output, 0)
        latency = expected.latency_ms(deviation.weights) * deviation.factor
        # Operators share the fixed cost of a run, so that they sum to the latency.
        return encoded.places, expected.shares(deviation.weights) * latency

    def _apart(self, spreads: Floats, states: TargetStates) -> Floats:
        """Return the upper ends of the 80 % and the 95 % interval over the median, [2, G, T].

        Measurements never widen an interval beyond that of the unmeasured target.
        """
        widths, usual = np.array(states.widths).reshape(-1, 2), self._card.widths.zero_shot
        apart: list[Floats] = []
        for place, quantile in enumerate((Z80, Z95)):
            wide = np.minimum(widths[:, place] * spreads[0], usual[place] * spreads[1])
            # One that covers more is no narrower.
            apart.append(np.fmax(apart[-1] if apart else 1.0, np.exp(quantile * wide)))
        return np.stack(apart)


def _evidence(
    states: TargetStates,
    estimated: NDArray[np.int64],
    estimates: TargetEstimates | None,
    measured: Mapping[TargetId, TargetMeasurements],
) -> list[str]:
    """Return from where the numbers of each target come, in words; empty without a number."""
    words = []
    for place, (target, basis) in enumerate(zip(states.targets, states.basis, strict=True)):
        own = measured.get(target.id)
        if own is not None and len(own.graphs):
            words.append(f"from {plural(len(own.graphs), 'network', 'networks')} that you measured")
        elif basis is Basis.PROBED:
            words.append("from published measurements of this configuration")
        elif states.estimated[place]:
            words.append("")
        elif place in states.twins:
            twin = device_name(states.twins[place])
            words.append(f"from published measurements of {twin}, the same chip")
        else:
            words.append("from measurements of this device with other threads or precision")
    for place, text in zip(
        estimated.tolist(), estimates.evidence if estimates else (), strict=True
    ):
        words[place] = text
    return ["" if place in states.problems else text for place, text in enumerate(words)]


def _named(
    row: int, columns: NDArray[np.int64], words: Sequence[str]
) -> dict[tuple[int, int], str]:
    """Return the doubts of a graph by its row and the columns of targets."""
    pairs = zip(columns.tolist(), words, strict=True)
    return {(row, column): text for column, text in pairs if text}


def _at_least(latency: Floats, bound: Floats) -> Floats:
    """Raise latencies to their bound; NaN stays where there is no latency."""
    return np.fmax(latency, np.where(np.isnan(latency), np.nan, bound))
