"""Systems that add up kernels by kind: nn-Meter and LitePred.

Both time kernels one by one on each device. Here whole networks were measured, so regressions of a
class are fitted to sums: every kind of kernel takes a positive time a launch, a MAC and a byte, and
each target has a level.

References:
    L. Zhang et al., "nn-Meter", MobiSys 2021; C. Feng et al., "LitePred", NSDI 2024.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import nnls

from ctm_research.evaluation.judge.engines import FittedEngine, Predicted
from ctm_research.evaluation.judge.groups import Floats, medians, members
from ctm_research.evaluation.judge.judged import Rows
from ctm_research.evaluation.systems.arithmetic import class_or_all
from ctm_research.evaluation.systems.field import Field
from predictor.cost.operator_kinds import KINDS

_ROUNDS: Final = 4  # of levels of targets and times of kinds, in turn
_PULL: Final = 0.1  # draws the factors of kinds to one, in measured networks
_LEAST_SHARE: Final = 0.05  # of the mean measurement: a sum with negative factors can fall to 0
_LEAST_NETWORKS: Final = 10  # of a target in LitePred's pool


class NnMeter:
    """A regression for each kind of kernel; k networks fit a factor for each kind."""

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Fit the times by kind of the mean device of each class."""
        del seed
        return KernelTimes.of(field, train)


class LitePred:
    """A pool of nn-Meter predictors of measured targets, of which the nearest is fine-tuned."""

    def fit(self, field: Field, train: Rows, seed: int) -> FittedEngine:
        """Fit the factors of each target in training that has enough networks."""
        del seed
        times, judged = KernelTimes.of(field, train), field.judged
        pool: dict[int, list[Floats]] = {}
        read = field.train_rows(train)
        for target, places in members(judged.target[read]):
            if len(places) >= _LEAST_NETWORKS:
                rows = read[places]
                parts = times.of_rows(rows)
                factors = fitted_factors(parts, times.measured(rows), np.ones(len(KINDS)))
                pool.setdefault(int(times.group[target]), []).append(factors)
        return _Pool(times, pool)


@dataclass(frozen=True, slots=True, eq=False)
class KernelTimes:
    """Times by kind of kernel on the mean device of each class.

    Attributes:
        field: the measurements.
        group: int64 [T], class of each target, or that of small classes.
        times: float64 [G, K, 4], ms a launch, a MAC and a byte, of the mean device of each class.
    """

    field: Field
    group: Rows
    times: Floats

    @classmethod
    def of(cls, field: Field, train: Rows) -> KernelTimes:
        """Fit the times of each class by least squares of relative errors, none negative."""
        group, count = class_or_all(field, train)
        read = field.train_rows(train)
        judged, resources = field.judged, field.resources
        times = np.empty((count, *resources.shape[1:]))
        for number in range(count):
            mine = read if number == count - 1 else read[group[judged.target[read]] == number]
            whole = resources[judged.graph[mine]].reshape(len(mine), -1)
            times[number] = _times(field, mine, whole).reshape(times.shape[1:])
        return cls(field, group, times)

    def of_rows(self, rows: Rows) -> Floats:
        """Return the times by kind of networks on the mean device, [n, K] in ms."""
        judged = self.field.judged
        times = self.times[self.group[judged.target[rows]]]
        parts: Floats = (self.field.resources[judged.graph[rows]] * times).sum(axis=2)
        return np.maximum(parts, 1e-12)

    def measured(self, rows: Rows) -> Floats:
        """Return latencies in ms."""
        latencies: Floats = np.exp(self.field.judged.log_latency[rows])
        return latencies

    def predict(self, rows: Rows, measured: Mapping[int, Rows]) -> Predicted:
        """Return the sums, times the factors that the measured networks of a target fit."""
        return self.with_factors(rows, measured, {})

    def with_factors(
        self, rows: Rows, measured: Mapping[int, Rows], pool: Mapping[int, list[Floats]]
    ) -> Predicted:
        """Return the sums; a target starts from the factors of the pool nearest to it."""
        log_ms = np.empty(len(rows))
        for target, places in members(self.field.judged.target[rows]):
            parts, factors = self.of_rows(rows[places]), np.ones(len(KINDS))
            least = 0.0
            if target in measured:
                own = measured[target]
                seen, latencies = self.of_rows(own), self.measured(own)
                choices = pool.get(int(self.group[target]), [])
                start = nearest(seen, latencies, choices) if choices else factors
                factors = fitted_factors(seen, latencies, start)
                least = _LEAST_SHARE * float(latencies.mean())
            log_ms[places] = np.log(np.maximum(parts @ factors, max(least, 1e-12)))
        return Predicted(log_ms, np.full(len(rows), np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    times: KernelTimes
    pool: Mapping[int, list[Floats]]

    def predict(self, rows: Rows, measured: Mapping[int, Rows]) -> Predicted:
        """Return the predictions of the nearest pool member, fine-tuned."""
        return self.times.with_factors(rows, measured, self.pool)


def _times(field: Field, rows: Rows, resources: Floats) -> Floats:
    """Return the positive times a resource of the mean device, [K * 4]."""
    judged = field.judged
    _, target = np.unique(judged.target[rows], return_inverse=True)
    count, log_ms = int(target.max()) + 1, judged.log_latency[rows]
    level = medians(target, log_ms, count)
    level -= np.median(level)
    size = np.maximum(resources.max(axis=0), 1.0)
    times = np.empty(len(size))
    for _ in range(_ROUNDS):
        relative = resources / size * np.exp(level[target] - log_ms)[:, None]
        times, _ = nnls(relative, np.ones(len(rows)))
        predicted = np.log(np.maximum(resources / size @ times, 1e-12))
        level = medians(target, log_ms - predicted, count)
        # The mean device of the class is that of the median level.
        centre = float(np.median(level))
        times *= np.exp(centre)
        level -= centre
    result: Floats = times / size
    return result


def fitted_factors(parts: Floats, latency_ms: Floats, start: Floats) -> Floats:
    """Return a factor for each kind that fits measured sums, [K].

    Args:
        parts: [k, K], times by kind of the mean device.
        latency_ms: [k], measured.
        start: [K], factors that a common factor and few measurements are drawn to.
    """
    begun = parts * start
    scale = float(np.median(latency_ms / begun.sum(axis=1)))
    # Divided by the measurement: the fit minimises relative errors.
    relative = scale * begun / latency_ms[:, None]
    gram = relative.T @ relative + _PULL * np.eye(parts.shape[1])
    moved = np.linalg.solve(gram, relative.T @ (1 - relative.sum(axis=1)))
    factors: Floats = scale * start * (1 + moved)
    return factors


def nearest(parts: Floats, latency_ms: Floats, pool: list[Floats]) -> Floats:
    """Return the factors whose predictions diverge least from the measured ones as distributions.

    The published code sorts the divergence with the largest first, which must be a slip.
    """
    shares = latency_ms / latency_ms.sum()
    best, least = pool[0], np.inf
    for factors in pool:
        predicted = np.maximum(parts @ factors, 1e-12)
        divergence = float((shares * np.log(shares * predicted.sum() / predicted)).sum())
        if divergence < least:
            best, least = factors, divergence
    return best
