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
from predictor.services.loads.carry import Models, check_deadlines, check_units, costs_of
from predictor.services.loads.costs import Evidence
from predictor.services.loads.placement import Assignment, Costs, best_assignment, simulation_of
from predictor.services.loads.records import Box, Load

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


def choose_box(
    load: Load,
    boxes: Sequence[Box],
    models: Models,
    evidence: Evidence = Evidence(),  # noqa: B008 - immutable
    progress: ProgressCallback = no_progress,
) -> list[Candidate]:
    """Return boxes in their modes, the best first.

    Those that hold come first, of them those of the fewest watts; a box without stated watts
    stands after those with them. The others follow by their chance.

    Args:
        load: streams and their pipelines.
        boxes: at their usual clocks.
        models: of all stages.
        evidence: the user's measurements.
        progress: called for each box in a mode.

    Raises:
        CancelledError: by ``progress``.
    """
    fitting = [box for box in boxes if not _lacking(load, box)]
    lacking = [Candidate(box=box, problem=_lacking(load, box)) for box in boxes]
    placed = [entry for box in fitting for entry in in_modes(box)]
    candidates = [entry for entry in lacking if entry.problem]
    costs = costs_of(load, placed, models, evidence)
    for place, (box, of_box) in enumerate(zip(placed, costs, strict=True)):
        progress(Progress(place, len(placed), "boxes simulated"))
        candidates.append(_candidate(load, box, of_box))
    progress(Progress(len(placed), max(len(placed), 1), "boxes simulated"))
    return sorted(candidates, key=lambda candidate: _rank(load, candidate))


def _rank(load: Load, candidate: Candidate) -> tuple[float, ...]:
    busiest = math.inf if candidate.busiest is None else candidate.busiest
    if candidate.holds(load):
        return 0.0, math.inf if candidate.watts is None else candidate.watts, busiest
    return 1.0, -candidate.chance, busiest


def _lacking(load: Load, box: Box) -> str:
    try:
        check_units(load, box)
    except InputError as error:
        return str(error.reason)
    return ""


def _candidate(load: Load, box: Box, costs: Costs) -> Candidate:
    try:
        assignment = best_assignment(load, box, costs)
        check_deadlines(load, box, assignment, costs)
    except InputError as error:
        return Candidate(box=box, problem=error.reason)
    simulation = simulation_of(load, box, assignment, costs, load.draws)
    demand = simulation.demand(None, simulation.stated)
    unit = list(box.units)[int(demand.argmax())]
    busiest = float(demand.max())
    candidate = Candidate(
        box=box,
        busiest=busiest,
        unit=unit,
        watts=budget_watts(box),
        run_watts=_watts(load, assignment, costs),
    )
    if busiest >= 1:
        return replace(candidate, problem=f"{unit} has more to do than it can")
    return replace(candidate, chance=simulation.chance(simulation.stated, _ITEMS, load.chance))


def _watts(load: Load, assignment: Assignment, costs: Costs) -> float | None:
    """Return the watts that the runs draw on average; None where a unit states no power."""
    watts = 0.0
    for i, (stream, names) in enumerate(zip(load.streams, assignment, strict=True)):
        for j, (stage, name) in enumerate(zip(stream.stages, names, strict=True)):
            cost = costs[i, j][name]
            if cost.energy_mj is None:
                return None
            runs = stream.rate_per_s * stream.count * stage.per_item
            watts += runs * cost.energy_mj[0] / 1000 * cost.of_full_batch
    return watts
