"""Engines that the judge can ask, and the two analytic ones: the roofline, and its class estimate.

The class estimate is the roofline over the median efficiency of a class. Everything that is learned
has to beat it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from ctm_research.evaluation.judge.groups import (
    Floats,
    Numbers,
    means,
    medians,
    numbered,
    quantiles,
)
from ctm_research.evaluation.judge.judged import NO_CLASS, Judged, Rows
from predictor.core.percentiles import Z80

_LEAST_SILICON: Final = 3  # of fewer, a median is that of one device
_LEAST_SPREAD: Final = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """Predictions of Q measurements; NaN where an engine has none.

    Attributes:
        log_ms: float64 [Q], median of ln(latency in ms).
        deviation: float64 [Q], standard deviation of ln(latency).
    """

    log_ms: Floats
    deviation: Floats


class FittedEngine(Protocol):
    """An engine after training."""

    def predict(self, rows: Rows, measured: Mapping[int, Rows]) -> Predicted:
        """Predict measurements.

        Args:
            rows: [Q], whose latencies must not be read.
            measured: measurements by target that may be read too; of each target its own alone.
        """


class JudgedEngine(Protocol):
    """An engine that the judge can train."""

    @property
    def name(self) -> str:
        """Name on the page."""

    @property
    def folds(self) -> int:
        """Number of the folds that it is trained in, from the first on."""

    def fit(self, judged: Judged, train: Rows) -> FittedEngine:
        """Train on some measurements; no other latency may be read."""


class Roofline:
    """The estimate at the peaks of the target; no interval, no use of measurements."""

    name = "roofline"
    folds = 10

    def fit(self, judged: Judged, train: Rows) -> FittedEngine:  # noqa: ARG002  # of the protocol
        """Return it: there is nothing to train."""
        return _Peaks(judged)


@dataclass(frozen=True, slots=True, eq=False)
class _Peaks:
    judged: Judged

    def predict(self, rows: Rows, measured: Mapping[int, Rows]) -> Predicted:  # noqa: ARG002
        """Return the estimate where the facts state all rates."""
        parts = self.judged.parts
        log_ms = np.log(parts.estimate_ms[rows])
        log_ms[~parts.rated[self.judged.target[rows]]] = np.nan
        return Predicted(log_ms, np.full(len(rows), np.nan))


class ClassEstimate:
    """The roofline over the median efficiency of the class, with its spread as interval.

    A class with fewer than three kinds of silicon has the median of its runtime; a runtime with
    fewer that of the kind of device, and a kind with fewer that of all.
    """

    name = "class estimate"
    folds = 10

    def fit(self, judged: Judged, train: Rows) -> FittedEngine:
        """Find the efficiencies; typical rates take the place of missing facts."""
        return over_median_efficiency(judged, train, np.log(judged.parts.estimate_ms))


def over_median_efficiency(judged: Judged, train: Rows, log_ms: Floats) -> FittedEngine:
    """Return an estimate over the median efficiency of each class.

    Args:
        judged: the corpus.
        train: measurements that may be learned from.
        log_ms: [M], ln of the estimate of each measurement.
    """
    train = train[np.isin(train, judged.rows)]
    over = judged.log_latency - log_ms
    first, cell = numbered(judged.target[train], judged.network[train])
    rows = train[first]  # one of each network on each target
    each = medians(cell, over[train], len(first))
    level, between, within = np.zeros((3, len(judged.targets)))
    for group in _coarse_to_fine(judged):
        found = _Spread.of(group[judged.target[rows]], judged.silicon_of(rows), each)
        numbers = np.minimum(group, len(found.level) - 1)
        known = (group < len(found.level)) & (found.silicon[numbers] >= _LEAST_SILICON)
        known |= group.max() == 0
        for values, own in zip(
            (level, between, within), (found.level, found.between, found.within), strict=True
        ):
            values[known] = own[numbers[known]]
    return _Estimate(judged, log_ms, level, between, within)


def _coarse_to_fine(judged: Judged) -> list[Numbers]:
    """Return groups of the targets: all, kind, runtime, class; each int64 [T]."""
    groups = [np.zeros(len(judged.targets), np.int64)]
    for name in ("kind", "runtime"):
        values = [getattr(each, name) for each in judged.classes]
        numbers = np.unique(np.array(values), return_inverse=True)[1]
        groups.append(np.append(numbers, 0)[judged.klass] + 1)  # 0: the catalogue lacks it
        groups[-1][judged.klass == NO_CLASS] = 0
    return [*groups, judged.klass + 1]


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """Level and spread of values in groups, each kind of silicon counting the same.

    Attributes:
        silicon: kinds of silicon of a group.
        level: median over silicon of its median.
        between: standard deviation of the silicon about it.
        within: of the values about the median of their silicon.
    """

    silicon: Numbers
    level: Floats
    between: Floats
    within: Floats

    @classmethod
    def of(cls, group: Numbers, silicon: Numbers, values: Floats) -> _Spread:
        count = int(group.max(initial=0)) + 1
        first, member = numbered(group, silicon)
        of_silicon = medians(member, values, len(first))
        level = medians(group[first], of_silicon, count)
        apart = np.abs(of_silicon - level[group[first]])
        inner = quantiles(member, np.abs(values - of_silicon[member]), 0.8, len(first))
        # The 80 % quantile, so that an interval of 80 % covers as many also with heavy tails.
        between = quantiles(group[first], apart, 0.8, count) / Z80
        within = medians(group[first], inner, count) / Z80
        return cls(
            np.bincount(group[first], minlength=count),
            level,
            np.maximum(between, _LEAST_SPREAD),
            np.maximum(within, _LEAST_SPREAD),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Estimate:
    """Efficiencies of T targets: level, spread between silicon and within one, each [T].

    ``log_ms`` is [M], ln of the estimate.
    """

    judged: Judged
    log_ms: Floats
    level: Floats
    between: Floats
    within: Floats

    def predict(self, rows: Rows, measured: Mapping[int, Rows]) -> Predicted:
        """Return the estimates, moved towards the measured efficiency of the target."""
        read = np.concatenate([np.empty(0, np.int64), *measured.values()])
        target, count = self.judged.target, len(self.level)
        over = self.judged.log_latency[read] - self.log_ms[read]
        seen = means(target[read], over, count)
        number = np.bincount(target[read], minlength=count)
        # The posterior of a normal level with a normal prior.
        weight = self.between**2 / (self.between**2 + self.within**2 / np.maximum(number, 1))
        weight = np.where(number > 0, weight, 0.0)
        level = self.level + weight * (np.where(number > 0, seen, self.level) - self.level)
        deviation = np.hypot(self.between * np.sqrt(1 - weight), self.within)
        of_row = target[rows]
        return Predicted(self.log_ms[rows] + level[of_row], deviation[of_row])
