"""A load on a box as it runs: draws of the uncertain latencies, one event simulation a draw.

A draw moves all runs of a stage together: by the part of the error that models on its unit have in
common, and by the rest of its own. Slow runs beside it come from the spread of the prediction. All
is seeded, and streams of one seed come at the same times whatever else changes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from predictor.core.run_facts import P90, P99, Spread
from predictor.services.loads.costs import RunCost, runs_at_once
from predictor.services.loads.records import Box, Stream
from predictor.simulation.arrivals import Arrivals, Periodic, Poisson, Trace
from predictor.simulation.pipelines import Pipeline, StageRuns, pass_through
from predictor.simulation.statistics import settled

Floats = NDArray[np.float64]

MAX_SHARE: Final = 0.95
"""Of the shared bandwidth that other units take, at most: beyond it nothing would end."""
_Z90, _Z99 = 1.2816, 2.3263
_LAST_Z: Final = 4.0
_ENDLESS: Final = 20  # items that stand for a stream whose queue grows without end
_RUNS_AN_ITEM: Final = 8
_IN_A_ROW: Final = 6  # draws that hold
_FEWEST: Final = 40  # items of a stream in a draw
_LONGER: Final = 4.0  # times that a draw may last for them
_STEPS_A_RUN: Final = 4  # that take as long to simulate as a run: between events they are one


class Scaled(NamedTuple):
    """A load at other rates: a factor on all of them, and the number of streams of a table."""

    factor: float
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Draw:
    """A load under one draw of its latencies.

    Attributes:
        latency_ms: of the items of a stream after the warm-up, float64 [items] each; infinite
            where a unit has more to do than it can.
        utilisation: of the units; over 1 for more than they can do.
        batches: mean size, by stream and stage.
    """

    latency_ms: Sequence[Floats]
    utilisation: Floats
    batches: Sequence[Sequence[float]]


class Simulation:
    """Streams on a box with predicted runs.

    Args:
        streams: of the load, their stages in order.
        box: that they run on.
        units: names of the units of the stages, by stream and stage.
        costs: of the stages' runs, with numbers.
        seed: of everything that is drawn.
        draws: of latencies.
    """

    def __init__(
        self,
        streams: Sequence[Stream],
        box: Box,
        units: Sequence[Sequence[str]],
        costs: Sequence[Sequence[RunCost]],
        seed: int,
        draws: int,
    ) -> None:
        self._streams, self._box, self._costs = streams, box, costs
        self._seed, self.draws = seed, draws
        names = list(box.units)
        self.places = [[names.index(name) for name in row] for row in units]
        self.servers = _servers(streams, box, units)
        self._is_shared = np.array([unit.is_shared for unit in box.units.values()], np.bool_)
        bandwidth = box.bandwidth_bytes_per_s
        self._memory_s = [[_memory_s(cost, bandwidth) for cost in row] for row in costs]
        # Each draw at a load asks for them.
        self._added: dict[Scaled, list[Floats]] = {}
        self._used: dict[Scaled, Floats] = {}

    @property
    def stated(self) -> Scaled:
        """The load as the file states it."""
        return Scaled(1.0, tuple(stream.count for stream in self._streams))

    @cached_property
    def levels(self) -> list[list[Floats]]:
        """Factors on the latencies by stream and stage, float64 [draws] each."""
        random = np.random.default_rng([self._seed, 0])
        widest = max((len(cost.shared) for row in self._costs for cost in row), default=1)
        common = _balanced(random, (self.draws, len(self._box.units), widest)).swapaxes(0, 1)
        rests: dict[tuple[str, int], Floats] = {}
        levels: list[list[Floats]] = []
        for row, places in zip(self._costs, self.places, strict=True):
            levels.append([])
            for cost, place in zip(row, places, strict=True):
                key = cost.prediction.fingerprint, place
                if key not in rests:
                    rests[key] = _balanced(random, (self.draws,))
                levels[-1].append(_level(cost, common[place], rests[key]))
        return levels

    def demand(self, draw: int | None, load: Scaled) -> Floats:
        """Return the share of a unit's time that its runs need, in full batches, float64 [units].

        Args:
            draw: of the latencies; None for the P50.
            load: rates and numbers of streams.
        """
        seconds = np.zeros(len(self.servers))
        added = self._added_s(load)
        for i, stream in enumerate(self._streams):
            items = stream.rate_per_s * load.factor * load.counts[i]
            for j, stage in enumerate(stream.stages):
                service = self._service_s(i, j, draw, added)
                seconds[self.places[i][j]] += items * stage.per_item * service[-1] / len(service)
        return self._with_memory(seconds / self.servers, load)

    def demands(self, load: Scaled) -> Floats:
        """Return the demand of every draw, float64 [draws, units]."""
        return self._sums(load)[0]

    def strains(self, load: Scaled) -> Floats:
        """Return how near the draws are to failing, in their order; infinite where a unit is full.

        It is the time of an item alone on its deadline, of the stream where that is longest, over
        the share of the time that the busiest unit is idle.
        """
        demands, shares = self._sums(load)
        idle = 1 - demands.max(axis=1)
        late = np.maximum(shares.max(axis=1, initial=0.0), 1e-9)
        return np.where(idle > 0, late / np.maximum(idle, 1e-12), np.inf)

    def _sums(self, load: Scaled) -> tuple[Floats, Floats]:
        """Return the demand of units, and of streams the time of an item's runs on its deadline.

        float64 [draws, units] and [draws, streams]; 0 of streams without a deadline.
        """
        seconds = np.zeros((self.draws, len(self.servers)))
        shares = np.zeros((self.draws, len(self._streams)))
        added = self._added_s(load)
        for i, stream in enumerate(self._streams):
            items = stream.rate_per_s * load.factor * load.counts[i]
            for j, stage in enumerate(stream.stages):
                batch_s, level = self._costs[i][j].batch_ms / 1000, self.levels[i][j]
                run_s = batch_s[-1] / len(batch_s) * level + added[i][j]
                seconds[:, self.places[i][j]] += items * stage.per_item * run_s
                alone_s = stage.per_item * (batch_s[0] * level + added[i][j])
                shares[:, i] += 1000 * alone_s / (stream.deadline_ms or math.inf)
        return self._with_memory(seconds / self.servers, load), shares

    def run(self, draw: int, load: Scaled, items: int) -> Draw:
        """Simulate a draw over about so many items of all streams together."""
        demand = self.demand(draw, load)
        if (demand >= 1.0).any():
            endless = [np.full(_ENDLESS, np.inf) for _ in self._streams]
            return Draw(
                latency_ms=endless,
                utilisation=demand,
                batches=[[float(s.batch) for s in stream.stages] for stream in self._streams],
            )
        pipelines = self._pipelines(draw, load, items)
        passage = pass_through(pipelines, self.servers.astype(int).tolist())
        latency_ms = [settled(1000 * latency) for latency in passage.latency_s]
        busy = np.array(passage.busy_s) / self.servers / max(passage.span_s, 1e-12)
        return Draw(
            latency_ms=[_ended(latency) for latency in latency_ms],
            utilisation=np.maximum(busy, demand),
            batches=passage.batches,
        )

    def chance(self, load: Scaled, items: int, min_share: float = 0.0) -> float:
        """Return the share of the draws under which all streams keep their deadlines.

        The most strained draws run first, until so many in a row hold that the less strained ones
        are counted as holding.

        Args:
            load: rates and numbers of streams.
            items: of a draw.
            min_share: no more draws run once it cannot be reached.
        """
        lost = in_a_row = 0
        for draw in np.argsort(-self.strains(load), kind="stable").tolist():
            keeps = all(self.keeps(self.run(draw, load, items)))
            lost, in_a_row = lost + (not keeps), in_a_row + 1 if keeps else 0
            if in_a_row == _IN_A_ROW or 1 - lost / self.draws < min_share:
                break
        return 1 - lost / self.draws

    def keeps(self, drawn: Draw) -> list[bool]:
        """Return which streams keep their deadlines; without one, which are not overloaded."""
        return [
            bool((latency <= (stream.deadline_ms or math.inf)).mean() >= stream.share)
            and bool(np.isfinite(latency).all())
            for stream, latency in zip(self._streams, drawn.latency_ms, strict=True)
        ]

    def _service_s(self, i: int, j: int, draw: int | None, added: Sequence[Floats]) -> Floats:
        """Return the seconds of batches of a stage, float64 [batch]."""
        level = 1.0 if draw is None else self.levels[i][j][draw]
        sizes = np.arange(1, len(self._costs[i][j].batch_ms) + 1)
        seconds: Floats = self._costs[i][j].batch_ms * level / 1000 + added[i][j] * sizes
        return seconds

    def _added_s(self, load: Scaled) -> list[Floats]:
        """Return the seconds that a run waits for the memory that units share, by stream and stage.

        A rule: where all else takes a share x of the bandwidth on average, the time that a run's
        own traffic takes at full bandwidth grows by x / (1 - x).
        """
        if load not in self._added:
            used = self._memory_shares(load)
            elsewhere = used.sum() - used / self.servers  # other servers of the unit are among it
            grown = self._is_shared * memory_growth(elsewhere)
            pairs = zip(self._memory_s, self.places, strict=True)
            self._added[load] = [np.array(seconds) * grown[places] for seconds, places in pairs]
        return self._added[load]

    def _memory_shares(self, load: Scaled) -> Floats:
        """Return the share of the memory's bandwidth that the runs of units take, [units]."""
        if load in self._used:
            return self._used[load]
        used = self._used[load] = np.zeros(len(self.servers))
        for i, stream in enumerate(self._streams):
            items = stream.rate_per_s * load.factor * load.counts[i]
            for j, stage in enumerate(stream.stages):
                place = self.places[i][j]
                seconds = items * stage.per_item * self._memory_s[i][j]
                used[place] += self._is_shared[place] * seconds
        return used

    def _with_memory(self, demand: Floats, load: Scaled) -> Floats:
        """Return demands of units where the shared memory is full too, float64 [..., units]."""
        used = self._memory_shares(load)
        when_full = np.where((used > 0) & (used.sum() >= 1), used.sum(), 0.0)
        full: Floats = np.maximum(demand, when_full)
        return full

    def _pipelines(self, draw: int, load: Scaled, items: int) -> list[Pipeline]:
        total = sum(
            stream.rate_per_s * load.factor * count * _weight(stream, row)
            for stream, count, row in zip(self._streams, load.counts, self._costs, strict=True)
        )
        rarest = min(stream.rate_per_s * load.factor * max(count, 1)
                     for stream, count in zip(self._streams, load.counts, strict=True))  # fmt: skip
        # A rare stream needs some items of its own for its percentiles.
        horizon_s = items / total * min(max(_FEWEST * total / items / rarest, 1.0), _LONGER)
        added = self._added_s(load)
        return [self._pipeline(i, draw, load, horizon_s, added) for i in range(len(self._streams))]

    def _pipeline(
        self, i: int, draw: int, load: Scaled, horizon_s: float, added: Sequence[Floats]
    ) -> Pipeline:
        stream = self._streams[i]
        rate = stream.rate_per_s * load.factor
        count = max(round(rate * horizon_s), 1)
        times = [
            _times(stream, rate, count, np.random.default_rng([self._seed, 1, draw, i, copy]))
            for copy in range(load.counts[i])
        ]
        merged = np.sort(np.concatenate([*times, np.empty(0)]))
        names = [stage.name for stage in stream.stages]
        stages = []
        for j, stage in enumerate(stream.stages):
            random = np.random.default_rng([self._seed, 2, draw, i, j])
            cost = self._costs[i][j]
            spread = cost.prediction.spread
            stages.append(
                StageRuns(
                    unit=self.places[i][j],
                    service_s=self._service_s(i, j, draw, added).tolist(),
                    after=[names.index(name) for name in stage.after],
                    per_item=stage.per_item,
                    delay_s=stage.delay_ms / 1000,
                    factors=slow_runs(spread, random.standard_normal(len(merged))),
                    steps=cost.steps,
                    first_share=cost.first_share,
                )
            )
        return Pipeline(stages, merged)


