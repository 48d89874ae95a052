"""The product's engine: the model of each target answers, over its physical bound."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from predictor.calibration.operator_fit import RatedOperators
from predictor.calibration.tails import spread_of
from predictor.core.arrays import Floats
from predictor.core.records import Device, Target, TargetId
from predictor.cost.engine import (
    NOTHING_MEASURED,
    Explanation,
    PredictionTable,
    TargetMeasurements,
    VariedTimes,
    no_number,
)
from predictor.cost.memory import refusals
from predictor.cost.rates.typical import Rates
from predictor.cost.run_facts import Computed, Row
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.targets.fine_tuned import TunedNetwork
from predictor.engine.targets.known import KnownDevices
from predictor.engine.targets.lookup import TargetLookup, probing_facts
from predictor.engine.targets.runs import GraphForms, GraphRun, TargetRuns, summed
from predictor.graph.operator_graph import OperatorGraph

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
        checkpoint = read_checkpoint(folder)
        self._card, self._estimate = checkpoint.engine, checkpoint.estimate
        self._lookup, self._forms = TargetLookup(checkpoint), GraphForms()
        self._devices = KnownDevices()

    @property
    def name(self) -> str:
        """Name and version, as stored with each prediction."""
        return self._card.name

    @property
    def network(self) -> TunedNetwork:
        """The network that predicts on targets that it was fine-tuned to."""
        return self._lookup.network

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
        targets = self._devices.first(targets)
        analytic = self._lookup.roofline.predict(graphs, targets, {})
        runs = self._runs(targets, measured)
        of_graphs = list(map(runs.of_graph, graphs))
        shape = (len(graphs), len(targets))
        latency, reach = np.empty(shape), np.empty((2, *shape))
        width = max(len(self._estimate.evidence.covariance), self._card.responses)
        shared = np.zeros((*shape, 1 + width), np.float32)
        doubts: dict[tuple[int, int], str] = {}
        for row, run in enumerate(of_graphs):
            predicted = run.latency()
            latency[row], reach[:, row] = predicted.latency_ms, predicted.reach
            shared[row, :, : predicted.shared_error.shape[1]] = predicted.shared_error
            doubts |= {(row, place): words for place, words in run.doubts().items()}
        refused = refusals(graphs, targets)
        for row, place in refused:
            latency[row, place] = np.nan
        latency[:, list(runs.models.problems)] = np.nan
        factors = np.array([run.models.bound_factors for run in of_graphs]).reshape(shape)
        bound = analytic.bound_ms * factors
        latency = _raised(latency, bound * _OVER_BOUND)
        low80, low95 = _raised(latency / reach, bound)
        high80, high95 = latency * reach
        # Those of targets are found once for all graphs that run on them alike.
        of_targets = {id(run.models): _facts(run, measured) for run in of_graphs}
        facts = [
            {**of_targets[id(run.models)], "run_precision": run.precisions} for run in of_graphs
        ]
        return PredictionTable(
            engine=self.name,
            latency_ms=latency,
            low80_ms=low80,
            high80_ms=high80,
            low95_ms=low95,
            high95_ms=high95,
            bound_ms=bound,
            basis=[run.models.basis for run in of_graphs],
            memory_bytes=analytic.memory_bytes,
            fits_memory=analytic.fits_memory,
            problems={
                **refused,
                **{
                    (row, place): words
                    for row in range(len(graphs))
                    for place, words in runs.models.problems.items()
                },
            },
            predicted_ms=latency,
            out_of_distribution=doubts,
            shared_error=shared,
            facts={
                **analytic.facts,
                **{name: [of[name] for of in facts] for name in (facts[0] if facts else ())},
            },
        )

    def explain(
        self,
        graph: OperatorGraph,
        targets: Sequence[Target],
        measured: Mapping[TargetId, TargetMeasurements] = NOTHING_MEASURED,
        *,
        predicted: Floats | None = None,
        places: Sequence[int] | None = None,
    ) -> Iterator[Explanation | None]:
        """Explain one graph on targets; see :class:`predictor.cost.engine.Engine`."""
        targets = self._devices.first(targets)
        runs = self._runs(targets, measured)
        if predicted is None:
            predicted = self.predict([graph], targets, measured).latency_ms[0]
        latency_ms = predicted.tolist()
        run = runs.of_graph(graph)

        def explanation(place: int) -> Explanation | None:
            if place in runs.models.problems or math.isnan(latency_ms[place]):
                return None
            parts = run.at(place)
            # Several are raised to the bound together.
            least_ms = latency_ms[place] if len(parts) == 1 else 0.0
            parts_ms = [model.explain(form, inside, least_ms) for form, model, inside in parts]
            return parts_ms[0] if len(parts) == 1 else summed(parts_ms, latency_ms[place])

        return map(explanation, range(len(targets)) if places is None else places)

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
        runs = self._runs([target], measured)
        if runs.models.problems:
            raise no_number(target, runs.models.problems[0])
        run = runs.of_graph(graph)
        varied_ms = [model.varied(form, place, devices) for form, model, place in run.at(0)]
        operator_ms: Floats = np.sum(varied_ms, axis=0)
        variants = [replace(target, device=device) for device in devices]
        bound = self._lookup.roofline.predict([graph], variants, {}).bound_ms[0]
        bound *= run.models.bound_factors[0]
        return VariedTimes(operator_ms, np.fmax(operator_ms.sum(axis=1), bound * _OVER_BOUND))

    def rates(self, target: Target) -> Rates:
        """Return the rates that work on a target is divided by, arrays of one."""
        return self._estimate.rates([target])

    def operator_work(
        self, graphs: Sequence[OperatorGraph], target: Target
    ) -> list[RatedOperators]:
        """Return the work of the operators of graphs on a target: parts of their times."""
        return [self._lookup.works.work(graph, target) for graph in graphs]

    def _runs(
        self, targets: Sequence[Target], measured: Mapping[TargetId, TargetMeasurements]
    ) -> TargetRuns:
        return TargetRuns(self._lookup, self._forms, targets, measured)


def _facts(
    run: GraphRun, measured: Mapping[TargetId, TargetMeasurements]
) -> Mapping[str, Row[Any]]:
    """Return values of fields of ``Prediction`` by name, of any graph on T targets."""
    targets = run.targets
    return {
        **run.models.facts,
        **probing_facts(targets, run.models.basis, measured),
        "spread": Computed(len(targets), lambda place: spread_of(targets[place], batch=1)),
    }


def _raised(latency: Floats, bound: Floats) -> Floats:
    """Raise latencies to their bound; NaN stays where there is no latency."""
    return np.fmax(latency, np.where(np.isnan(latency), np.nan, bound))
