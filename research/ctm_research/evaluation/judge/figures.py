"""Figures of classes: errors, intervals and the comparison with the class estimate.

Each network counts once and so does each kind of silicon: repeats and batches of a network on one
target are one number, their median; then the targets of a silicon; then its networks; then the
silicon of a class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ctm_research.corpus.noise import repeat_differences
from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.groups import Floats, Numbers, means, medians, numbered
from ctm_research.evaluation.judge.judged import Judged, Rows
from predictor.core.percentiles import Z80

_RESAMPLES: Final = 2000
_BOUND: Final = 0.95
_ENOUGH_REPEATS: Final = 10
_LEAST_ERROR: Final = 1e-9

Reduce = Callable[[Numbers, Floats, int], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class OfSilicon:
    """Figures of S pairs of class and silicon.

    Attributes:
        klass: int64 [S].
        silicon: int64 [S].
        rows: int64 [S], distinct measurements with a prediction.
        asked: int64 [S], distinct measurements.
        error: float64 [S], median relative error; NaN without a prediction.
        covered: float64 [S], part of the measurements in their 80 % interval; NaN without one.
        factor: float64 [S], median upper end of the interval over the prediction.
    """

    klass: Numbers
    silicon: Numbers
    rows: Numbers
    asked: Numbers
    error: Floats
    covered: Floats
    factor: Floats


def of_silicon(judged: Judged, answers: Answers) -> OfSilicon:
    """Return the figures of each silicon in each class."""
    rows = answers.rows
    first, member = numbered(judged.class_of(rows), judged.silicon_of(rows))
    count = len(first)
    apart = answers.log_ms - judged.log_latency[rows]
    wide = Z80 * answers.deviation
    inside = np.where(np.isnan(wide) | np.isnan(apart), np.nan, np.abs(apart) <= wide)
    known = ~np.isnan(apart)
    return OfSilicon(
        klass=judged.class_of(rows[first]),
        silicon=judged.silicon_of(rows[first]),
        rows=_distinct(rows[known], member[known], count),
        asked=_distinct(rows, member, count),
        error=_each_once(judged, answers, member, np.abs(np.expm1(apart)), medians),
        covered=_each_once(judged, answers, member, inside, means),
        factor=_each_once(judged, answers, member, np.exp(wide), medians),
    )


def _distinct(rows: Rows, member: Numbers, count: int) -> Numbers:
    _, first = np.unique(rows, return_index=True)
    return np.bincount(member[first], minlength=count)


def _each_once(
    judged: Judged, answers: Answers, silicon: Numbers, values: Floats, reduce: Reduce
) -> Floats:
    """Reduce values to networks on targets, then networks on silicon, then silicon."""
    rows = answers.rows
    on_target, cell = numbered(silicon, judged.target[rows], judged.network[rows])
    values = reduce(cell, values, len(on_target))
    silicon, rows = silicon[on_target], rows[on_target]
    on_silicon, cell = numbered(silicon, judged.network[rows])
    values = reduce(cell, values, len(on_silicon))
    silicon = silicon[on_silicon]
    return reduce(silicon, values, int(silicon.max(initial=-1)) + 1)


@dataclass(frozen=True, slots=True)
class Figure:
    """Figure of one class; None where nothing is there to tell it.

    Attributes:
        silicon: kinds of silicon with a prediction.
        rows: distinct measurements with a prediction.
        asked: distinct measurements.
        error_percent: median over silicon of the median error over its networks.
        covered_percent: mean over silicon of the share in the 80 % interval.
        factor: median over silicon of the interval's upper end over the prediction.
    """

    silicon: int
    rows: int
    asked: int
    error_percent: float | None
    covered_percent: float | None
    factor: float | None


def figure(table: OfSilicon, klass: int) -> Figure:
    """Return the figure of a class."""
    mine = table.klass == klass
    error = table.error[mine & ~np.isnan(table.error)]
    return Figure(
        silicon=len(error),
        rows=int(table.rows[mine].sum()),
        asked=int(table.asked[mine].sum()),
        error_percent=100 * float(np.median(error)) if len(error) else None,
        covered_percent=_known(100 * table.covered[mine], np.mean),
        factor=_known(table.factor[mine], np.median),
    )


def ratio_bound(
    table: OfSilicon, floor: OfSilicon, klass: int, seed: int
) -> tuple[float, float] | None:
    """Return a class's figure over that of the estimate, and its bootstrap 95 % upper bound.

    Both are of the silicon that both predict, drawn together.

    Returns:
        None with fewer than two kinds of silicon.

    Reference:
        B. Efron and R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    own, other = (_errors(each, klass) for each in (table, floor))
    shared = sorted(own.keys() & other.keys())
    if len(shared) < 2:
        return None
    # Errors of nothing at all are alike, and no ratio of theirs is infinite.
    pairs = np.maximum([[own[key], other[key]] for key in shared], _LEAST_ERROR)
    drawn = np.random.default_rng(seed).integers(len(pairs), size=(_RESAMPLES, len(pairs)))
    ours, theirs = np.median(pairs[drawn], axis=1).T
    whole = np.median(pairs, axis=0)
    return float(whole[0] / whole[1]), float(np.quantile(ours / theirs, _BOUND))


def noise_percent(judged: Judged, rows: Rows) -> float | None:
    """Return the median difference of two measurements of the same thing among some rows."""
    apart = np.abs(repeat_differences(judged.corpus.measurements, rows))
    return 100 * float(np.expm1(np.median(apart))) if len(apart) >= _ENOUGH_REPEATS else None


def _errors(table: OfSilicon, klass: int) -> dict[int, float]:
    mine = (table.klass == klass) & ~np.isnan(table.error)
    return dict(zip(table.silicon[mine].tolist(), table.error[mine].tolist(), strict=True))


def _known(values: Floats, reduce: Callable[[Floats], np.floating]) -> float | None:
    values = values[~np.isnan(values)]
    return float(reduce(values)) if len(values) else None
