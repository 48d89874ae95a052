"""How good latencies with intervals are: errors, shares within limits, coverage, width, score."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES: Final = 1000
LIMITS: Final = (0.05, 0.10, 0.15)

_MISSED = {80: 0.2, 95: 0.05}  # what an interval may miss, by its level in percent


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """N answers of an engine beside what was measured.

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

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer]) -> Answers:
        """Return some of the answers."""
        return Answers(*(getattr(self, field.name)[rows] for field in fields(self)))

    @classmethod
    def joined(cls, parts: list[Answers]) -> Answers:
        """Return the answers of several parts, one after the other."""
        names = [field.name for field in fields(cls)]
        empty = np.empty(0)
        return cls(*(np.concatenate([empty, *(getattr(p, n) for p in parts)]) for n in names))


@dataclass(frozen=True, slots=True)
class Scores:
    """Figures of N answers; every one but the counts is None where no answer tells it.

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
        figures = table.figures(np.ones(len(answers)))
        known = int(np.isfinite(answers.predicted_ms).sum())
        return cls(len(answers), len(answers) - known, **figures)


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
        groups, where no spread can be told.

    Reference:
        B. Efron and R. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13
        (percentile interval).
    """
    names, member = np.unique(groups, return_inverse=True)
    if len(names) < 2:
        return {}
    table = _Table.of(answers)
    generator = np.random.default_rng(seed)
    drawn: dict[str, list[float]] = {}
    for _ in range(RESAMPLES):
        times = np.bincount(generator.integers(len(names), size=len(names)), minlength=len(names))
        for name, value in table.figures(times[member].astype(np.float64)).items():
            if value is not None:
                drawn.setdefault(name, []).append(value)
    return {
        name: (float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975)))
        for name, values in drawn.items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """What each answer adds to each figure.

    Attributes:
        means: values of which a figure is the mean, NaN where the answer tells none.
        medians: the same of medians, with the order of the values.
    """

    means: dict[str, Floats]
    medians: dict[str, tuple[Floats, NDArray[np.intp]]]

    @classmethod
    def of(cls, answers: Answers) -> _Table:
        error = np.abs(answers.predicted_ms - answers.measured_ms) / answers.measured_ms
        means = {"mape_percent": error, "rae_percent": error}
        for limit in LIMITS:
            within = np.where(np.isnan(error), np.nan, error <= limit + 1e-12)
            means[f"acc{round(100 * limit)}_percent"] = within
        medians = {"median_ape_percent": error}
        for level, missed in _MISSED.items():
            low, high = _interval(answers, level)
            width = high - low
            outside = np.maximum(low - answers.measured_ms, 0) + np.maximum(
                answers.measured_ms - high, 0
            )
            covered = np.where(np.isnan(width), np.nan, outside <= 0)
            means[f"coverage{level}_percent"] = covered
            means[f"score{level}_percent"] = (width + 2 / missed * outside) / answers.measured_ms
            medians[f"width{level}_percent"] = width / answers.predicted_ms
        return cls(means, {n: (v, np.argsort(v, kind="stable")) for n, v in medians.items()})

    def figures(self, weights: Floats) -> dict[str, float | None]:
        """Return the figures in percent, each answer counted as often as it weighs."""
        found = {name: _mean(values, weights) for name, values in self.means.items()}
        for name, (values, order) in self.medians.items():
            found[name] = _median(values[order], weights[order])
        return found


def _interval(answers: Answers, level: int) -> tuple[Floats, Floats]:
    if level == 80:
        return answers.low80_ms, answers.high80_ms
    return answers.low95_ms, answers.high95_ms


def _mean(values: Floats, weights: Floats) -> float | None:
    known = ~np.isnan(values)
    total = float(weights[known].sum())
    return 100 * float(values[known] @ weights[known]) / total if total > 0 else None


def _median(ordered: Floats, weights: Floats) -> float | None:
    """Return the weighted median of ascending values; NaN stands last and does not count."""
    weights = np.where(np.isnan(ordered), 0.0, weights)
    reached = np.cumsum(weights)
    if not reached.size or reached[-1] <= 0:
        return None
    half = reached[-1] / 2
    upper = int(np.searchsorted(reached, half, side="right"))
    lower = int(np.searchsorted(reached, half, side="left"))
    return 50 * float(ordered[lower] + ordered[upper])
