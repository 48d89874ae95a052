"""Distance between the statistics of one run: the choice of one of them decides as much."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctm_research.sources import SOURCES, Source
from ctm_research.sources.tables import read_rows


@dataclass(frozen=True, slots=True)
class StatisticSpread:
    """Another statistic of the same runs over the one that is taken.

    Attributes:
        source: name of the source.
        taken: column of the statistic that is taken.
        other: column of the other one.
        runs: number of rows.
        median_percent: median excess of the other one.
        worst_percent: the same, 90th percentile.
    """

    source: str
    taken: str
    other: str
    runs: int
    median_percent: float
    worst_percent: float


def statistic_spreads(data: Path) -> list[StatisticSpread]:
    """Return the spreads of the sources that state several statistics.

    Raises:
        InputError: a table is damaged.
    """
    return [
        _spread(data, source, taken, other)
        for source in SOURCES.values()
        for taken, other in source.spreads
        if source.path(data).is_dir()
    ]


def _spread(data: Path, source: Source, taken: str, other: str) -> StatisticSpread:
    ratios = [
        row.positive(other) / row.positive(taken)
        for row in read_rows(source.path(data) / source.files[0], (taken, other))
        if row[taken] and row[other]
    ]
    middle, worst = 100 * (np.quantile(ratios, [0.5, 0.9]) - 1)
    return StatisticSpread(source.name, taken, other, len(ratios), float(middle), float(worst))
