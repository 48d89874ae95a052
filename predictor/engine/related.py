"""What measurements of a device in one configuration say of it in another.

On held-out devices of ncnn, predictions for twice or half the threads that were measured erred by
12 % in the median, those without any measurement by 57 %; with four times by 20 %, with eight times
by 34 %, in another precision by 39 %. Beyond that nothing is taken over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from predictor.calibration.deviation import Deviation
from predictor.engine.places import Place

_MOST_DOUBLINGS: Final = 3.0  # of the threads
_PER_DOUBLING: Final = 0.20  # standard deviation of ln(latency) that each adds
_OTHER_PRECISION: Final = 0.60


def related(place: Place, known: Mapping[Place, Deviation]) -> Deviation | None:
    """Return the deviation of the nearest configuration of the same device and runtime.

    It is less certain than that of the measured configuration; None where none is near.
    """
    apart = {
        other: distance
        for other in known
        if other.device_id == place.device_id
        and other.runtime == place.runtime
        and (distance := _distance(place, other)) is not None
    }
    if not apart:
        return None
    nearest = min(apart, key=lambda other: (apart[other], other))
    found = known[nearest]
    covariance = found.covariance.copy()
    covariance[0, 0] += apart[nearest] ** 2
    return replace(found, covariance=covariance)


def _distance(place: Place, other: Place) -> float | None:
    """Return the standard deviation that the way between two configurations adds."""
    doublings = abs(math.log2(max(1, place.threads) / max(1, other.threads)))
    if doublings > _MOST_DOUBLINGS:
        return None
    precision = 0.0 if place.precision == other.precision else _OTHER_PRECISION
    return math.hypot(_PER_DOUBLING * doublings, precision)
