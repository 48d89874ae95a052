"""Which stage runs on which unit: those that the load leaves open, by all assignments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Final

from predictor.core.records import Target
from predictor.services.loads.costs import RunCost, target_of
from predictor.services.loads.records import AUTO, Box, Load, Stage, Stream
from predictor.services.loads.simulate import Simulation

MAX_ASSIGNMENTS: Final = 4096
Costs = Mapping[tuple[int, int], Mapping[str, RunCost]]
"""Costs of a stage by unit, by the places of its stream and of itself."""
Assignment = tuple[tuple[str, ...], ...]
"""Names of the units of the stages, by stream and stage."""


def open_units(stage: Stage, box: Box) -> list[str]:
    """Return the names of the units that a stage may run on."""
    return list(box.units) if stage.unit == AUTO else [stage.unit]


def targets_of(load: Load, boxes: Sequence[Box]) -> list[Target]:
    """Return the targets of all stages on the units of boxes; units that a box lacks have none."""
    targets = {
        target.id: target
        for box in boxes
        for stream in load.streams
        for stage in stream.stages
        for name in open_units(stage, box)
        if name in box.units
        for target in [target_of(stage, box.units[name])]
    }
    return list(targets.values())


def simulation_of(
    load: Load, box: Box, assignment: Assignment, costs: Costs, draws: int
) -> Simulation:
    """Return the simulation of an assignment."""
    return Simulation(load.streams, box, assignment, rows_of(assignment, costs), load.seed, draws)


def rows_of(assignment: Assignment, costs: Costs) -> list[list[RunCost]]:
    """Return the costs of the stages on their units, by stream and stage."""
    return [
        [costs[i, j][name] for j, name in enumerate(names)] for i, names in enumerate(assignment)
    ]


def best_assignment(load: Load, box: Box, costs: Costs) -> Assignment:
    """Return the assignment that leaves the most room; all of them are compared.

    The room of one is that of its busiest unit, or of the stream whose stages together come
    closest to its deadline. Of equal ones the first counts, in the order of the box's units.

    Raises:
        InputError: a stage has a number on no unit, or there are too many assignments.
    """
    choices = [
        [_candidates(load, stage, costs[i, j]) for j, stage in enumerate(stream.stages)]
        for i, stream in enumerate(load.streams)
    ]
    flat = [names for row in choices for names in row]
    if math.prod(map(len, flat)) > MAX_ASSIGNMENTS:
        first = next(s for stream in load.streams for s in stream.stages if s.unit == AUTO)
        raise load.wrong(
            first.line,
            "unit",
            f"over {MAX_ASSIGNMENTS:,} assignments of stages to units; name the unit of some",
        )
    assignments = [_rows(names, load.streams) for names in itertools.product(*flat)]
    if len(assignments) == 1:
        return assignments[0]
    return min(assignments, key=lambda assignment: _strain(load, box, assignment, costs))


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
    run_ms = {}
    for stage, cost, name in zip(stream.stages, row, names, strict=True):
        count = math.ceil(stage.per_item / box.units[name].count)
        run_ms[stage.name] = count * float(cost.batch_ms[0])
    return path_ms(stream, run_ms)


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
        raise load.wrong(
            stage.line, "model", f"no unit has a number for {stage.name}: {'; '.join(problems)}"
        )
    return names


def _rows(names: Sequence[str], streams: Sequence[Stream]) -> Assignment:
    left = iter(names)
    return tuple(tuple(itertools.islice(left, len(stream.stages))) for stream in streams)
