"""When requests or frames come: at random, in a beat, or at recorded times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Arrivals(Protocol):
    """A process of arrivals."""

    def times_s(self, count: int, random: np.random.Generator) -> Floats:
        """Return the first ``count`` times in seconds, ascending, float64 [count]."""
        ...


@dataclass(frozen=True, slots=True)
class Poisson:
    """Independent arrivals at a rate: gaps are exponential."""

    rate_per_s: float

    def times_s(self, count: int, random: np.random.Generator) -> Floats:
        """See ``Arrivals``. Of one seed, twice the rate gives the same times halved."""
        gaps: Floats = random.standard_exponential(count)
        return np.cumsum(gaps) / self.rate_per_s


@dataclass(frozen=True, slots=True)
class Periodic:
    """Arrivals in a beat, the first one after ``offset_s``."""

    rate_per_s: float
    offset_s: float = 0.0

    def times_s(self, count: int, random: np.random.Generator) -> Floats:  # noqa: ARG002
        """See ``Arrivals``; nothing is drawn."""
        return self.offset_s + np.arange(count, dtype=np.float64) / self.rate_per_s


@dataclass(frozen=True, slots=True)
class Trace:
    """Recorded times in seconds, ascending; they start anew where more are requested."""

    recorded_s: Sequence[float]

    def times_s(self, count: int, random: np.random.Generator) -> Floats:  # noqa: ARG002
        """See ``Arrivals``; nothing is drawn."""
        recorded = np.array(self.recorded_s, np.float64)
        places = np.arange(count)
        rounds, place = np.divmod(places, len(recorded))
        times: Floats = recorded[place] - recorded[0] + rounds * self.cycle_s
        return times

    @property
    def cycle_s(self) -> float:
        """Seconds from the first time to its repetition: a mean gap after the last one."""
        span = self.recorded_s[-1] - self.recorded_s[0]
        gaps = len(self.recorded_s) - 1
        return span * (gaps + 1) / gaps if gaps else 0.0
