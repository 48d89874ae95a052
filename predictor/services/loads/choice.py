"""Which box carries a load: bounds first, the simulation for those that pass."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from predictor.core.errors import InputError
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.devices.operating import power_modes
from predictor.services.loads.boxes import budget_watts
from predictor.services.loads.carry import check_deadlines, check_units, costs_of
from predictor.services.loads.costs import Evidence, RunCost, watts_of
from predictor.services.loads.models import Models
from predictor.services.loads.placement import Costs, best_assignment, rows_of, simulation_of
from predictor.services.loads.records import Box, Load
from predictor.services.loads.simulate import Simulation

_ITEMS: Final = 500  # of a draw


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A box in a mode.

    Attributes:
        box: with its mode.
        chance: that the load holds, or what is under the load's where it does not; 0 where it
            fails the bounds or has a problem.
        busiest: share of the time of the busiest unit, by the P50; None with a problem.
        unit: name of that unit.
        watts: budget of the box or its mode; None where none is stated.
        run_watts: that the runs draw, idle time apart; None where no power is stated.
        problem: why it cannot run the load, or fails the bounds, in words; empty else.
    """

    box: Box
    chance: float = 0.0
    busiest: float | None = None
    unit: str = ""
    watts: float | None = None
    run_watts: float | None = None
    problem: str = ""

    def holds(self, load: Load) -> bool:
        """Return whether it holds with the load's chance."""
        return self.chance >= load.chance


def in_modes(box: Box) -> Iterator[Box]:
    """Yield a box at its usual clocks, then in the power modes of its devices."""
    yield box
    if not box.mode:
        points = (point for unit in box.units.values() for point in power_modes(unit.device))
        for name in dict.fromkeys(point.name for point in points if point.power_w is not None):
            yield replace(box, mode=name)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxChoice:
    """Boxes in their modes for a load.

    Attributes:
        candidates: those that were judged, the best first.
        holding: number of them that hold.
        passing: number that pass the bounds, simulated or not.
        considered: number of all.
    """

    candidates: tuple[Candidate, ...]
    holding: int
    passing: int
    considered: int


def choose_box(
    load: Load,
    boxes: Sequence[Box],
    models: Models,
    evidence: Evidence = Evidence(),  # noqa: B008 - immutable
    limit: int = 0,
    progress: ProgressCallback = no_progress,
) -> BoxChoice:
    """Return which boxes carry a load, those of the fewest watts first.

    A box without stated watts stands after those with them. Those that pass the bounds are
    simulated in that order; the others follow with their problem.

    Args:
        load: streams and their pipelines.
        boxes: at their usual clocks.
        models: of all stages.
        evidence: the user's measurements.
        limit: number of boxes that hold, after which no more are simulated; 0 for all.
        progress: called for each box in a mode.

    Raises:
        CancelledError: by ``progress``.
    """
    lacking = [Candidate(box=box, problem=_lacking(load, box)) for box in boxes]
    placed = [mode for entry in lacking if not entry.problem for mode in in_modes(entry.box)]
    costs = costs_of(load, placed, models, evidence)
    bounded = [_bounded(load, *pair) for pair in zip(placed, costs, strict=True)]
    passing = [(candidate, simulation) for candidate, simulation in bounded if simulation]
    passing.sort(key=lambda pair: _rank(pair[0]))
    holding: list[Candidate] = []
    failing: list[Candidate] = []
    for place, (candidate, simulation) in enumerate(passing):
        progress(Progress(place, len(passing), "boxes simulated"))
        if limit and len(holding) == limit:
            break
        chance = simulation.chance(simulation.stated, _ITEMS, load.chance)
        judged = replace(candidate, chance=chance)
        (holding if judged.holds(load) else failing).append(judged)
    progress(Progress(max(len(passing), 1), max(len(passing), 1), "boxes simulated"))
    failing.sort(key=lambda candidate: -candidate.chance)
    refused = [c for c in (*lacking, *(pair[0] for pair in bounded)) if c.problem]
    return BoxChoice(
        candidates=(*holding, *failing, *refused),
        holding=len(holding),
        passing=len(passing),
        considered=len(placed) + sum(bool(entry.problem) for entry in lacking),
    )


def _rank(candidate: Candidate) -> tuple[float, float]:
    watts, busiest = candidate.watts, candidate.busiest
    return math.inf if watts is None else watts, math.inf if busiest is None else busiest


def _lacking(load: Load, box: Box) -> str:
    try:
        check_units(load, box)
    except InputError as error:
        return str(error.reason)
    return ""


def _bounded(load: Load, box: Box, costs: Costs) -> tuple[Candidate, Simulation | None]:
    """Return a box by its bounds, and its simulation where it passes them."""
    try:
        assignment = best_assignment(load, box, costs)
        check_deadlines(load, box, assignment, costs)
    except InputError as error:
        return Candidate(box=box, problem=str(error.reason)), None
    simulation = simulation_of(load, box, assignment, costs, load.draws)
    demand = simulation.demand(None, simulation.stated)
    unit = list(box.units)[int(demand.argmax())]
    watts = watts_of(load.streams, rows_of(assignment, costs))
    candidate = Candidate(
        box=box,
        busiest=float(demand.max()),
        unit=unit,
        watts=budget_watts(box),
        run_watts=None if watts is None else watts.median,
        problem=_problem(unit, float(demand.max()), rows_of(assignment, costs)),
    )
    return candidate, None if candidate.problem else simulation


def _problem(unit: str, busiest: float, rows: Sequence[Sequence[RunCost]]) -> str:
    """Return why a box fails the bounds, in words; empty where it passes."""
    if busiest >= 1:
        return f"{unit} has more to do than it can"
    if any(cost.prediction.fits_memory is False for row in rows for cost in row):
        return "a model does not fit the memory"
    return ""