def memory_growth(elsewhere: Floats) -> Floats:
    """Return what the time of a run's traffic grows by where all else takes a share of the memory.

    Args:
        elsewhere: those shares, float64 [N].
    """
    share = np.minimum(elsewhere, MAX_SHARE)
    growth: Floats = share / (1 - share)
    return growth


def _memory_s(cost: RunCost, bandwidth_bytes_per_s: float | None) -> float:
    """Return the seconds that a run's traffic takes at full bandwidth; 0 where unknown.

    No more than the run takes in a full batch: the rest came from caches.
    """
    if bandwidth_bytes_per_s is None:
        return 0.0
    run_s = float(cost.batch_ms[-1]) / 1000 / len(cost.batch_ms)
    return min(cost.traffic_bytes / bandwidth_bytes_per_s, run_s)


def _servers(streams: Sequence[Stream], box: Box, units: Sequence[Sequence[str]]) -> Floats:
    """Return how many runs each unit makes at once, float64 [units]: what all its stages allow."""
    servers: dict[str, int] = {}
    for stream, names in zip(streams, units, strict=True):
        for stage, name in zip(stream.stages, names, strict=True):
            at_once = runs_at_once(stage, box.units[name])
            servers[name] = min(servers.get(name, at_once), at_once)
    counts = [servers.get(name, unit.count) for name, unit in box.units.items()]
    return np.array(counts, np.float64)


