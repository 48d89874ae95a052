"""Scores of latencies with intervals: errors, shares within limits, coverage, width, score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.arrays import ArrayRecord, Floats

RESAMPLES: Final = 1000
LIMITS: Final = (0.05, 0.10, 0.15)

_CELLS_AT_A_TIME = 1 << 20
_MISSED = {80: 0.2, 95: 0.05}  # what an interval may miss, by its level in percent


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Answers(ArrayRecord):
    """N answers of an engine beside the measured latencies.

    Attributes:
        measured_ms: float64 [N], above 0.
        predicted_ms: float64 [N], NaN where there is no number.
        low80_ms, high80_ms, low95_ms, high95_ms: float64 [N], NaN where there is no interval.
    """

    measured_ms: Floats
    predicted_ms: Floats
    low80_ms: Floats
    high80_ms: Floats
    low95_ms: Floats
    high95_ms: Floats

    def __len__(self) -> int:
        return self.measured_ms.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Figures of N answers; every one but the counts is None where no answer has it.

    Attributes:
        rows: N.
        without_number: answers without a number; no other figure counts them.
        mape_percent: mean of |predicted - measured| / measured.
        median_ape_percent: its median.
        rae_percent: the same as ``mape_percent``, by the name that the paper gives it.
        acc5_percent, acc10_percent, acc15_percent: share of answers with an error of at most 5, 10
            and 15 %.
        coverage80_percent, coverage95_percent: share of the measured latencies in their interval.
        width80_percent, width95_percent: median of the interval's width over the prediction.
        score80_percent, score95_percent: mean interval score over the measured latency; less is
            better.

    Reference:
        T. Gneiting and A. Raftery, "Strictly proper scoring rules, prediction, and estimation",
        2007, section 6.2 (interval score).
    """

    rows: int
    without_number: int
    mape_percent: float | None
    median_ape_percent: float | None
    rae_percent: float | None
    acc5_percent: float | None
    acc10_percent: float | None
    acc15_percent: float | None
    coverage80_percent: float | None
    coverage95_percent: float | None
    width80_percent: float | None
    width95_percent: float | None
    score80_percent: float | None
    score95_percent: float | None

    @classmethod
    def of(cls, answers: Answers) -> Scores:
        """Return the figures of answers."""
        table = _Table.of(answers)
        figures = table.figures(np.ones((1, 1), np.int64), np.zeros(len(answers), np.int64))
        answered = int(np.isfinite(answers.predicted_ms).sum())
        return cls(
            rows=len(answers),
            without_number=len(answers) - answered,
            **{name: None if np.isnan(v[0]) else float(v[0]) for name, v in figures.items()},
        )


def bootstrap(
    answers: Answers, groups: NDArray[np.integer], seed: int = 0
) -> dict[str, tuple[float, float]]:
    """Return 95 % intervals of the figures over draws of whole groups, targets usually.

    Args:
        answers: N answers.
        groups: [N], the group that each is of.
        seed: of the draws.

    Returns:
        Low and high of each figure of :class:`Scores` in percent; nothing with fewer than two
        groups, which have no spread.

    Reference:
        B. Efron and R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13
        (percentile interval).
    """
    names, member = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        return {}
    table = _Table.of(answers)
    # A draw is the number of times each group counts: no answers are copied.
    drawn = np.random.default_rng(seed).multinomial(
        len(names), np.full(len(names), 1 / len(names)), RESAMPLES
    )
    figures = table.figures(drawn, member)
    return {
        name: (float(np.nanquantile(values, 0.025)), float(np.nanquantile(values, 0.975)))
        for name, values in figures.items()
        if np.isfinite(values).any()
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The contribution of each answer to each figure.

    Attributes:
        means: values that a figure averages, NaN where the answer has none.
        medians: the same of medians, with the order of the values.
    """

    means: dict[str, Floats]
    medians: dict[str, tuple[Floats, NDArray[np.intp]]]

    @classmethod
    def of(cls, answers: Answers) -> _Table:
        error = np.abs(answers.predicted_ms - answers.measured_ms) / answers.measured_ms
        means = {"mape_percent": error, "rae_percent": error}
        for limit in LIMITS:
            # Rounding must not drop an error of exactly 5 %.
            within = np.where(np.isnan(error), np.nan, error <= limit + 1e-12)
            means[f"acc{round(100 * limit)}_percent"] = within
        medians = {"median_ape_percent": error}
        for level, missed in _MISSED.items():
            low, high = getattr(answers, f"low{level}_ms"), getattr(answers, f"high{level}_ms")
            width = high - low
            outside = np.maximum(low - answers.measured_ms, 0) + np.maximum(
                answers.measured_ms - high, 0
            )
            covered = np.where(np.isnan(width), np.nan, outside <= 0)
            means[f"coverage{level}_percent"] = covered
            # Width plus 2 / alpha times the distance outside, over the latency to compare targets.
            means[f"score{level}_percent"] = (width + 2 / missed * outside) / answers.measured_ms
            medians[f"width{level}_percent"] = width / answers.predicted_ms
        return cls(means, {n: (v, np.argsort(v, kind="stable")) for n, v in medians.items()})

    def figures(self, times: NDArray[np.integer], member: NDArray[np.integer]) -> dict[str, Floats]:
        """Return R values of each figure in percent, NaN where no answer has it.

        Args:
            times: [R, G], number of times that each of G groups counts.
            member: [N], the group of each answer.
        """
        figures = {name: _means(values, times, member) for name, values in self.means.items()}
        for name, (values, order) in self.medians.items():
            ascending = order[: len(order) - int(np.isnan(values).sum())]  # NaN stands last
            figures[name] = _medians(values[ascending], times, member[ascending])
        return figures


def _means(values: Floats, times: NDArray[np.integer], member: NDArray[np.integer]) -> Floats:
    present = ~np.isnan(values)
    groups = times.shape[1]
    sums = times @ np.bincount(member[present], values[present], groups)
    counts = times @ np.bincount(member[present], minlength=groups)
    means: Floats = np.full(len(times), np.nan)
    np.divide(100 * sums, counts, out=means, where=counts > 0)
    return means


def _medians(ordered: Floats, times: NDArray[np.integer], member: NDArray[np.integer]) -> Floats:
    """Return R medians in percent of ascending values, each counted as often as its group."""
    medians = np.full(len(times), np.nan)
    if not len(ordered):
        return medians
    step = max(1, _CELLS_AT_A_TIME // len(ordered))
    for start in range(0, len(times), step):
        # Weighted medians: the values are sorted once, each draw only weighs them anew.
        reached = np.cumsum(times[start : start + step, member], axis=1, dtype=np.int32)
        total = reached[:, -1:]
        lower = (2 * reached >= total).argmax(axis=1)
        upper = (2 * reached > total).argmax(axis=1)
        middle = 50 * (ordered[lower] + ordered[upper])
        medians[start : start + step] = np.where(total[:, 0] > 0, middle, np.nan)
    return medians
