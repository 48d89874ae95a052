"""What a box carries of a load: one answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.presentation.wording import number
from predictor.services.loads.advice import Advisor
from predictor.services.loads.answers import (
    SHARES,
    Answer,
    MemoryAnswer,
    StageAnswer,
    StreamAnswer,
    UnitAnswer,
)
from predictor.services.loads.boxes import budget_watts
from predictor.services.loads.costs import NO_EVIDENCE, Evidence, RunCost, item_joules, watts_of
from predictor.services.loads.language import stage_costs
from predictor.services.loads.limits import Limits
from predictor.services.loads.models import Models, model_key
from predictor.services.loads.placement import (
    Assignment,
    Costs,
    alone_ms,
    best_assignment,
    open_units,
    path_ms,
    rows_of,
    simulation_of,
    work_of,
)
from predictor.services.loads.prices import load_cost
from predictor.services.loads.records import AUTO, Box, Load, Stage, Stream
from predictor.services.loads.simulate import Draw, Simulation
from predictor.services.serving.records import Between

Floats = NDArray[np.float64]

_QUANTILES: Final = (0.5, 0.9, 0.99, *SHARES)


def carry(
    load: Load,
    box: Box,
    models: Models,
    evidence: Evidence = NO_EVIDENCE,
    progress: ProgressCallback = no_progress,
) -> Answer:
    """Predict what a box does with a load.

    Args:
        load: streams and their pipelines.
        box: the units.
        models: of all stages.
        evidence: the user's measurements.
        progress: called for each draw and each search of a limit.

    Raises:
        InputError: a stage names a unit that the box lacks, has no number, or a deadline is under
            the bound of its stages; with the line of the file.
        CancelledError: by ``progress``.
    """
    check_units(load, box)
    (costs,) = costs_of(load, [box], models, evidence)
    assignment = best_assignment(load, box, costs)
    check_deadlines(load, box, assignment, costs)
    return _Carrying(load, box, assignment, costs, models, evidence, progress).answer()


def costs_of(load: Load, boxes: Sequence[Box], models: Models, evidence: Evidence) -> list[Costs]:
    """Return the costs of all stages on the units that they may run on, a mapping a box."""
    costs: list[dict[tuple[int, int], dict[str, RunCost]]] = [{} for _ in boxes]
    by_kind: dict[object, list[dict[str, RunCost]]] = {}
    for i, stream in enumerate(load.streams):
        for j, stage in enumerate(stream.stages):
            run = stage.batch, stage.runtime, stage.precision, stage.threads
            tokens = stage.prompt_tokens, stage.new_tokens, stage.weights
            kind = model_key(stage), stage.unit, run, tokens
            if kind not in by_kind:
                units = [(box, box.units[name]) for box in boxes for name in open_units(stage, box)]
                rows = iter(stage_costs(stage, models[model_key(stage)], units, evidence))
                by_kind[kind] = [
                    {name: next(rows) for name in open_units(stage, box)} for box in boxes
                ]
            for entry, row in zip(costs, by_kind[kind], strict=True):
                entry[i, j] = row
    return list(costs)


def check_units(load: Load, box: Box) -> None:
    """Raise InputError, with its line, for a unit that a box lacks."""
    for stream in load.streams:
        for stage in stream.stages:
            if stage.unit != AUTO and stage.unit not in box.units:
                reason = f"{box.id} has no unit {stage.unit}; it has {', '.join(box.units)}"
                raise load.wrong(stage.line, "unit", reason)


def check_deadlines(load: Load, box: Box, assignment: Assignment, costs: Costs) -> None:
    """Raise InputError, with its line, for a deadline under the bound of its stages."""
    for i, (stream, names) in enumerate(zip(load.streams, assignment, strict=True)):
        bounds = {
            stage.name: (costs[i, j][name].prediction.bound_ms or 0.0) * (stage.per_item >= 1)
            for j, (stage, name) in enumerate(zip(stream.stages, names, strict=True))
        }
        bound = path_ms(stream, bounds)
        if stream.deadline_ms is not None and stream.deadline_ms < bound:
            raise load.wrong(
                stream.line,
                "deadline_ms",
                f"{stream.deadline_ms:g} ms is under the bound of its stages on {box.id}, "
                f"{number(bound)} ms, which no run beats",
            )


class _Carrying:
    """A load on a box with its stages placed."""

    def __init__(
        self,
        load: Load,
        box: Box,
        assignment: Assignment,
        costs: Costs,
        models: Models,
        evidence: Evidence,
        progress: ProgressCallback,
    ) -> None:
        self._load, self._box, self._assignment = load, box, assignment
        self._models, self._evidence = models, evidence
        self._progress, self._steps = progress, 0
        self._all_costs = costs
        self._costs = rows_of(assignment, costs)
        self._simulation: Simulation = simulation_of(load, box, assignment, costs, load.draws)
        self._limits = Limits(load, assignment, self._simulation, self._searched)

    def answer(self) -> Answer:
        """Return the answer."""
        load, simulation = self._load, self._simulation
        items = max(load.items // load.draws, 100)
        runs = []
        for draw in range(load.draws):
            self._step("simulating")
            runs.append(simulation.run(draw, simulation.stated, items))
        keeping = np.array([simulation.keeps(run) for run in runs], np.bool_)
        streams = tuple(
            self._stream(i, runs, float(keeping[:, i].mean())) for i in range(len(load.streams))
        )
        units = self._units(runs)
        binding = self._binding(streams, units)
        placed = self._assignment, self._all_costs
        advisor = Advisor(load, self._box, *placed, binding, self._cost)
        watts = watts_of(load.streams, self._costs)
        return Answer(
            load=load,
            box=self._box,
            streams=streams,
            units=units,
            chance=float(keeping.all(axis=1).mean()),
            largest_factor=self._limits.largest_factor(),
            binding=binding,
            advice=advisor.all(),
            memory=self._memory(),
            watts=watts,
            budget_w=budget_watts(self._box),
            cost=load_cost(load, self._box, watts),
            simulated=sum(len(latency) for run in runs for latency in run.latency_ms),
        )

    def _step(self, message: str) -> None:
        """Report a step of what is about as long: draws, and twice as many a search."""
        searches = 1 + len(self._load.streams)
        total = self._load.draws * (1 + 2 * searches)
        self._progress(Progress(min(self._steps, total - 1), total, message))
        self._steps += 1

    def _searched(self) -> None:
        """Report a try of a search, which is some draws of steps."""
        self._steps += self._load.draws // 4
        self._step("searching the limits")

    def _cost(self, stage: Stage, unit: str) -> RunCost:
        model = self._models[model_key(stage)]
        place = self._box, self._box.units[unit]
        return stage_costs(stage, model, [place], self._evidence)[0]

    def _stream(self, i: int, runs: Sequence[Draw], chance: float) -> StreamAnswer:
        stream, names = self._load.streams[i], self._assignment[i]
        ends = np.array([_percentiles(run.latency_ms[i]) for run in runs])
        limit = stream.deadline_ms or math.inf
        missed = [float((run.latency_ms[i] > limit).mean()) for run in runs]
        return StreamAnswer(
            stream=stream,
            stages=self._stages(i, runs),
            alone_ms=alone_ms(stream, self._costs[i], self._box, names),
            p50_ms=_between(ends[:, 0]),
            p90_ms=_between(ends[:, 1]),
            p99_ms=_between(ends[:, 2]),
            distribution_ms=tuple(map(_between, ends[:, 3:].T)),
            missed=float(np.mean(missed)) if stream.deadline_ms is not None else 0.0,
            chance=chance,
            largest_count=self._limits.largest_count(i),
            joules=item_joules(stream, self._costs[i]),
        )

    def _stages(self, i: int, runs: Sequence[Draw]) -> tuple[StageAnswer, ...]:
        stream = self._load.streams[i]
        answers = []
        for j, (stage, name) in enumerate(zip(stream.stages, self._assignment[i], strict=True)):
            cost = self._costs[i][j]
            mean_batch = float(np.mean([run.batches[i][j] for run in runs]))
            size = min(max(round(mean_batch), 1), stage.batch)
            runs_per_s = stream.rate_per_s * stream.count * stage.per_item
            seconds = float(cost.batch_ms[size - 1]) / 1000 / size
            share = runs_per_s * seconds / self._simulation.servers[self._simulation.places[i][j]]
            answers.append(
                StageAnswer(stage=stage, unit=name, cost=cost, mean_batch=mean_batch, share=share)
            )
        return tuple(answers)

    def _units(self, runs: Sequence[Draw]) -> tuple[UnitAnswer, ...]:
        shares = np.array([run.utilisation for run in runs])
        return tuple(
            UnitAnswer(
                name=unit.name,
                device=unit.device.name,
                count=unit.count,
                utilisation=_between(shares[:, place]),
            )
            for place, unit in enumerate(self._box.units.values())
        )

    def _binding(self, streams: Sequence[StreamAnswer], units: Sequence[UnitAnswer]) -> StageAnswer:
        """Return the stage with the largest share of the busiest unit, by its part there."""
        busiest = max(units, key=lambda unit: unit.utilisation.median).name
        stages = [
            part
            for stream in streams
            for stage in stream.stages
            for part in (stage, self._fallen(stream.stream, stage))
            if part is not None and part.unit == busiest
        ]
        return max(stages, key=lambda stage: stage.share)

    def _fallen(self, stream: Stream, stage: StageAnswer) -> StageAnswer | None:
        """Return what a stage leaves to the processor; None for nothing."""
        fallback = stage.cost.fallback
        if fallback is None:
            return None
        unit = self._box.units[fallback.unit]
        share = work_of(stream, replace(stage.stage, threads=None), fallback.cost, unit)
        return replace(stage, unit=unit.name, cost=fallback.cost, mean_batch=1.0, share=share)

    def _memory(self) -> tuple[MemoryAnswer, ...]:
        """Return the memory of models, one of a model on a unit, where all of it is known."""
        used: dict[str, dict[tuple[str, str, str], float | None]] = {}
        for i, names in enumerate(self._assignment):
            for j, name in enumerate(names):
                cost, unit = self._costs[i][j], self._box.units[name]
                where = "shared" if unit.is_shared else name
                key = cost.prediction.fingerprint, name, cost.number_format
                models = used.setdefault(where, {})
                models[key] = max(models.get(key) or 0.0, cost.memory_bytes or math.nan)
        return tuple(
            MemoryAnswer(where=where, bytes=sum(v or 0.0 for v in models.values()),
                         of_bytes=self._room(where))
            for where, models in used.items()
            if not any(value is None or math.isnan(value) for value in models.values())
        )  # fmt: skip

    def _room(self, where: str) -> float | None:
        if where == "shared":
            return self._box.memory_bytes
        return self._box.units[where].device.memory_bytes


def _percentiles(latency_ms: Floats) -> list[float]:
    if not len(latency_ms):
        return [math.nan] * len(_QUANTILES)
    return [float(v) for v in np.quantile(latency_ms, _QUANTILES, method="inverted_cdf")]


def _between(values: Floats) -> Between:
    """Return the median over the draws and what 10 % and 90 % of them stay under."""
    low, median, high = np.quantile(values, (0.1, 0.5, 0.9), method="inverted_cdf").tolist()
    return Between(median, low, high)
