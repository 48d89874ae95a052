"""Records of what a box does with a load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from predictor.services.loads.costs import RunCost
from predictor.services.loads.prices import LoadCost
from predictor.services.loads.records import Box, Load, Stage, Stream
from predictor.services.serving.records import Between

MAX_COPIES: Final = 64
"""Times the stated number of a table's streams, up to which more of them are tried."""
SHARES: Final = (0.01, 0.05, *(place / 10 for place in range(1, 10)), 0.95, 0.98, 0.99, 0.995)
"""Shares of the items whose latencies are the distribution of a stream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageAnswer:
    """A stage on its unit.

    Attributes:
        stage: as stated.
        unit: name of its unit.
        cost: of its runs.
        mean_batch: runs of a batch on average.
        share: of the unit's time that its runs need.
    """

    stage: Stage
    unit: str
    cost: RunCost
    mean_batch: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamAnswer:
    """The items of streams alike.

    Attributes:
        stream: as stated.
        stages: of its pipeline.
        alone_ms: an item without any other.
        p50_ms, p90_ms, p99_ms: of the items, with the 80 % interval over the draws.
        distribution_ms: what ``SHARES`` of the items stay within, likewise.
        missed: share of the items over the deadline, on average over the draws.
        chance: that the deadline is kept.
        largest_count: of the streams, the others as stated, that hold with the load's chance, up
            to ``MAX_COPIES`` times as many as stated.
        joules: of an item, with their 80 % interval; None where no power is stated.
    """

    stream: Stream
    stages: tuple[StageAnswer, ...]
    alone_ms: float
    p50_ms: Between
    p90_ms: Between
    p99_ms: Between
    distribution_ms: tuple[Between, ...]
    missed: float
    chance: float
    largest_count: int
    joules: Between | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitAnswer:
    """A unit: the share of its time in which it runs, over 1 where it has more to do."""

    name: str
    device: str
    count: int
    utilisation: Between


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryAnswer:
    """Memory in bytes of models on the units that share one, or on a unit that has its own."""

    where: str
    bytes: float
    of_bytes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A change that leaves the binding unit more time.

    Attributes:
        words: what to change.
        before_ms, after_ms: of an item in the largest batch.
        utilisation: of the binding unit afterwards, by the P50.
        busiest: of any unit afterwards.
        few_chips: whether the prediction's class was checked on few chips.
    """

    words: str
    before_ms: float
    after_ms: float
    utilisation: float
    busiest: float
    few_chips: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A box in a mode, or at other clocks.

    Attributes:
        box: with its mode and clocks.
        chance: that the load holds, or what is under the wanted one where it does not; 0 where it
            fails the bounds or has a problem.
        busiest: share of the time of the busiest unit, by the P50; None with a problem.
        unit: name of that unit.
        watts: budget of the box or its mode; None where none is stated.
        run_watts: that the runs draw, idle time apart; None where no power is known.
        of_board: whether those are of the whole board; else of a card alone.
        problem: why it cannot run the load, or fails the bounds, in words; empty else.
    """

    box: Box
    chance: float = 0.0
    busiest: float | None = None
    unit: str = ""
    watts: float | None = None
    run_watts: float | None = None
    of_board: bool = False
    problem: str = ""

    def holds(self, load: Load) -> bool:
        """Return whether it holds with the load's chance."""
        return self.chance >= load.chance

    @property
    def joules_per_hour(self) -> float | None:
        """What the runs of an hour take; None where no power is known."""
        return None if self.run_watts is None else self.run_watts * 3600

    @property
    def rank(self) -> tuple[float, ...]:
        """Order by what the runs take of whole boards, then by stated watts.

        What a card takes alone is no more comparable than what is unknown.
        """
        by_joules = self.run_watts is not None and self.of_board
        first, second = (self.run_watts, self.watts)[:: 1 if by_joules else -1]
        values = first, second, self.busiest
        return not by_joules, *(math.inf if value is None else value for value in values)


@dataclass(frozen=True, slots=True, kw_only=True)
class LowestClock:
    """The lowest clock at which a load holds, all others usual.

    Attributes:
        domain: of the clock, see ``DOMAINS``.
        mhz, usual_mhz: that clock and the usual one.
        is_lowest: whether it is the lowest of all that were tried.
    """

    domain: str
    mhz: float
    usual_mhz: float
    is_lowest: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Modes and clocks of a box under a load.

    Attributes:
        chance: with which a setting has to hold.
        modes: the usual clocks and the modes, those that hold first, by what their runs take.
        clocks: the lowest ones that hold; their power is not known.
    """

    chance: float
    modes: tuple[Candidate, ...]
    clocks: tuple[LowestClock, ...]

    @property
    def thriftiest(self) -> Candidate | None:
        """The mode that holds with the fewest joules; None where none does or no power is known."""
        first = self.modes[0]
        return first if first.chance >= self.chance and first.run_watts is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a box does with a load.

    Attributes:
        load, box: of the question.
        streams, units: with their figures.
        chance: that all streams keep their deadlines.
        largest_factor: on all rates, up to which the load holds with its chance; 0 for none.
        binding: the stage that takes most of the busiest unit.
        advice: the most helpful first.
        memory: by where it is.
        watts: that the runs draw on average, idle time apart; None where no power is stated.
        budget_w: of the box or its mode; None where none is stated.
        cost: from stated prices; None where none is stated.
        simulated: items.
        settings: modes and clocks of the box; None where they were not asked for.
    """

    load: Load
    box: Box
    streams: tuple[StreamAnswer, ...]
    units: tuple[UnitAnswer, ...]
    chance: float
    largest_factor: float
    binding: StageAnswer
    advice: tuple[Advice, ...]
    memory: tuple[MemoryAnswer, ...]
    watts: Between | None
    budget_w: float | None
    cost: LoadCost | None = None
    simulated: int
    settings: Settings | None = None

    @property
    def fits(self) -> bool:
        """Whether the models fit the memory, as far as it is known."""
        return all(m.of_bytes is None or m.bytes <= m.of_bytes for m in self.memory)

    @property
    def within_watts(self) -> bool:
        """Whether the runs stay within the budget, as far as both are known."""
        return self.watts is None or self.budget_w is None or self.watts.median <= self.budget_w

    @property
    def holds(self) -> bool:
        """Whether the load holds with its chance, in the memory and watts of the box."""
        return self.chance >= self.load.chance and self.fits and self.within_watts
