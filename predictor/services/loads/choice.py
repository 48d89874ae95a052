"""Which box carries a load: bounds first, the simulation for those that pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from predictor.core.errors import InputError
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.devices.operating import default_clocks, power_modes
from predictor.services.loads.answers import Candidate
from predictor.services.loads.boxes import budget_watts
from predictor.services.loads.carry import check_deadlines, check_units, costs_of
from predictor.services.loads.costs import NO_EVIDENCE, Evidence, RunCost, watts_of
from predictor.services.loads.models import Models
from predictor.services.loads.placement import Costs, best_assignment, rows_of, simulation_of
from predictor.services.loads.records import Box, Load
from predictor.services.loads.simulate import Simulation

ITEMS: Final = 500
"""Of a draw."""


def in_modes(box: Box) -> Iterator[Box]:
    """Yield a box at its usual clocks, then in the power modes of its devices.

    Usual clocks that are those of a mode are not yielded twice.
    """
    modes: list[Box] = []
    if not box.mode and not box.clock:
        points = (point for unit in box.units.values() for point in power_modes(unit.device))
        names = dict.fromkeys(point.name for point in points if point.power_w is not None)
        modes = [replace(box, mode=name) for name in names]
    if not any(map(_is_usual, modes)):
        yield box
    yield from modes


def _is_usual(box: Box) -> bool:
    """Return whether all units of a box in a mode run at clocks that they state as usual."""
    clocks = [(box.clocks(unit), default_clocks(unit.device)) for unit in box.units.values()]
    moded = [(now, usual) for now, usual in clocks if now is not None]
    return bool(moded) and all(now == usual and usual.stated for now, usual in moded)


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
    evidence: Evidence = NO_EVIDENCE,
    limit: int = 0,
    progress: ProgressCallback = no_progress,
) -> BoxChoice:
    """Return which boxes carry a load, those whose runs take the fewest joules first.

    See ``Candidate.rank``. Those that pass the bounds are simulated in that order; of those that
    hold, the modes of a box stand side by side. The others follow with their problem.

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
    bounded = [bounded_by(load, *pair) for pair in zip(placed, costs, strict=True)]
    passing = [(candidate, simulation) for candidate, simulation in bounded if simulation]
    passing.sort(key=lambda pair: pair[0].rank)
    holding: list[Candidate] = []
    failing: list[Candidate] = []
    for place, (candidate, simulation) in enumerate(passing):
        progress(Progress(place, len(passing), "boxes simulated"))
        if limit and len(holding) == limit:
            break
        chance = simulation.chance(simulation.stated, ITEMS, load.chance)
        judged = replace(candidate, chance=chance)
        (holding if judged.holds(load) else failing).append(judged)
    progress(Progress(max(len(passing), 1), max(len(passing), 1), "boxes simulated"))
    failing.sort(key=lambda candidate: -candidate.chance)
    boxes_in_order = list(dict.fromkeys(candidate.box.id for candidate in holding))
    holding.sort(key=lambda candidate: boxes_in_order.index(candidate.box.id))
    refused = [c for c in (*lacking, *(pair[0] for pair in bounded)) if c.problem]
    return BoxChoice(
        candidates=(*holding, *failing, *refused),
        holding=len(holding),
        passing=len(passing),
        considered=len(placed) + sum(bool(entry.problem) for entry in lacking),
    )


def _lacking(load: Load, box: Box) -> str:
    try:
        check_units(load, box)
    except InputError as error:
        return str(error.reason)
    return ""


def bounded_by(load: Load, box: Box, costs: Costs) -> tuple[Candidate, Simulation | None]:
    """Return a box in its mode by its bounds, and its simulation where it passes them."""
    try:
        assignment = best_assignment(load, box, costs)
        check_deadlines(load, box, assignment, costs)
    except InputError as error:
        return Candidate(box=box, problem=str(error.reason)), None
    simulation = simulation_of(load, box, assignment, costs, load.draws)
    demand = simulation.demand(None, simulation.stated)
    unit = list(box.units)[int(demand.argmax())]
    rows = rows_of(assignment, costs)
    watts = watts_of(load.streams, rows)
    candidate = Candidate(
        box=box,
        busiest=float(demand.max()),
        unit=unit,
        watts=budget_watts(box),
        run_watts=None if watts is None else watts.median,
        of_board=all(cost.of_board for row in rows for cost in row),
        problem=_problem(unit, float(demand.max()), rows),
    )
    return candidate, None if candidate.problem else simulation


def _problem(unit: str, busiest: float, rows: Sequence[Sequence[RunCost]]) -> str:
    """Return why a box fails the bounds, in words; empty where it passes."""
    if busiest >= 1:
        return f"{unit} has more to do than it can"
    if any(cost.prediction.fits_memory is False for row in rows for cost in row):
        return "a model does not fit the memory"
    return ""