def _weight(stream: Stream, row: Sequence[RunCost]) -> float:
    """Return how many items an item counts as: one of very many runs stands for several."""
    runs = (
        stage.per_item * (1 + cost.steps / _STEPS_A_RUN)
        for stage, cost in zip(stream.stages, row, strict=True)
    )
    return max(sum(runs) / _RUNS_AN_ITEM, 1.0)


def _ended(latency_ms: Floats) -> Floats:
    """Return the items without those that wait for a batch at the end; endless if none ended."""
    finite: Floats = latency_ms[np.isfinite(latency_ms)]
    return finite if len(finite) else np.full(1, np.inf)


def slow_runs(spread: Spread | None, z: Floats) -> Floats | None:
    """Return factors on the P50 of runs by normal numbers, float64 [N]; None without a spread.

    P50, P90 and P99 are those of the prediction, between them ln(latency) is linear in z, and no
    run is faster than the P50.
    """
    if spread is None:
        return None
    p90, p99 = (math.log(max(spread.tail(p).ratio, 1.0)) for p in (P90, P99))
    p99 = max(p90, p99)
    last = p99 + (p99 - p90) / (_Z99 - _Z90) * (_LAST_Z - _Z99)
    logs = np.interp(z, (0.0, _Z90, _Z99, _LAST_Z), (0.0, p90, p99, last))
    factors: Floats = np.exp(logs)
    return factors


