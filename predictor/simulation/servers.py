"""Servers that take one job after the other, in the order in which they come."""

from __future__ import annotations

from collections import deque

from predictor.simulation.events import Action, Events


class Station:
    """Servers with one queue: a processor or accelerator with jobs of several streams.

    Args:
        events: the clock.
        servers: jobs that are served at once.

    Attributes:
        busy_s: seconds that servers worked, all together.
    """

    def __init__(self, events: Events, servers: int = 1) -> None:
        self.busy_s = 0.0
        self._events = events
        self._idle = servers
        self._waiting: deque[tuple[float, Action, object]] = deque()

    def submit(self, service_s: float, finished: Action, subject: object = None) -> None:
        """Queue a job; ``finished(subject)`` is called at its end."""
        if self._idle:
            self._idle -= 1
            self._start(service_s, finished, subject)
        else:
            self._waiting.append((service_s, finished, subject))

    def _start(self, service_s: float, finished: Action, subject: object) -> None:
        self.busy_s += service_s
        self._events.at(self._events.now_s + service_s, self._end, (finished, subject))

    def _end(self, job: tuple[Action, object]) -> None:
        finished, subject = job
        if self._waiting:
            self._start(*self._waiting.popleft())
        else:
            self._idle += 1
        finished(subject)
