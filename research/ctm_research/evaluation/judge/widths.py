"""Whether intervals are wide where the error of the level is large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ctm_research.evaluation.judge.asked import Answers
from ctm_research.evaluation.judge.groups import Floats, Numbers, medians, numbered
from ctm_research.evaluation.judge.judged import NO_CLASS, Judged

_LEAST_SILICON: Final = 5  # of a class whose ranks say something
_RESAMPLES: Final = 1000
_LOW: Final = 0.05


@dataclass(frozen=True, slots=True)
class WidthRank:
    """Correlation of the ranks of width and error within classes, pooled.

    Attributes:
        correlation: of the ranks.
        low: its 5 % quantile over draws of silicon.
        silicon: pairs of class and silicon.
        classes: that they are of.
    """

    correlation: float
    low: float
    silicon: int
    classes: int


def width_rank(judged: Judged, answers: Answers, seed: int) -> WidthRank | None:
    """Return how well widths rank the errors of levels; None without a class of enough silicon.

    The error of a target's level is the median over its networks of ln(predicted / measured); of
    error and width of a silicon in a class the median over its targets counts.

    Args:
        judged: the corpus.
        answers: predictions of rows of targets of which nothing was measured.
        seed: of the draws of silicon.
    """
    rows = answers.rows
    on_target, cell = numbered(judged.target[rows], judged.network[rows])
    apart = medians(cell, answers.log_ms - judged.log_latency[rows], len(on_target))
    width = medians(cell, answers.deviation, len(on_target))
    first, member = numbered(judged.target[rows[on_target]])
    level, width = (medians(member, each, len(first)) for each in (apart, width))
    target = judged.target[rows[on_target[first]]]
    unit, member = numbered(judged.klass[target], judged.silicon[target])
    error, wide = (medians(member, each, len(unit)) for each in (np.abs(level), width))
    klass = judged.klass[target[unit]]
    counts = np.bincount(np.maximum(klass, 0), klass != NO_CLASS)
    chosen = (klass != NO_CLASS) & (counts[klass] >= _LEAST_SILICON)
    if not chosen.any():
        return None
    pairs = np.stack([_ranks(klass[chosen], each[chosen]) for each in (wide, error)])
    drawn = np.random.default_rng(seed).integers(pairs.shape[1], size=(_RESAMPLES, pairs.shape[1]))
    low = np.quantile([_correlation(pairs[:, each]) for each in drawn], _LOW)
    silicon, classes = pairs.shape[1], len(np.unique(klass[chosen]))
    return WidthRank(_correlation(pairs), float(low), silicon, classes)


def _ranks(klass: Numbers, values: Floats) -> Floats:
    """Return the ranks of values within their classes, from -0.5 to 0.5; equal ones share one."""
    ranks = np.empty(len(values))
    for number in np.unique(klass).tolist():
        mine = klass == number
        own = values[mine]
        below, above = ((own[:, None] > own).sum(1), (own[:, None] >= own).sum(1))
        ranks[mine] = (below + above) / (2 * len(own)) - 0.5
    return ranks


def _correlation(pairs: Floats) -> float:
    """Return the correlation of two rows about 0; 0 where one is all alike."""
    scale = float(np.sqrt((pairs[0] ** 2).sum() * (pairs[1] ** 2).sum()))
    return float((pairs[0] * pairs[1]).sum()) / scale if scale > 0 else 0.0
