"""The largest rates and numbers of streams with which a load holds with its chance.

A try of a search simulates few draws. In their order by strain one decides: as many draws as may
fail are more strained. Those nearest to it are simulated until the outcome is certain; of the
others the more strained ones count as failing and the less strained ones as holding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from predictor.services.loads.answers import MAX_COPIES
from predictor.services.loads.placement import Assignment
from predictor.services.loads.records import Load, Stream
from predictor.services.loads.simulate import Scaled, Simulation

_ITEMS: Final = 500  # of a draw
_STEPS: Final = 7
_MIN_FACTOR: Final = 1 / 64
_AROUND: Final = 6
"""Draws on each side of the one that decides which are simulated."""


class Limits:
    """Searches of a load with its stages placed.

    Args:
        load: streams and their pipelines.
        assignment: of the stages.
        simulation: of both.
        tried: called before each try; it may raise to end the search.
    """

    def __init__(
        self,
        load: Load,
        assignment: Assignment,
        simulation: Simulation,
        tried: Callable[[], None],
    ) -> None:
        self._load, self._assignment = load, assignment
        self._simulation, self._tried = simulation, tried
        self._counts: dict[int, int] = {}

    def largest_factor(self) -> float:
        """Return the largest factor on the rates with which the load holds with its chance."""
        counts = self._simulation.stated.counts
        demands = self._simulation.demands(self._simulation.stated).max(axis=1)
        # A unit is full under the draw that has to hold.
        high = 1 / float(np.quantile(demands, self._load.chance))
        low = high * _MIN_FACTOR
        if not self.holds(Scaled(low, counts)):
            return 0.0
        for _ in range(_STEPS):
            middle = math.sqrt(low * high)
            holds = self.holds(Scaled(middle, counts))
            low, high = (middle, high) if holds else (low, middle)
        return low

    def largest_count(self, i: int) -> int:
        """Return the largest number of a table's streams that holds, the others as stated.

        At most ``MAX_COPIES`` times as many as stated.
        """
        simulation, load = self._simulation, self._load
        counts = simulation.stated.counts
        kind = _kind(load.streams[i]), self._assignment[i]
        alike = [_kind(stream) for stream in load.streams[:i]]
        counted = (self._counts[k] for k, other in enumerate(alike)
                   if (other, self._assignment[k]) == kind)  # fmt: skip
        if (same := next(counted, None)) is not None:
            return same

        def scaled(count: int) -> Scaled:
            return Scaled(1.0, (*counts[:i], count, *counts[i + 1 :]))

        def has_room(count: int) -> bool:
            # No draw holds in which a unit has more to do than it can.
            demands = simulation.demands(scaled(count))
            return float((demands < 1).all(axis=1).mean()) >= load.chance

        limit = _largest(MAX_COPIES * counts[i], has_room)
        largest = _largest(limit, lambda count: self.holds(scaled(count)))
        self._counts[i] = largest
        return largest

    def holds(self, load: Scaled) -> bool:
        """Return whether a load holds with its chance, by the draws that decide it."""
        self._tried()
        simulation = self._simulation
        order = np.argsort(-simulation.strains(load), kind="stable").tolist()
        needed = math.ceil(self._load.chance * len(order) - 1e-9)
        decides = len(order) - needed
        start, end = max(decides - _AROUND, 0), min(decides + _AROUND + 1, len(order))
        holding, left = len(order) - end, end - start
        # Those nearest to the one that decides first.
        for place in sorted(range(start, end), key=lambda place: abs(place - decides)):
            if holding >= needed or holding + left < needed:
                break
            holding += all(simulation.keeps(simulation.run(order[place], load, _ITEMS)))
            left -= 1
        return holding >= needed


def _kind(stream: Stream) -> Stream:
    """Return a stream without what sets streams alike apart: its name and lines."""
    stages = tuple(replace(stage, line=0) for stage in stream.stages)
    return replace(stream, line=0, name="", stages=stages)


def _largest(limit: int, holds: Callable[[int], bool]) -> int:
    """Return the largest number up to ``limit`` that holds, as all below it do; 0 for none."""
    low, high = 0, limit + 1
    while high - low > 1:
        middle = limit if high > limit else (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
