"""Which stage runs on which unit: those that the load leaves open, by the least strain."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from predictor.core.records import Target
from predictor.cost.capability import NOT_SUPPORTED
from predictor.services.loads.branches import OPEN, Option, Stages, lowest_strain
from predictor.services.loads.costs import RunCost, runs_at_once, target_of
from predictor.services.loads.records import AUTO, Box, Load, Stage, Stream, Unit
from predictor.services.loads.simulate import Simulation

Costs = Mapping[tuple[int, int], Mapping[str, RunCost]]
"""Costs of a stage by unit, by the places of its stream and of itself."""
Assignment = tuple[tuple[str, ...], ...]
"""Names of the units of the stages, by stream and stage."""


def open_units(stage: Stage, box: Box) -> list[str]:
    """Return the names of the units that a stage may run on."""
    return list(box.units) if stage.unit == AUTO else [stage.unit]


def targets_of(load: Load, boxes: Sequence[Box]) -> list[Target]:
    """Return the targets of all networks on the units of boxes; units that a box lacks have none.

    Language models have none: their runtimes are others.
    """
    targets = {
        target.id: target
        for box in boxes
        for stream in load.streams
        for stage in stream.stages
        if not stage.generates
        for name in open_units(stage, box)
        if name in box.units
        for target in [target_of(stage, box.units[name])]
    }
    return list(targets.values())


def simulation_of(
    load: Load, box: Box, assignment: Assignment, costs: Costs, draws: int
) -> Simulation:
    """Return the simulation of an assignment, with what runtimes leave to the processor."""
    rows = rows_of(assignment, costs)
    parted = [
        _with_fallbacks(stream, names, row)
        for stream, names, row in zip(load.streams, assignment, rows, strict=True)
    ]
    streams, units, all_rows = zip(*parted, strict=True)
    return Simulation(streams, box, units, all_rows, load.seed, draws)


def _with_fallbacks(
    stream: Stream, names: Sequence[str], row: Sequence[RunCost]
) -> tuple[Stream, list[str], list[RunCost]]:
    """Return a stream whose stages are followed by a stage of their operators on the processor.

    Those stand after all stages, so that these have the places that they had.
    """
    follower = {
        stage.name: f"{stage.name} on {cost.fallback.unit}"
        for stage, cost in zip(stream.stages, row, strict=True)
        if cost.fallback is not None
    }
    if not follower:
        return stream, list(names), list(row)
    stages = [
        replace(stage, after=tuple(follower.get(name, name) for name in stage.after))
        for stage in stream.stages
    ]
    units, costs = list(names), list(row)
    for stage, cost in zip(stream.stages, row, strict=True):
        if cost.fallback is not None:
            stages.append(
                Stage(
                    line=stage.line,
                    name=follower[stage.name],
                    model=stage.model,
                    unit=cost.fallback.unit,
                    per_item=stage.per_item,
                    after=(stage.name,),
                )
            )
            units.append(cost.fallback.unit)
            costs.append(cost.fallback.cost)
    return replace(stream, stages=tuple(stages)), units, costs


def rows_of(assignment: Assignment, costs: Costs) -> list[list[RunCost]]:
    """Return the costs of the stages on their units, by stream and stage."""
    return [
        [costs[i, j][name] for j, name in enumerate(names)] for i, names in enumerate(assignment)
    ]


def best_assignment(load: Load, box: Box, costs: Costs) -> Assignment:
    """Return the assignment that leaves the most room, as if all of them were compared.

    The room of one is that of its busiest unit, or of the stream whose stages together come
    closest to its deadline. Of equal ones it is always the same.

    Raises:
        InputError: a stage has a number on no unit, or the search is too long.
    """
    choices = [
        _candidates(load, stage, costs[i, j])
        for i, stream in enumerate(load.streams)
        for j, stage in enumerate(stream.stages)
    ]
    if all(len(names) == 1 for names in choices):
        return _rows([names[0] for names in choices], load.streams)
    chosen = lowest_strain(_stages(load, box, costs, choices))
    if chosen is None:
        first = next(s for stream in load.streams for s in stream.stages if s.unit == AUTO)
        raise load.wrong(
            first.line,
            "unit",
            "too many assignments of stages to units are alike; name the unit of some",
        )
    names = [row[place] for row, place in zip(choices, chosen, strict=True)]
    return _rows(names, load.streams)


def _stages(load: Load, box: Box, costs: Costs, choices: Sequence[Sequence[str]]) -> Stages:
    """Return all stages with their work on each unit and what the search asks of a choice."""
    rows = iter(choices)
    units = list(box.units)
    options: list[list[Option]] = []
    run_ms: list[list[float]] = []  # of the runs of an item
    for i, stream in enumerate(load.streams):
        for j, stage in enumerate(stream.stages):
            names = next(rows)
            options.append(
                [Option(units.index(n), work_of(stream, stage, costs[i, j][n], box.units[n]))
                 for n in names]
            )  # fmt: skip
            run_ms.append([item_ms(stage, costs[i, j][n], box.units[n]) for n in names])

    def strain(choice: Sequence[int]) -> float:
        names = [row[place] for row, place in zip(choices, choice, strict=True)]
        return _strain(load, box, _rows(names, load.streams), costs)

    fastest = [min(row) for row in run_ms]
    starts = [0, *itertools.accumulate(len(stream.stages) for stream in load.streams)]

    @cache
    def share(i: int, places: tuple[int, ...]) -> float:
        stream = load.streams[i]
        rows = range(starts[i], starts[i + 1])
        times = {
            stage.name: fastest[row] if place == OPEN else run_ms[row][place]
            for stage, place, row in zip(stream.stages, places, rows, strict=True)
        }
        return path_ms(stream, times) / (stream.deadline_ms or math.inf)

    def late(choice: Sequence[int]) -> float:
        spans = itertools.pairwise(starts)
        return max(share(i, tuple(choice[start:end])) for i, (start, end) in enumerate(spans))

    return Stages(options, strain, late, _alike(load, costs, choices))


def _alike(
    load: Load, costs: Costs, choices: Sequence[Sequence[str]]
) -> list[list[tuple[int, ...]]]:
    """Return groups of stages that may change places, then of streams; see ``Stages``.

    Stages of equal work may, in a stream with a deadline where they follow one another or stand
    side by side; streams may with all their stages.
    """
    of_stages: dict[object, list[tuple[int, ...]]] = {}
    of_streams: dict[object, list[tuple[int, ...]]] = {}
    left = itertools.count()
    for i, stream in enumerate(load.streams):
        stages = stream.stages
        names = [stage.name for stage in stages]
        after = [frozenset(names.index(name) for name in stage.after) for stage in stages]
        is_chain = after == [frozenset([j - 1] if j else []) for j in range(len(stages))]
        places = tuple(itertools.islice(left, len(stages)))
        kinds = [
            _kind(stream, stage, costs[i, j], choices[place])
            for j, (stage, place) in enumerate(zip(stages, places, strict=True))
        ]
        for j, (kind, place) in enumerate(zip(kinds, places, strict=True)):
            before = frozenset(k for k, names_before in enumerate(after) if j in names_before)
            where = () if is_chain else (after[j], before)
            at = () if stream.deadline_ms is None else (i, *where)
            of_stages.setdefault((at, kind), []).append((place,))
        of_streams.setdefault((stream.deadline_ms, *kinds, *after), []).append(places)
    groups = (*of_stages.values(), *of_streams.values())
    return [group for group in groups if len(group) > 1]


def _kind(
    stream: Stream, stage: Stage, costs: Mapping[str, RunCost], names: Sequence[str]
) -> tuple[object, ...]:
    """Return all that the strain of an assignment has of a stage on each of its units."""
    rows = (
        (name, cost.batch_ms.tobytes(), cost.traffic_bytes, cost.processor_ms)
        for name, cost in ((name, costs[name]) for name in names)
    )
    return stream.rate_per_s * stream.count, stage.per_item, stage.threads, *rows


def work_of(stream: Stream, stage: Stage, cost: RunCost, unit: Unit) -> float:
    """Return the share of a unit's time that a stage needs in full batches, memory apart."""
    runs_per_s = stream.rate_per_s * stream.count * stage.per_item
    return (
        runs_per_s
        * float(cost.batch_ms[-1])
        / 1000
        / len(cost.batch_ms)
        / runs_at_once(stage, unit)
    )


