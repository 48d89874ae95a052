"""What many comparisons come to: shares, medians and errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from predictor.evaluation.comparison import Comparison


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
    def of(cls, comparisons: Iterable[Comparison]) -> Figures:
        """Return the figures of comparisons."""
        found = list(comparisons)
        over_bound = _known([c.measured_over_bound for c in found])
        over_estimate = _known(
            [
                c.measured_over_estimate
                for c in found
                if c.sample.statistic.is_latency and not c.sample.doubt
            ]
        )
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


def _known(values: list[float]) -> NDArray[np.float64]:
    array = np.array(values, np.float64)
    return array[~np.isnan(array)]
