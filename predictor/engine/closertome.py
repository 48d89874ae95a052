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
from predictor.calibration.target_fit import PARTS
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
from predictor.cost.run_facts import Computed, Row
from predictor.engine.checkpoint import read_checkpoint
from predictor.engine.targets.fine_tuned import TunedNetwork
from predictor.engine.targets.lookup import TargetLookup, probing_facts
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
        self._lookup = TargetLookup(checkpoint)

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
        analytic = self._lookup.roofline.predict(graphs, targets, {})
        models = self._lookup.models(targets, measured)
        shape = (len(graphs), len(targets))
        latency, reach = np.empty(shape), np.empty((2, *shape))
        shared = np.zeros((*shape, 1 + max(PARTS, self._card.responses)), np.float32)
        doubts: dict[tuple[int, int], str] = {}
        for row, graph in enumerate(graphs):
            for places, model in models.families:
                predicted = model.latency(graph)
                latency[row, places] = predicted.latency_ms
                reach[:, row, places] = predicted.reach
                shared[row, places, : predicted.shared_error.shape[1]] = predicted.shared_error
                for place, words in zip(places.tolist(), model.doubts(graph), strict=True):
                    if words:
                        doubts[row, place] = words
        refused = refusals(graphs, targets)
        for row, place in refused:
            latency[row, place] = np.nan
        latency[:, list(models.problems)] = np.nan
        bound = analytic.bound_ms * models.bound_factors
        latency = _raised(latency, bound * _OVER_BOUND)
        low80, low95 = _raised(latency / reach, bound)
        high80, high95 = latency * reach
        of_targets: dict[str, Row[Any]] = {
            **models.facts,
            **probing_facts(targets, models.basis, measured),
            "spread": Computed(len(targets), lambda place: spread_of(targets[place], batch=1)),
        }
        return PredictionTable(
            engine=self.name,
            latency_ms=latency,
            low80_ms=low80,
            high80_ms=high80,
            low95_ms=low95,
            high95_ms=high95,
            bound_ms=bound,
            basis=[models.basis] * len(graphs),
            memory_bytes=analytic.memory_bytes,
            fits_memory=analytic.fits_memory,
            problems={
                **refused,
                **{
                    (row, place): words
                    for row in range(len(graphs))
                    for place, words in models.problems.items()
                },
            },
            predicted_ms=latency,
            out_of_distribution=doubts,
            shared_error=shared,
            facts={
                **analytic.facts,
                **{name: [values] * len(graphs) for name, values in of_targets.items()},
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
        models = self._lookup.models(targets, measured)
        if predicted is None:
            predicted = self.predict([graph], targets, measured).latency_ms[0]
        latency_ms = predicted.tolist()

        def explanation(place: int) -> Explanation | None:
            if place in models.problems or math.isnan(latency_ms[place]):
                return None
            model, inside = models.by_place[place]
            return model.explain(graph, inside, latency_ms[place])

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
        models = self._lookup.models([target], measured)
        if models.problems:
            raise no_number(target, models.problems[0])
        model, place = models.by_place[0]
        operator_ms = model.varied(graph, place, devices)
        variants = [replace(target, device=device) for device in devices]
        bound = self._lookup.roofline.predict([graph], variants, {}).bound_ms[0]
        bound *= models.bound_factors[0]
        return VariedTimes(operator_ms, np.fmax(operator_ms.sum(axis=1), bound * _OVER_BOUND))

    def operator_work(
        self, graphs: Sequence[OperatorGraph], target: Target
    ) -> list[RatedOperators]:
        """Return the work of the operators of graphs on a target: parts of their times."""
        return [self._lookup.works.work(graph, target) for graph in graphs]


def _raised(latency: Floats, bound: Floats) -> Floats:
    """Raise latencies to their bound; NaN stays where there is no latency."""
    return np.fmax(latency, np.where(np.isnan(latency), np.nan, bound))
