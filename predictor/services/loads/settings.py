"""Modes and clocks of a box that keep a load, those of the fewest joules first.

Bounds come first: what has more to do than it can is not simulated. A mode is judged with its watts
where they are known. Between modes a unit may run at other clocks, of which no power is stated:
of these the lowest one that holds is found, since a higher clock never makes a run slower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.devices.operating import clock_domain, default_clocks, stated_clocks
from predictor.services.loads.answers import Answer, Candidate, LowestClock, Settings
from predictor.services.loads.carry import carry, costs_of
from predictor.services.loads.choice import ITEMS, bounded_by, in_modes
from predictor.services.loads.costs import NO_EVIDENCE, Evidence
from predictor.services.loads.models import Models
from predictor.services.loads.placement import Costs
from predictor.services.loads.records import Box, Load, Unit

MIN_CHANCE: Final = 0.95
"""With which a setting has to hold, where the load does not ask for more."""
_MIN_STATED: Final = 4  # clocks of a unit, to try those alone
_STEPS: Final = 16  # between the lowest clock and the usual one, else


def carry_in_settings(
    load: Load,
    box: Box,
    models: Models,
    evidence: Evidence = NO_EVIDENCE,
    progress: ProgressCallback = no_progress,
) -> Answer:
    """Predict what a box does with a load, and which of its modes and clocks keep it.

    Args and errors are those of :func:`predictor.services.loads.carry.carry`.
    """
    return in_settings(carry(load, box, models, evidence, progress), models, evidence, progress)


def in_settings(
    answer: Answer, models: Models, evidence: Evidence, progress: ProgressCallback = no_progress
) -> Answer:
    """Return an answer with the modes and clocks of its box."""
    units = {stage.unit for stream in answer.streams for stage in stream.stages}
    settings = settings_of(answer.load, answer.box, sorted(units), models, evidence, progress)
    return replace(answer, settings=settings)


def settings_of(
    load: Load,
    box: Box,
    units: Sequence[str],
    models: Models,
    evidence: Evidence = NO_EVIDENCE,
    progress: ProgressCallback = no_progress,
) -> Settings:
    """Return the modes and clocks of a box that keep a load.

    Args:
        load: streams and their pipelines.
        box: in whatever mode and clocks: all of them are tried.
        units: names of those that run stages, whose clocks are tried.
        models: of all stages.
        evidence: the user's measurements.
        progress: called for each setting that is simulated.
    """
    usual = replace(box, mode="", clock={})
    modes = list(in_modes(usual))
    ladders = [ladder for name in units if (ladder := list(_ladder(usual, usual.units[name])))]
    boxes = [usual, *modes, *(rung for ladder in ladders for rung in ladder)]
    rows = iter(costs_of(load, boxes, models, evidence))
    judge = _Judge(load, max(load.chance, MIN_CHANCE), progress)
    holds = judge.judged(usual, next(rows)).chance >= judge.chance
    judged = [judge.judged(mode, next(rows)) for mode in modes]
    judged.sort(key=lambda entry: (entry.chance < judge.chance, entry.rank))
    lowest = [judge.lowest(ladder, [next(rows) for _ in ladder]) for ladder in ladders if holds]
    return Settings(chance=judge.chance, modes=tuple(judged), clocks=tuple(lowest))


class _Judge:
    """Simulates a load on boxes in their modes."""

    def __init__(self, load: Load, chance: float, progress: ProgressCallback) -> None:
        self._load, self.chance = load, chance
        self._progress, self._count = progress, 0

    def judged(self, box: Box, costs: Costs) -> Candidate:
        """Return a box with the chance of the load."""
        self._count += 1
        self._progress(Progress(self._count, 0, "trying modes and clocks"))
        candidate, simulation = bounded_by(self._load, box, costs)
        if simulation is None:
            return candidate
        chance = simulation.chance(simulation.stated, ITEMS, self.chance)
        return replace(candidate, chance=chance)

    def lowest(self, ladder: Sequence[Box], costs: Sequence[Costs]) -> LowestClock:
        """Return the lowest clock that holds of boxes whose clock falls; the first one holds."""
        holding, failing = 0, len(ladder)
        while failing - holding > 1:
            middle = (holding + failing) // 2
            if self.judged(ladder[middle], costs[middle]).chance >= self.chance:
                holding = middle
            else:
                failing = middle
        ((domain, usual_mhz),) = ladder[0].clock.items()
        return LowestClock(
            domain=domain,
            mhz=ladder[holding].clock[domain],
            usual_mhz=usual_mhz,
            is_lowest=holding == len(ladder) - 1,
        )


def _ladder(box: Box, unit: Unit) -> Iterator[Box]:
    """Yield a box with a unit's own clock from the usual one down, all others usual.

    Clocks are those that the device states, of few of them steps of one ratio down to the lowest.
    None are tried where it states no lower one, nor a clock that is another unit's too.
    """
    device = unit.device
    domain = clock_domain(device)
    usual = default_clocks(device).stated.get(domain)
    sharing = [entry for entry in box.units.values() if clock_domain(entry.device) == domain]
    clocks = [mhz for mhz in stated_clocks(device, domain) if usual is not None and mhz < usual]
    if usual is None or not clocks or len(sharing) > 1:
        return
    if len(clocks) < _MIN_STATED:
        clocks = np.round(np.geomspace(min(clocks), usual, _STEPS)[:-1]).tolist()
    for mhz in sorted({usual, *clocks}, reverse=True):
        yield replace(box, clock={domain: mhz})
