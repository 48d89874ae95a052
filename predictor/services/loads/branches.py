"""The assignment of stages to units with the least strain, by branch and bound.

A partial assignment is left out where no completion of it beats the best one so far. Three bounds
say so: the work of the busiest unit; the work of all units together, each weighted by how short of
it the load is (the dual of the linear relaxation, found once by multiplicative weights); and the
time of an item alone on its deadline, with every open stage on its fastest unit. What units wait
for the memory that they share only adds to them. Of partial assignments that differ by stages or
streams that are alike, one is looked at.

Reference:
    Lenstra, Shmoys, Tardos: Approximation algorithms for scheduling unrelated parallel machines,
    Mathematical Programming 46 (1990), for the relaxation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

MAX_NODES: Final = 20_000
OPEN: Final = -1
"""In a choice: a stage without an option yet."""
_GAPS: Final = (1e-9, 1e-2, 5e-2)
"""Relative differences of strains that are taken for one: all but none, then ever larger ones."""
_OF_STRAIN: Final = 10  # partial choices that the strain of a complete one counts as
_ROUNDS: Final = 200
_PACE: Final = 0.5


class Option(NamedTuple):
    """A unit that a stage may run on.

    Attributes:
        unit: its place among the units of the box.
        work: share of the unit's time that the stage needs.
    """

    unit: int
    work: float


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """Stages of all streams in one order.

    Attributes:
        options: of each stage, in the order of the units.
        strain: of a complete choice, the place of the option of each stage: exact.
        late: of a choice with ``OPEN`` stages: time of the slowest stream over its deadline, with
            open stages on their fastest units.
        alike: groups of stages, or of several together in one order: those of a group may change
            places, and strain and lateness stay. A group of several stands after those of single
            ones.
    """

    options: Sequence[Sequence[Option]]
    strain: Callable[[Sequence[int]], float]
    late: Callable[[Sequence[int]], float]
    alike: Sequence[Sequence[tuple[int, ...]]] = ()


def lowest_strain(stages: Stages, max_nodes: int = MAX_NODES) -> tuple[int, ...] | None:
    """Return a choice of the least strain, always the same one of equal ones.

    Where more than ``max_nodes`` partial choices would have to be looked at, the strain is within
    1 % of the least, else within 5 %; None where that takes as many too. A search that was given
    up counts where the bounds of all stages say that its choice is so near.
    """
    nearest: tuple[int, ...] = ()
    excess = math.inf
    for gap in _GAPS:
        if excess <= gap:
            return nearest
        search = _Search(stages, max_nodes, gap)
        if search.ends():
            return search.choice
        if search.excess < excess:
            nearest, excess = search.choice, search.excess
    return nearest if excess <= _GAPS[-1] else None


class _Search:
    """One search, depth first: the largest stage first, on the least busy unit first.

    Attributes:
        choice: of the least strain so far; empty without one.
    """

    def __init__(self, stages: Stages, max_nodes: int, gap: float) -> None:
        self._stages, self._nodes, self._gap = stages, max_nodes, gap
        options = stages.options
        units = 1 + max(option.unit for row in options for option in row)
        self._order = sorted(range(len(options)), key=lambda i: -min(o.work for o in options[i]))
        self._weights = _unit_weights(options, units)
        lowest = [min(map(self._weighted, options[place])) for place in self._order]
        self._open = [*np.cumsum(lowest[::-1])[::-1].tolist(), 0.0]  # of the stages from a rank on
        self._loads = [0.0] * units
        self._choice = [OPEN] * len(options)
        self._forms: set[tuple[int, ...]] = set()
        self._lower = max(self._open[0], stages.late(self._choice))
        self.choice: tuple[int, ...] = ()
        self._strain = self._limit = math.inf

    def ends(self) -> bool:
        """Search; return whether no choice is less strained than the one that was taken."""
        return self._descend(0, 0.0)

    @property
    def excess(self) -> float:
        """Share by which the strain of the choice is over what no choice is under."""
        return self._strain / self._lower - 1 if self._lower else math.inf

    def _descend(self, rank: int, weighted: float) -> bool:
        """Look at the completions of the choice; return whether the search goes on."""
        self._nodes -= 1
        if self._nodes < 0:
            return False
        if self._limit <= self._lower:
            return True  # Nothing is under the bound.
        if rank == len(self._order):
            self._nodes -= _OF_STRAIN
            strain = self._stages.strain(self._choice)
            if strain < self._limit:
                self.choice, self._strain = tuple(self._choice), strain
                self._limit = strain * (1 - self._gap)
            return True
        place = self._order[rank]
        row = self._stages.options[place]
        goes_on = True
        for index in sorted(range(len(row)), key=lambda i: self._load_with(row[i])):
            option = row[index]
            total = weighted + self._weighted(option)
            before, load = self._loads[option.unit], self._load_with(option)
            if not goes_on or load >= self._limit or total + self._open[rank + 1] >= self._limit:
                continue
            self._choice[place], self._loads[option.unit] = index, load
            if self._stages.late(self._choice) < self._limit and self._is_new():
                goes_on = self._descend(rank + 1, total)
            self._choice[place], self._loads[option.unit] = OPEN, before
        return goes_on

    def _is_new(self) -> bool:
        """Return whether no choice like this one was looked at, and note that it is now."""
        if not self._stages.alike:
            return True
        choice = list(self._choice)
        for group in self._stages.alike:
            ordered = sorted([choice[place] for place in places] for places in group)
            for places, values in zip(group, ordered, strict=True):
                for place, value in zip(places, values, strict=True):
                    choice[place] = value
        form, count = tuple(choice), len(self._forms)
        self._forms.add(form)
        return len(self._forms) > count

    def _load_with(self, option: Option) -> float:
        return self._loads[option.unit] + option.work

    def _weighted(self, option: Option) -> float:
        return self._weights[option.unit] * option.work


def _unit_weights(options: Sequence[Sequence[Option]], units: int) -> list[float]:
    """Return weights of units, of sum 1, under which the least weighted work is largest."""
    work = np.full((len(options), units), np.inf)
    for place, row in enumerate(options):
        for option in row:
            work[place, option.unit] = option.work
    weights = best = np.full(units, 1 / units)
    bound = 0.0
    for round_ in range(_ROUNDS):
        weighted = work * weights
        chosen = weighted.argmin(axis=1)
        lowest = weighted[np.arange(len(options)), chosen]
        if lowest.sum() > bound:
            bound, best = float(lowest.sum()), weights
        loads = np.bincount(chosen, work[np.arange(len(options)), chosen], units)
        step = _PACE / (1 + round_) ** 0.5 / max(float(loads.max()), 1e-300)
        weights = weights * np.exp(step * loads)
        weights = weights / weights.sum()
    result: list[float] = best.tolist()
    return result
