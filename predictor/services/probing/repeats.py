"""Networks that were inconclusive are measured again while a session has time left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Final

from predictor.probing.measuring.interface import NetworkDone, ProbeEvent

_MOST_REPEATS: Final = 2  # of one network
_LONGER: Final = 2.0  # what is repeated needs a third block, and a sentinel stands beside it


class Repeats:
    """What one run of a session measures again, and whether there is time for it.

    Args:
        text: the stored plan; one of an earlier version has no budget, and repeats nothing.
        clock: in seconds.
    """

    def __init__(self, text: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget_s = float(json.loads(text).get("budget_s", 0.0))
        self._clock = clock
        self._start_s = clock()
        self._measured = 0
        self._inconclusive: dict[str, bool] = {}
        self._repeats: dict[str, int] = {}

    def take(self, event: ProbeEvent) -> None:
        """Take note of what an event tells of a network."""
        if isinstance(event, NetworkDone):
            self._measured += 1
            self._inconclusive[event.name] = event.document.get("median_ms") is None

    def due(self) -> tuple[str, ...]:
        """Return what is measured again; nothing where all is well or no time is left."""
        names = [
            name
            for name, inconclusive in self._inconclusive.items()
            if inconclusive and self._repeats.get(name, 0) < _MOST_REPEATS
        ]
        spent_s = self._clock() - self._start_s
        left_s = self._budget_s - spent_s
        each_s = _LONGER * spent_s / max(1, self._measured)
        affordable = int(left_s / each_s) if 0 < each_s <= left_s else 0
        for name in names[:affordable]:
            self._repeats[name] = self._repeats.get(name, 0) + 1
        return tuple(names[:affordable])
