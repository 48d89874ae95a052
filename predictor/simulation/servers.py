"""Servers that take one job after the other, in the order in which they come."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from predictor.simulation.events import Action, Events


class Steps(NamedTuple):
    """A job in parts: other jobs that wait come between its first part and its steps.

    Attributes:
        first_s: seconds of the first part.
        step_s: of each step after it.
        steps: number of these.
    """

    first_s: float
    step_s: float
    steps: int


Service = float | Steps | Callable[[], float | Steps]
"""Seconds of a job, its steps, or what gives them when it starts."""


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
        of_job = service() if callable(service) else service
        if isinstance(of_job, Steps):
            service_s, left = self._part(of_job)
            ended: Action = self._part_ended if left else self._end
            job: object = (left, finished, subject) if left else (finished, subject)
        else:
            service_s, ended, job = of_job, self._end, (finished, subject)
        self.busy_s += service_s
        self._events.at(self._events.now_s + service_s, ended, job)

    def _part(self, job: Steps) -> tuple[float, Steps | None]:
        """Return the seconds of the next part of a job, and what is left after it.

        Steps up to the next event are one part: before it nothing can come between.
        """
        if job.first_s:
            return job.first_s, job._replace(first_s=0.0) if job.steps else None
        steps = 1
        if not self._waiting and job.step_s:
            ahead = (self._events.next_s - self._events.now_s) / job.step_s
            steps = math.ceil(min(max(ahead, 1.0), job.steps))
        left = job._replace(steps=job.steps - steps)
        return steps * job.step_s, left if left.steps else None

    def _part_ended(self, job: tuple[Service, Action, object]) -> None:
        if self._waiting:
            self._waiting.append(job)
            job = self._waiting.popleft()
        self._start(*job)

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
        parted: returns the parts of a job of so many seconds.

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
        parted: Callable[[float], float | Steps] = float,
    ) -> None:
        self.batches = self.jobs = 0
        self._parted = parted
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

    def _close(self) -> float | Steps:
        batch = self._queued.popleft()
        self.batches += 1
        self.jobs += len(batch)
        return self._parted(self._service_s[len(batch) - 1] * self._factors[batch[0]])