def item_ms(stage: Stage, cost: RunCost, unit: Unit) -> float:
    """Return the time of the runs of an item alone on a unit, and on the processor after it."""
    in_turn = math.ceil(stage.per_item / runs_at_once(stage, unit)) * float(cost.batch_ms[0])
    return in_turn + math.ceil(stage.per_item) * cost.processor_ms


def path_ms(stream: Stream, run_ms: Mapping[str, float]) -> float:
    """Return the time of an item alone: the longest way through its stages.

    Args:
        stream: the stream.
        run_ms: of a stage's runs for an item, by its name.
    """
    ends: dict[str, float] = {}
    for stage in stream.stages:
        start = max((ends[name] for name in stage.after), default=0.0)
        ends[stage.name] = start + run_ms[stage.name]
    return max(ends.values())


def alone_ms(stream: Stream, row: Sequence[RunCost], box: Box, names: Sequence[str]) -> float:
    """Return the time in ms of an item of a stream alone on the box."""
    stages = zip(stream.stages, row, names, strict=True)
    return path_ms(
        stream, {stage.name: item_ms(stage, cost, box.units[name]) for stage, cost, name in stages}
    )


def _strain(load: Load, box: Box, assignment: Assignment, costs: Costs) -> float:
    simulation = simulation_of(load, box, assignment, costs, 1)
    strains = [float(simulation.demand(None, simulation.stated).max())]
    for i, (stream, names) in enumerate(zip(load.streams, assignment, strict=True)):
        if stream.deadline_ms is not None:
            row = [costs[i, j][name] for j, name in enumerate(names)]
            strains.append(alone_ms(stream, row, box, names) / stream.deadline_ms)
    return max(strains)


def _candidates(load: Load, stage: Stage, costs: Mapping[str, RunCost]) -> list[str]:
    names = [name for name, cost in costs.items() if cost.prediction.latency_ms is not None]
    if not names:
        problems = dict.fromkeys(cost.prediction.problem for cost in costs.values())
        stated = ("runtime", stage.runtime), ("precision", stage.precision), ("model", stage.model)
        refused = all(problem.startswith(NOT_SUPPORTED) for problem in problems)
        refused |= any(problem.startswith(f"{stage.runtime} does not run") for problem in problems)
        key = next(key for key, value in stated[0 if refused else -1 :] if value)
        raise load.wrong(
            stage.line, key, f"no unit has a number for {stage.name}: {'; '.join(problems)}"
        )
    return [name for name in names if _runs_all(costs[name])] or names


def _runs_all(cost: RunCost) -> bool:
    """Return whether a model runs there at all, by the list of its runtime."""
    refused = cost.prediction.unsupported
    return refused is None or refused.falls_back


def _rows(names: Sequence[str], streams: Sequence[Stream]) -> Assignment:
    left = iter(names)
    return tuple(tuple(itertools.islice(left, len(stream.stages))) for stream in streams)
