"""Figures over many comparisons: shares, medians and errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctm_research.evaluation.bound.comparison import Comparison


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """Ratios of measurements; NaN where there is none.

    Attributes:
        over_bound: measured / bound.
        over_estimate: measured / estimate, of latencies that no doubt is cast on.
    """

    over_bound: NDArray[np.float64]
    over_estimate: NDArray[np.float64]

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> Ratios:
        """Return the ratios of single comparisons."""
        every = list(comparisons)
        return cls(
            np.array([c.measured_over_bound for c in every], np.float64),
            np.array(
                [
                    c.measured_over_estimate
                    for c in every
                    if c.sample.statistic.is_latency and not c.sample.doubt
                ],
                np.float64,
            ),
        )

    @classmethod
    def joined(cls, parts: Iterable[Ratios]) -> Ratios:
        """Return all ratios of several parts."""
        listed = [*parts, cls(np.empty(0), np.empty(0))]
        return cls(
            np.concatenate([part.over_bound for part in listed]),
            np.concatenate([part.over_estimate for part in listed]),
        )


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of the comparisons of one source or target; None where no row has one.

    Attributes:
        bounded: measurements with a bound.
        under_bound: those of them that are under it.
        median_over_bound: median of measured / bound.
        least_over_bound: least measured / bound.
        estimated: latencies with an estimate that the source itself does not speak against; the
            errors are theirs. Times between the results of a pipeline are none.
        median_over_estimate: median of measured / estimate.
        low_over_estimate: its 10 % quantile.
        high_over_estimate: its 90 % quantile.
        mape_percent: mean of |estimate - measured| / measured in percent.
        median_ape_percent: its median.
    """

    bounded: int
    under_bound: int
    median_over_bound: float | None
    least_over_bound: float | None
    estimated: int
    median_over_estimate: float | None
    low_over_estimate: float | None
    high_over_estimate: float | None
    mape_percent: float | None
    median_ape_percent: float | None

    @property
    def under_bound_share(self) -> float:
        """Share of the bounded rows that are under their bound; 0 where there is none."""
        return self.under_bound / self.bounded if self.bounded else 0.0

    @classmethod
    def of(cls, ratios: Ratios) -> Figures:
        """Return the figures of the known among ``ratios``."""
        over_bound = ratios.over_bound[~np.isnan(ratios.over_bound)]
        over_estimate = ratios.over_estimate[~np.isnan(ratios.over_estimate)]
        errors = np.abs(1 / over_estimate - 1) * 100
        return cls(
            bounded=len(over_bound),
            under_bound=int(np.sum(over_bound < 1)),
            median_over_bound=_quantile(over_bound, 0.5),
            least_over_bound=_quantile(over_bound, 0.0),
            estimated=len(over_estimate),
            median_over_estimate=_quantile(over_estimate, 0.5),
            low_over_estimate=_quantile(over_estimate, 0.1),
            high_over_estimate=_quantile(over_estimate, 0.9),
            mape_percent=float(errors.mean()) if len(errors) else None,
            median_ape_percent=_quantile(errors, 0.5),
        )


def _quantile(values: NDArray[np.float64], share: float) -> float | None:
    return float(np.quantile(values, share)) if len(values) else None
