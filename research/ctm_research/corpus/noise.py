"""Noise of measurements of the same thing: the error that no predictor can beat.

Two parts, both as standard deviations of the log-latency. *Repeats*: the same graph on the same
target with the same statistic, measured more than once; other boards of the same chip, other
versions of the runtime and other days are in it, as they are in the latencies that a user meets.
*Rounding*: a value that was printed in steps of s lies up to s / 2 away, so its deviation is
s / sqrt(12).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctm_research.corpus.corpus import Corpus, Measurements

Floats = NDArray[np.float64]

_STEPS_MS: Final = (1.0, 0.5, 0.1, 0.01, 0.001)
_ENOUGH_VALUES = 10  # fewer could all be whole by chance
_ENOUGH_PAIRS = 10
_WORTH_TELLING = 0.01
_NORMAL_QUARTILE = 0.6745  # of |z|: the median of a standard normal deviate's magnitude


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """Noise of one source by its repeats and by rounding.

    Attributes:
        source: name of the source.
        pairs: measurements of the same thing, two at a time.
        deviation: robust standard deviation of the log-latency; NaN with fewer than 10 pairs.
        median_percent: median difference of two measurements of the same thing; NaN as above.
        worst_percent: its 90th percentile.
        rounding_percent: median deviation that rounding makes.
        rounded: share of the measurements whose rounding deviates by more than 1 %.
    """

    source: str
    pairs: int
    deviation: float
    median_percent: float
    worst_percent: float
    rounding_percent: float
    rounded: float


def noise_floors(corpus: Corpus) -> list[NoiseFloor]:
    """Return the floor of each source of a corpus."""
    rounding = rounding_deviations(corpus.measurements)
    floors = []
    for index, source in enumerate(corpus.sources):
        rows = np.flatnonzero(corpus.measurements.source == index)
        apart = np.abs(repeat_differences(corpus.measurements, rows))
        enough = len(apart) >= _ENOUGH_PAIRS
        middle, worst = np.quantile(apart, [0.5, 0.9]) if enough else (np.nan, np.nan)
        floors.append(
            NoiseFloor(
                source,
                len(apart),
                _deviation(apart) if enough else float("nan"),
                100 * float(np.expm1(middle)),
                100 * float(np.expm1(worst)),
                100 * float(np.median(rounding[rows])),
                float(np.mean(rounding[rows] > _WORTH_TELLING)),
            )
        )
    return floors


def measurement_noise(measurements: Measurements, source_count: int) -> NDArray[np.float32]:
    """Return the standard deviation of each log-latency, float32 [M].

    Repeats and rounding are independent, so their squares add up. A source without repeats has the
    median deviation of those that have them; where none has, rounding alone is left.
    """
    deviations = np.full(source_count, np.nan)
    for source in range(source_count):
        apart = repeat_differences(measurements, np.flatnonzero(measurements.source == source))
        if len(apart) >= _ENOUGH_PAIRS:
            deviations[source] = _deviation(np.abs(apart))
    repeated = deviations[~np.isnan(deviations)]
    usual = float(np.median(repeated)) if len(repeated) else 0.0
    repeats = np.where(np.isnan(deviations), usual, deviations)[measurements.source]
    return np.hypot(repeats, rounding_deviations(measurements)).astype(np.float32)


def repeat_differences(measurements: Measurements, rows: NDArray[np.int64]) -> Floats:
    """Return log-ratios of neighbours among measurements of the same thing, [P].

    R repeats give R - 1 pairs, so that a thing measured often does not outweigh the others.
    """
    things = np.array([measurements.graph, measurements.target, measurements.statistic])[:, rows]
    order = np.lexsort(things)  # stable: in the order of the table where all three agree
    same = (np.diff(things[:, order]) == 0).all(axis=0)
    logs = np.log(measurements.latency_ms[rows[order]])
    differences: Floats = np.diff(logs)[same]
    return differences


def rounding_deviations(measurements: Measurements) -> Floats:
    """Return the standard deviation of the log-latency that rounding makes, [M].

    The step is found for the measurements of one source on one target: the largest that divides
    all of them.
    """
    deviations = np.zeros(len(measurements))
    # A corpus has fewer than 256 sources, so the pair is one number.
    groups = measurements.target.astype(np.int64) * 256 + measurements.source
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    for rows in np.split(order, starts[1:]):
        latency_ms = measurements.latency_ms[rows]
        deviations[rows] = _step_ms(latency_ms) / np.sqrt(12) / latency_ms
    return deviations


def _step_ms(latency_ms: Floats) -> float:
    """Return the step in which values were printed, 0 where none of the usual ones fits."""
    if len(latency_ms) < _ENOUGH_VALUES:
        return 0.0
    for step in _STEPS_MS:
        # Tables of search spaces hold float32, so that a printed value is off by its last bit.
        off = np.abs(latency_ms - step * np.round(latency_ms / step))
        if (off <= 1e-6 * latency_ms + 1e-9).all():
            return step
    return 0.0


def _deviation(apart: Floats) -> float:
    """Return the deviation of one measurement from the magnitudes of differences of two."""
    # The variance of a difference is twice that of a measurement; the median bears outliers.
    return float(np.median(apart)) / _NORMAL_QUARTILE / float(np.sqrt(2))
