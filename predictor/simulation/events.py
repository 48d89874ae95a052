"""The clock of a simulation and the events ahead of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

Action = Callable[[Any], None]


class Events:
    """A clock in seconds that steps from event to event; those of one time keep their order.

    Attributes:
        now_s: time of the event that runs.
    """

    def __init__(self) -> None:
        self.now_s = 0.0
        self._ahead: list[tuple[float, int, Action, Any]] = []
        self._count = 0

    def at(self, time_s: float, action: Action, subject: object = None) -> None:
        """Call ``action(subject)`` at a time that is not before the clock's."""
        heappush(self._ahead, (time_s, self._count, action, subject))
        self._count += 1

    def at_all(self, times_s: Iterable[float], action: Action) -> None:
        """Call ``action(place)`` at each of the times, with its place among them."""
        for place, time_s in enumerate(times_s):
            self._ahead.append((time_s, self._count, action, place))
            self._count += 1
        heapify(self._ahead)

    def at_sorted(self, times_s: Sequence[float], action: Action) -> None:
        """Do as ``at_all`` with ascending times, one ahead at a time: the heap stays small."""
        last = len(times_s) - 1

        def arrive(place: int) -> None:
            if place < last:
                self.at(times_s[place + 1], arrive, place + 1)
            action(place)

        if times_s:
            self.at(times_s[0], arrive, 0)

    @property
    def next_s(self) -> float:
        """Time of the next event, infinite where there is none."""
        return self._ahead[0][0] if self._ahead else math.inf

    def run(self) -> None:
        """Run all events, those too that events add."""
        ahead = self._ahead
        while ahead:
            self.now_s, _, action, subject = heappop(ahead)
            action(subject)
