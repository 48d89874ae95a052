"""The product's engine: physics, efficiencies and evidence, or the network that a user tuned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.calibration.operator_fit import Work
from predictor.calibration.target_fit import PARTS
from predictor.core.caching import IdentityCache
from predictor.core.errors import InputError
from predictor.core.percentiles import Z80, Z95
from predictor.core.records import Device, Target, TargetId
from predictor.cost.capability import check_supported
from predictor.cost.engine import (
    NOTHING_MEASURED,
    Explanation,
    PredictionTable,
    TargetMeasurements,
    VariedTimes,
)
from predictor.cost.roofline import RatedTargets, RooflineEngine
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.doubts import graph_doubts, rare_operators
from predictor.engine.estimate import Estimate, TargetEstimates
from predictor.engine.outputs import explanation
from predictor.engine.prepared_targets import FEWEST, PreparedTargets, read_prepared
from predictor.engine.targets import MeasuredState, TargetStates, bound_factor, operator_fit
from predictor.engine.timed_work import TimedGraph, by_resource
from predictor.engine.tuned import TunedNetwork
from predictor.graph.operator_graph import OperatorGraph
from predictor.network.reference_rates import ReferenceRates

Floats = NDArray[np.float64]
_MOST_GRAPHS: Final = 512  # a whole pool of reference networks, and the user's own
_MOST_MEASURED: Final = 16  # targets
_QUANTILES: Final = np.array([Z80, Z95])
_OVER_BOUND: Final = 1.05  # the least latency over its bound: no run reaches its bound


class CloserToMeEngine:
    """Predicts with intervals, for any graph on any target.

    Never under the physical bound, never faster with a larger batch (with timed operators as long
    as its launches take as long), unchanged by names and by the order of operators.

    Reference:
        CloserToMe, Eq. (3) to (9).
    """

    def __init__(self, folder: Path) -> None:
        """Read the checkpoint; the network itself is loaded with its first prediction.

        Raises:
            InputError: the checkpoint is missing, damaged or newer than this program.
        """
        self._checkpoint = read_checkpoint(folder)
        self._card = self._checkpoint.engine
        self._network = TunedNetwork(self._checkpoint)
        self._roofline = RooflineEngine(self._rated)
        # The same targets and graphs are asked about again and again.
        self._prepared: IdentityCache[PreparedTargets | None] = IdentityCache(1)
        self._looked_up: IdentityCache[TargetStates] = IdentityCache(1)
        self._measured: IdentityCache[MeasuredState] = IdentityCache(_MOST_MEASURED)
        self._estimated: IdentityCache[TargetEstimates] = IdentityCache(1)
        self._timed_graphs: IdentityCache[TimedGraph] = IdentityCache(_MOST_GRAPHS)

    @property
    def name(self) -> str:
        """Name and version, as stored with each prediction."""
        return self._card.name

    @property
    def network(self) -> str:
        """SHA-256 of the part of the network that FiLM fine-tuning fits."""
        return self._network.checksum

    @property
    def head(self) -> Path:
        """File of that part."""
        return self._network.head

    def has_signature(self, target: Target) -> bool:
        """Return whether published measurements of the target came with the program."""
        return self._estimate.have_measured([target])[0]

    def class_chips(self, targets: Sequence[Target]) -> Sequence[int | None]:
        """Return on how many chips the class of each target was checked, see ``Prediction``."""
        return self._estimate.of(targets).class_chips

    def predict(
        self,
        graphs: Sequence[OperatorGraph],
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements],
    ) -> PredictionTable:
        """Predict every graph on every target; see :class:`predictor.cost.engine.Engine`."""
        analytic = self._roofline.predict(graphs, targets, {})
        states = self._states(targets, measured)
        estimates = self._estimates(states, measured)
        shape = (len(graphs), len(targets))
        latency, apart = np.empty(shape), np.empty((2, *shape))
        shared = np.zeros((*shape, 1 + max(PARTS, self._card.responses)), np.float32)
        doubts: dict[tuple[int, int], str] = {}
        for row, graph in enumerate(graphs):
            estimate = self._estimate.predict(graph, estimates)
            latency[row] = estimate.latency_ms
            apart[:, row] = np.exp(estimates.wide * estimate.deviation)
            shared[row, :, : 1 + PARTS] = estimate.shared
            words = self._doubts(graph, estimates)
            doubts |= {(row, column): text for column, text in enumerate(words) if text}
            for column, tuned in states.tuned.items():
                of_network, apart[:, row, column] = self._network.latency(graph, tuned)
                latency[row, column] = of_network.latency_ms[0]
                error = of_network.shared_error[0]
                shared[row, column, len(error) :] = 0.0
                shared[row, column, : len(error)] = error
            # Times of the target's own operators replace the estimate's, see decision 0014.
            for column, fit in states.fits.items():
                timed = fit.predict(self._work(graph, targets[column]))
                latency[row, column] = timed.parts_ms.sum()
                apart[:, row, column] = np.exp(_QUANTILES * timed.deviation)
        latency[:, list(states.problems)] = np.nan
        bound = analytic.bound_ms * [states.bound_factors.get(t, 1.0) for t in range(shape[1])]
        latency = _at_least(latency, bound * _OVER_BOUND)
        low80, low95 = _at_least(latency / apart, bound)
        high80, high95 = latency * apart
        basis = [None if t in states.problems else each for t, each in enumerate(states.basis)]
        evidence = [
            # The record is the estimate's, not that of the network that the user tuned.
            "" if t in states.problems else e.partition("; ")[0] if t in states.tuned else e
            for t, e in enumerate(estimates.evidence)
        ]
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
                "fine_tuned": [[t in states.tuned for t in range(shape[1])]] * shape[0],
                "by_operators": [[t in states.fits for t in range(shape[1])]] * shape[0],
                "evidence": [evidence] * shape[0],
                "class_chips": [estimates.class_chips] * shape[0],
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
        # Parts must sum to the prediction, which may be raised over its bound.
        predicted = self.predict([graph], [target], measured).latency_ms[0, 0]
        if 0 in states.tuned:
            return self._network.explanation(graph, states.tuned[0], predicted)
        estimates = self._estimates(states, measured)
        shares = self._estimate.explanation(graph, estimates, predicted)
        if 0 not in states.fits:
            return shares
        parts = by_resource(states.fits[0].predict(self._work(graph, target)).parts_ms)
        parts *= np.fmax(1.0, predicted / parts.sum())
        return explanation(len(graph), self._timed(graph).places, parts, shares.attention)

    def explained(
        self,
        graph: OperatorGraph,
        targets: Sequence[Target],
        predicted: Floats,
        places: Sequence[int],
        measured: Mapping[TargetId, TargetMeasurements] = NOTHING_MEASURED,
    ) -> Iterator[Explanation | None]:
        """Explain one graph on targets; see :class:`predictor.cost.engine.Engine`."""
        states = self._states(targets, measured)
        estimates = self._estimates(states, measured)

        def explained(place: int) -> Explanation | None:
            if place in states.problems:
                return None
            if place in states.tuned or place in states.fits:
                return self.explain(graph, targets[place], measured)
            return self._estimate.explanation(graph, estimates.at(place), float(predicted[place]))

        return map(explained, places)

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
        if 0 in states.tuned:
            tuned = states.tuned[0]
            times = [self._network.varied_ms(graph, tuned, other) for other in others]
            operator_ms = np.array(times)
        elif 0 in states.fits:
            fit = states.fits[0]
            operator_ms = np.zeros((len(others), len(graph)))
            for row, other in enumerate(others):
                parts = fit.predict(self._work(graph, other)).parts_ms
                operator_ms[row, self._timed(graph).places] = parts.sum(axis=1)
        else:
            estimates = self._estimates(states, measured)
            operator_ms = self._estimate.varied_ms(graph, estimates, devices)
        bound = self._roofline.predict([graph], others, {}).bound_ms[0]
        bound *= states.bound_factors.get(0, 1.0)
        return VariedTimes(operator_ms, np.fmax(operator_ms.sum(axis=1), bound * _OVER_BOUND))

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
        return self._network.head_inputs(graphs, target)

    def operator_work(self, graphs: Sequence[OperatorGraph], target: Target) -> list[Work]:
        """Return the work of the operators of graphs on a target: parts of their times."""
        return [self._work(graph, target) for graph in graphs]

    @property
    def _estimate(self) -> Estimate:
        return self._checkpoint.estimate

    def _prepared_of(self, targets: Sequence[Target]) -> PreparedTargets | None:
        """Return what is prepared of the shipped targets; None of others."""
        if len(targets) < FEWEST:
            return None
        folder, checksum = self._checkpoint.folder, self._checkpoint.estimate_checksum
        return self._prepared.get(
            tuple(target.device for target in targets),
            lambda: read_prepared(folder, checksum, targets),
            tuple(target.configuration for target in targets),
        )

    def _rated(self, targets: Sequence[Target]) -> RatedTargets:
        prepared = self._prepared_of(targets)
        return RatedTargets.of(targets) if prepared is None else prepared.rated

    def _states_of(self, targets: Sequence[Target]) -> TargetStates:
        prepared = self._prepared_of(targets)
        if prepared is not None:
            return prepared.states
        return TargetStates.of(targets, self._estimate.have_measured(targets))

    def _estimates_of(self, targets: Sequence[Target]) -> TargetEstimates:
        prepared = self._prepared_of(targets)
        return self._estimate.of(targets) if prepared is None else prepared.estimates

    def _states(
        self, targets: Sequence[Target], measured: Mapping[TargetId, TargetMeasurements]
    ) -> TargetStates:
        """Return the states of targets with the user's measurements."""
        plain = self._looked_up.get(
            tuple(target.device for target in targets),
            lambda: self._states_of(targets),
            tuple(target.configuration for target in targets),
        )
        own = {
            index: self._measured_state(target, measured[target.id])
            for index, target in enumerate(targets if measured else ())
            if target.id in measured and len(measured[target.id].graphs)
        }
        return plain.with_measured(own) if own else plain

    def _estimates(
        self, states: TargetStates, measured: Mapping[TargetId, TargetMeasurements]
    ) -> TargetEstimates:
        """Return what the estimate knows of targets.

        What the user measured of a device tells about its other configurations.
        """
        targets = states.targets
        devices = {target.device.id: target.device for target in targets}
        own = [
            self._measured_state(Target(devices[key.device_id], key.configuration), each).own
            for key, each in measured.items()
            if key.device_id in devices and len(each.graphs)
        ]
        if own:
            return self._estimate.of(targets, own)
        return self._estimated.get(
            tuple(target.device for target in targets),
            lambda: self._estimates_of(targets),
            tuple(target.configuration for target in targets),
        )

    def _measured_state(self, target: Target, measured: TargetMeasurements) -> MeasuredState:
        return self._measured.get(
            (measured, target.device),
            lambda: self._fitted(target, measured),
            target.configuration,
        )

    def _fitted(self, target: Target, measured: TargetMeasurements) -> MeasuredState:
        def timed_work(graph: OperatorGraph) -> tuple[TimedGraph, Work]:
            return self._timed(graph), self._work(graph, target)

        bound = self._roofline.predict(measured.graphs, [target], {}).bound_ms[:, 0]
        return MeasuredState(
            self._estimate.fitted(target, measured.graphs, measured.latency_ms),
            self._network.target(target, measured),
            operator_fit(measured, timed_work),
            bound_factor(bound, measured.latency_ms),
        )

    def _doubts(self, graph: OperatorGraph, estimates: TargetEstimates) -> list[str]:
        """Return the doubts about a graph on each target, empty for none."""
        experience = self._card.experience
        rare = np.flatnonzero(rare_operators(graph.op_types, experience))
        share = self._estimate.share(graph, estimates, rare)
        of_graph = graph_doubts(graph, rare, share)
        both = zip(of_graph, estimates.doubts, strict=True)
        return ["; ".join(filter(None, each)) for each in both]

    def _timed(self, graph: OperatorGraph) -> TimedGraph:
        return self._timed_graphs.get((graph,), lambda: TimedGraph.of(graph))

    def _work(self, graph: OperatorGraph, target: Target) -> Work:
        rates = ReferenceRates.of([target], self._card.typical)
        return self._timed(graph).work(target.device, rates)


def _at_least(latency: Floats, bound: Floats) -> Floats:
    """Raise latencies to their bound; NaN stays where there is no latency."""
    return np.fmax(latency, np.where(np.isnan(latency), np.nan, bound))
