"""Items of streams through pipelines of stages, which share the units of a box.

A unit serves runs in the order in which they become ready, of whatever stream and stage they are. A
run in steps, as that of a language model, gives way to those that wait after each of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.simulation.events import Events
from predictor.simulation.servers import Batcher, Station, Steps

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRuns:
    """The runs of a stage of a pipeline.

    Attributes:
        unit: place of the unit that runs it.
        service_s: seconds of a run by the size of its batch, from 1 to the largest.
        after: places of the stages of the pipeline that it waits for.
        per_item: runs for an item; of 0.2 every fifth item has one.
        delay_s: that a run waits for a full batch; infinite for full batches alone.
        factors: on the seconds of an item's runs, float64 [items]; None for 1.
        steps: of a run after its first part; 0 of a run in one piece.
        first_share: of the seconds of a run, that its first part takes.
    """

    unit: int
    service_s: Sequence[float]
    after: Sequence[int] = ()
    per_item: float = 1.0
    delay_s: float = 0.0
    factors: Floats | None = None
    steps: int = 0
    first_share: float = 1.0

    def parted(self, service_s: float) -> float | Steps:
        """Return the parts of a run of so many seconds."""
        if not self.steps:
            return service_s
        first_s = self.first_share * service_s
        return Steps(first_s, (service_s - first_s) / self.steps, self.steps)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Stages in any order without a cycle, and the ascending times at which items come."""

    stages: Sequence[StageRuns]
    times_s: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What became of the items.

    Attributes:
        latency_s: of a pipeline's items in the order of arrival, float64 [items] each; NaN of those
            that wait for a batch which never fills.
        busy_s: seconds that each unit's servers worked, all together.
        span_s: from the start to the last end.
        batches: mean size of the batches, by pipeline and stage; 1 without batching.
    """

    latency_s: Sequence[Floats]
    busy_s: Sequence[float]
    span_s: float
    batches: Sequence[Sequence[float]]


class _Stage:
    """A stage on the clock: the runs that its items still need, and what follows it."""

    def __init__(self, runs: StageRuns, station: Station, events: Events, items: int) -> None:
        places = np.arange(items + 1)
        counts = np.diff(np.floor(places * runs.per_item + 1e-9).astype(np.int64))
        self.counts: list[int] = counts.tolist()
        self.left = list(self.counts)
        self.missing = [len(runs.after)] * items
        self.following: list[_Stage] = []
        self.items: _Items | None = None
        self._station, self._runs = station, runs
        factors = np.ones(items) if runs.factors is None else runs.factors
        if len(runs.service_s) > 1 or runs.delay_s:
            self.batcher: Batcher | None = Batcher(
                events, station, runs.service_s, runs.delay_s, self._batch_ended, factors.tolist(),
                runs.parted,
            )  # fmt: skip
            self._seconds: list[float] = []
        else:
            self.batcher = None
            self._seconds = (runs.service_s[0] * factors).tolist()

    @property
    def mean_batch(self) -> float:
        """Runs of a batch on average."""
        batcher = self.batcher
        return batcher.jobs / batcher.batches if batcher and batcher.batches else 1.0

    def start(self, item: int) -> None:
        """Queue the runs of an item whose stages before this one are complete."""
        count = self.counts[item]
        if not count:
            self._complete(item)
        elif self.batcher is not None:
            for _ in range(count):
                self.batcher.submit(item)
        elif self._station.servers == 1 and not self._runs.steps:
            # They follow one another, and nothing of an item begins before its last run ends.
            self._station.submit(count * self._seconds[item], self._complete, item)
        else:
            service = self._runs.parted(self._seconds[item])
            for _ in range(count):
                self._station.submit(service, self._ended, item)

    def _batch_ended(self, batch: Sequence[int]) -> None:
        for item in batch:
            self._ended(item)

    def _ended(self, item: int) -> None:
        self.left[item] -= 1
        if not self.left[item]:
            self._complete(item)

    def _complete(self, item: int) -> None:
        assert self.items is not None  # noqa: S101 - set by the pipeline
        for stage in self.following:
            stage.missing[item] -= 1
            if not stage.missing[item]:
                stage.start(item)
        self.items.stage_complete(item)


class _Items:
    """The items of a pipeline on the clock."""

    def __init__(self, pipeline: Pipeline, stations: Sequence[Station], events: Events) -> None:
        self._events = events
        self.times_s: list[float] = pipeline.times_s.tolist()
        count = len(self.times_s)
        self.stages = [_Stage(runs, stations[runs.unit], events, count) for runs in pipeline.stages]
        for stage, runs in zip(self.stages, pipeline.stages, strict=True):
            stage.items = self
            for place in runs.after:
                self.stages[place].following.append(stage)
        self._first = [
            stage
            for stage, runs in zip(self.stages, pipeline.stages, strict=True)
            if not runs.after
        ]
        self._left = [len(self.stages)] * count
        self.finish_s = [math.nan] * count
        events.at_sorted(self.times_s, self._arrive)

    def _arrive(self, item: int) -> None:
        for stage in self._first:
            stage.start(item)

    def stage_complete(self, item: int) -> None:
        """Count a stage of an item as complete."""
        self._left[item] -= 1
        if not self._left[item]:
            self.finish_s[item] = self._events.now_s


def pass_through(pipelines: Sequence[Pipeline], servers: Sequence[int]) -> Passage:
    """Return what becomes of the items of pipelines on units.

    Args:
        pipelines: of the streams.
        servers: runs that a unit makes at once, by unit.
    """
    events = Events()
    stations = [Station(events, count) for count in servers]
    passing = [_Items(pipeline, stations, events) for pipeline in pipelines]
    events.run()
    return Passage(
        latency_s=[np.array(items.finish_s) - np.array(items.times_s) for items in passing],
        busy_s=[station.busy_s for station in stations],
        span_s=events.now_s,
        batches=[[stage.mean_batch for stage in items.stages] for items in passing],
    )
