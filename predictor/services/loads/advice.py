"""What would leave the busiest unit more time, by predictions: a batch, INT8, threads, a unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from predictor.core.records import Precision
from predictor.language.runtimes import LLAMA_CPP
from predictor.services.loads.answers import Advice, StageAnswer
from predictor.services.loads.costs import RunCost, in_precision, runs_at_once
from predictor.services.loads.placement import Assignment, Costs, simulation_of
from predictor.services.loads.records import Box, Load, Stage
from predictor.services.prediction.targets import resolve_targets, supports

_BATCH: Final = 4
_THREADS: Final = 2
_FOUR_BITS: Final = "q4_k_m"
_USEFUL: Final = 0.97  # of the utilisation before
CostOf = Callable[[Stage, str], RunCost]
Change = tuple[str, Stage, str]
"""A change of a stage: its name in words, the changed stage, and the name of the unit."""


class Advisor:
    """Changes of the stage that binds.

    Args:
        load: streams and their stages.
        box: that they run on.
        assignment: of stages to units.
        costs: of the stages on the units of the assignment.
        binding: the stage that takes most of the busiest unit.
        cost: predicts a stage on a unit.
    """

    def __init__(
        self,
        load: Load,
        box: Box,
        assignment: Assignment,
        costs: Costs,
        binding: StageAnswer,
        cost: CostOf,
    ) -> None:
        self._load, self._box, self._assignment = load, box, assignment
        self._costs, self._binding, self._cost = costs, binding, cost
        self._i, self._j = next(
            (i, j)
            for i, stream in enumerate(load.streams)
            for j, stage in enumerate(stream.stages)
            if stage is binding.stage
        )
        self._place = list(box.units).index(binding.unit)

    def all(self) -> tuple[Advice, ...]:
        """Return the changes that help, the most helpful first."""
        stage, unit = self._binding.stage, self._assignment[self._i][self._j]
        changes: list[Change] = []
        if stage.batch < _BATCH and self._fills_in_time(stage):
            batched = replace(stage, batch=_BATCH)
            changes.append((f"batches of {_BATCH}", batched, unit))
        changes += self._smaller(stage, unit) if stage.generates else self._of_network(stage, unit)
        free = replace(stage, runtime="", precision="")
        changes += [(f"on {name}", free, name) for name in self._box.units if name != unit]
        before = self._strain(self._assignment, self._costs)
        helpful = [
            change
            for words, changed, name in changes
            if (change := self._change(words, changed, name)) is not None
            and change.busiest < before * _USEFUL
        ]
        return tuple(sorted(helpful, key=lambda change: change.busiest))

    def _fills_in_time(self, stage: Stage) -> bool:
        """Whether the runs of a full batch come within the deadline of the stream."""
        stream = self._load.streams[self._i]
        runs_per_s = stream.rate_per_s * stream.count * stage.per_item
        return 1000 * (_BATCH - 1) / runs_per_s <= (stream.deadline_ms or math.inf)

    def _smaller(self, stage: Stage, unit: str) -> list[Change]:
        """Return the change of a language model under llama.cpp to the usual four bits."""
        cost = self._binding.cost
        runs_there = cost.prediction.configuration.runtime.startswith(LLAMA_CPP)
        if not runs_there or cost.number_format == _FOUR_BITS:
            return []
        return [(_FOUR_BITS, replace(stage, weights=_FOUR_BITS), unit)]

    def _of_network(self, stage: Stage, unit: str) -> list[Change]:
        """Return the changes of a network's precision and threads."""
        changes: list[Change] = []
        here = self._box.units[unit]
        (target,) = resolve_targets([here.device])
        is_int8 = self._binding.cost.prediction.configuration.precision is Precision.INT8
        if not is_int8 and supports(
            target.device, replace(target.configuration, precision=Precision.INT8)
        ):
            changes.append(("INT8", in_precision(stage, Precision.INT8), unit))
        threaded = replace(stage, threads=_THREADS)
        if stage.threads is None and runs_at_once(threaded, here) > here.count:
            changes.append((f"runs of {_THREADS} threads", threaded, unit))
        return changes

    def _change(self, words: str, stage: Stage, unit: str) -> Advice | None:
        cost = self._cost(stage, unit)
        if cost.prediction.latency_ms is None:
            return None
        stream = self._load.streams[self._i]
        stages = (*stream.stages[: self._j], stage, *stream.stages[self._j + 1 :])
        streams = list(self._load.streams)
        streams[self._i] = replace(stream, stages=stages)
        row = self._assignment[self._i]
        rows = list(self._assignment)
        rows[self._i] = (*row[: self._j], unit, *row[self._j + 1 :])
        costs = {**self._costs, (self._i, self._j): {unit: cost}}
        load = replace(self._load, streams=tuple(streams))
        simulation = simulation_of(load, self._box, tuple(rows), costs, 1)
        demand = simulation.demand(None, simulation.stated)
        return Advice(
            words=f"{stage.name} {words}"
            if words.startswith("on ")
            else f"{stage.name} in {words}",
            before_ms=_item_ms(self._costs[self._i, self._j][row[self._j]]),
            after_ms=_item_ms(cost),
            utilisation=float(demand[self._place]),
            busiest=float(demand.max()),
            few_chips=cost.prediction.few_chips,
        )

    def _strain(self, assignment: Assignment, costs: Costs) -> float:
        simulation = simulation_of(self._load, self._box, assignment, costs, 1)
        return float(simulation.demand(None, simulation.stated).max())


def _item_ms(cost: RunCost) -> float:
    return float(cost.batch_ms[-1]) / len(cost.batch_ms) + cost.processor_ms
