"""Servers that take one job after the other, in the order in which they come."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence

from predictor.simulation.events import Action, Events

Service = float | Callable[[], float]
"""Seconds of a job, or what gives them when it starts."""


class Station:
    """Servers with one queue: a processor or accelerator with jobs of several streams.

    Args:
        events: the clock.
        servers: jobs that are served at once.

    Attributes:
        servers: jobs that are served at once.
        busy_s: seconds that servers worked, all together.
    """

    def __init__(self, events: Events, servers: int = 1) -> None:
        self.busy_s = 0.0
        self.servers = servers
        self._events = events
        self._idle = servers
        self._waiting: deque[tuple[Service, Action, object]] = deque()

    def submit(self, service_s: Service, finished: Action, subject: object = None) -> None:
        """Queue a job; ``finished(subject)`` is called at its end."""
        if self._idle:
            self._idle -= 1
            self._start(service_s, finished, subject)
        else:
            self._waiting.append((service_s, finished, subject))

    def _start(self, service: Service, finished: Action, subject: object) -> None:
        service_s = service() if callable(service) else service
        self.busy_s += service_s
        self._events.at(self._events.now_s + service_s, self._end, (finished, subject))

    def _end(self, job: tuple[Action, object]) -> None:
        finished, subject = job
        if self._waiting:
            self._start(*self._waiting.popleft())
        else:
            self._idle += 1
        finished(subject)


class Batcher:
    """Jobs of one kind on their way to a station, which serves several of them as one job.

    A batch queues at the station when it is full or its first job has waited for ``delay_s``.
    Until it starts further jobs join it, up to its full size.

    Args:
        events: the clock.
        station: that serves the batches.
        service_s: seconds of a batch by its size, from 1 to the full one.
        delay_s: that a job waits for others; infinite where batches are always full.
        finished: called with the list of jobs at the end of a batch.
        factors: on the seconds of a batch, by its first job.

    Attributes:
        batches: that were started.
        jobs: in them.
    """

    def __init__(
        self,
        events: Events,
        station: Station,
        service_s: Sequence[float],
        delay_s: float,
        finished: Action,
        factors: Sequence[float],
    ) -> None:
        self.batches = self.jobs = 0
        self._events, self._station, self._finished = events, station, finished
        self._service_s, self._delay_s, self._factors = service_s, delay_s, factors
        self._open: list[int] = []
        self._queued: deque[list[int]] = deque()

    def submit(self, job: int) -> None:
        """Add a job to the batch that is open, or begin one with it."""
        size = len(self._service_s)
        # Only the last one of those that queue may have a place left.
        if self._queued and len(self._queued[-1]) < size:
            self._queued[-1].append(job)
            return
        self._open.append(job)
        if len(self._open) == size:
            self._queue()
        elif len(self._open) == 1 and math.isfinite(self._delay_s):
            self._events.at(self._events.now_s + self._delay_s, self._waited, self._open)

    def _waited(self, batch: list[int]) -> None:
        if batch is self._open:
            self._queue()

    def _queue(self) -> None:
        batch, self._open = self._open, []
        self._queued.append(batch)
        self._station.submit(self._close, self._finished, batch)

    def _close(self) -> float:
        batch = self._queued.popleft()
        self.batches += 1
        self.jobs += len(batch)
        return self._service_s[len(batch) - 1] * self._factors[batch[0]]