def _balanced(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return normal numbers, float64 [draws, ...]: of each draw there is the opposite too.

    So the median draw of a latency is its P50 in few draws as well.
    """
    draws, *rest = shape
    half = random.standard_normal((draws // 2, *rest))
    return np.concatenate([half, -half, np.zeros((draws % 2, *rest))])


def _level(cost: RunCost, common: Floats, rest: Floats) -> Floats:
    """Return the factors of a draw on a stage's latency, float64 [draws]."""
    shared = cost.shared
    error = common[:, : len(shared)] @ shared
    error = error + math.sqrt(max(1 - float(shared @ shared), 0.0)) * rest
    level: Floats = np.maximum(np.exp(cost.deviation * error), cost.floor)
    return level


def _times(stream: Stream, rate: float, count: int, random: np.random.Generator) -> Floats:
    """Return the times of one of the streams alike, which start at a time of their own."""
    offset = random.uniform()
    arrivals: Arrivals
    if stream.arrival == "poisson":
        arrivals = Poisson(rate)
    elif stream.arrival == "trace":
        recorded = Trace(stream.trace_s)
        stretch = len(stream.trace_s) / recorded.cycle_s / rate
        times: Floats = recorded.times_s(count, random)
        return (times + offset * recorded.cycle_s * (stream.count > 1)) * stretch
    else:
        arrivals = Periodic(rate, offset / rate)
    return arrivals.times_s(count, random)
