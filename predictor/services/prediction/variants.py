"""Variants of a model: several models on several targets against one of the models.

Two models on one target err alike: the target is faster or slower than the engine thinks for both.
So the difference of their latencies is known better than either of them. With latencies that are
log-normal, ln L = ln P50 + s z, the errors z of two models on one target have a correlation r that
an engine may give (``Prediction.shared_error``). The ratio of the two latencies is then log-normal
too, with the variance s1^2 + s2^2 - 2 r s1 s2. Their difference in milliseconds has no closed form:
its quantiles are those of a fixed set of points that fills the plane of the two errors evenly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

from predictor.core.percentiles import Z80
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Target

Floats = NDArray[np.float64]

ERROR_CORRELATION: Final = 0.5
"""Correlation of the errors of ln(latency) of two models on one target, where no engine gives it.

It is the part of an engine's error that is the target's and not the model's, which
benchmarks/shared_error.py works out on published measurements of models of every kind. Variants of
one model are more alike, so that the intervals made with it are rather too wide.
"""

_POINTS: Final = 1024
_LOW_POINT: Final = _POINTS // 10  # a tenth lies below it
_HIGH_POINT: Final = _POINTS - 1 - _LOW_POINT
_CELLS_AT_A_TIME: Final = 512  # x points: two temporaries of 4 MiB
# The plastic number's powers: steps of the sequence that fills a square most evenly in any order.
_PLASTIC: Final = 1.3247179572447460


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Differences:
    """Differences of N latencies from their baselines; float64 [N] each, NaN where it is not known.

    Attributes:
        difference_ms: latency less that of the baseline, of the P50s; negative is faster.
        ratio: latency over that of the baseline; 0.8 takes 20 % less time.
        low80_ms, high80_ms: 80 % interval of the difference; NaN for engines without intervals.
        low80_ratio, high80_ratio: 80 % interval of the ratio.
    """

    difference_ms: Floats
    ratio: Floats
    low80_ms: Floats
    high80_ms: Floats
    low80_ratio: Floats
    high80_ratio: Floats

    def __len__(self) -> int:
        return self.ratio.size

    @property
    def is_clear(self) -> NDArray[np.bool_]:
        """Whether the interval of the ratio excludes 1, bool [N]; False without one."""
        return (self.low80_ratio > 1.0) | (self.high80_ratio < 1.0)


@dataclass(frozen=True, eq=False)
class Variants:
    """M models on T targets.

    Attributes:
        labels: names of the models, unique.
        targets: the targets.
        predictions: M * T of them, all targets of the first model first.
        baseline: index of the model that the others are compared with.
        differences: of every prediction from the baseline's on its target, M * T of them.
    """

    labels: tuple[str, ...]
    targets: tuple[Target, ...]
    predictions: tuple[Prediction, ...]
    baseline: int
    differences: Differences

    @cached_property
    def latency_ms(self) -> NDArray[np.float64]:
        """P50s, float64 [M, T]; NaN where there is no number."""
        flat = np.array([p.latency_ms for p in self.predictions], dtype=np.float64)
        return flat.reshape(len(self.labels), len(self.targets))

    @cached_property
    def has_intervals(self) -> bool:
        """Whether any difference has an interval."""
        return not np.isnan(self.differences.low80_ms).all()

    def cell(self, model: int, target: int) -> int:
        """Return the index of a pair among the predictions."""
        return model * len(self.targets) + target

    def prediction(self, model: int, target: int) -> Prediction:
        """Return the prediction of a pair."""
        return self.predictions[self.cell(model, target)]

    def on_target(self, target: int) -> tuple[Prediction, ...]:
        """Return the predictions of every model on one target."""
        return self.predictions[target :: len(self.targets)]


def compare_variants(
    labels: Sequence[str],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    baseline: int,
) -> Variants:
    """Compare every prediction with the baseline's on its target.

    Args:
        labels: names of M models.
        targets: T targets.
        predictions: M * T of them, all targets of the first model first.
        baseline: index of a model.
    """
    count = len(targets)
    first = list(predictions[baseline * count : (baseline + 1) * count])
    return Variants(
        labels=tuple(labels),
        targets=tuple(targets),
        predictions=tuple(predictions),
        baseline=baseline,
        differences=differences(first * len(labels), predictions),
    )


def differences(
    baselines: Sequence[Prediction],
    predictions: Sequence[Prediction],
    correlation: float | None = None,
) -> Differences:
    """Return the difference of each of N predictions from its baseline.

    Args:
        baselines: N predictions, each on the target of its counterpart.
        predictions: N predictions.
        correlation: of the errors of two models on one target, 0 to 1; None for the
            engine's own, else ``ERROR_CORRELATION``. Equal graphs run alike, and a measured
            latency shares no error with a predicted one.

    Returns:
        Differences with an interval where both predictions have one.
    """
    first, second = _log_normals(baselines), _log_normals(predictions)
    shared = np.array(
        [_shared(*pair, correlation) for pair in zip(baselines, predictions, strict=True)],
        np.float64,
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = second.p50_ms / first.p50_ms
        # Var[ln(L2 / L1)], see the module; rounding may take it below 0 where r is 1.
        variance = first.spread**2 + second.spread**2 - 2 * shared * first.spread * second.spread
        reach = Z80 * np.sqrt(np.maximum(variance, 0.0))
        ratio = np.where(np.isfinite(ratio), ratio, np.nan)
        low, high = _difference_interval(first, second, shared)
        return Differences(
            difference_ms=second.p50_ms - first.p50_ms,
            ratio=ratio,
            low80_ms=low,
            high80_ms=high,
            low80_ratio=ratio * np.exp(-reach),
            high80_ratio=ratio * np.exp(reach),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _LogNormals:
    """N latencies; ``spread`` is the standard deviation of ln(latency), NaN without an interval."""

    p50_ms: Floats
    spread: Floats


def _log_normals(predictions: Sequence[Prediction]) -> _LogNormals:
    # A lower limit has no ratio to another: what it leaves out may take any time.
    p50 = np.array([None if p.is_lower_limit else p.latency_ms for p in predictions], np.float64)
    low = np.array([p.low80_ms for p in predictions], np.float64)
    high = np.array([p.high80_ms for p in predictions], np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The wider side: the low end may be cut off at the physical bound.
        spread = np.maximum(np.log(high / p50), np.log(p50 / low)) / Z80
    return _LogNormals(p50, np.where(np.isfinite(spread), np.maximum(spread, 0.0), np.nan))


def _shared(first: Prediction, second: Prediction, correlation: float | None) -> float:
    """Return the correlation of the errors of a pair."""
    same_graph = first.fingerprint == second.fingerprint
    # Before all else: one graph in one configuration differs from itself by nothing.
    if same_graph and first.configuration == second.configuration:
        return 1.0
    if Basis.MEASURED in {first.basis, second.basis}:
        return 0.0
    if correlation is not None:
        return correlation
    sizes = {len(first.shared_error), len(second.shared_error)}
    # None, or of two engines, whose errors have no common coordinates.
    if sizes == {0} or len(sizes) > 1:
        return ERROR_CORRELATION
    one, other = (np.frombuffer(p.shared_error, np.float32) for p in (first, second))
    return float(np.clip(one @ other, 0.0, 1.0))


def _difference_interval(
    first: _LogNormals, second: _LogNormals, shared: Floats
) -> tuple[Floats, Floats]:
    """Return the 80 % interval of the second less the first in ms, each float64 [N] with NaN."""
    low, high = np.full(shared.size, np.nan), np.full(shared.size, np.nan)
    comparable = np.flatnonzero(
        ~np.isnan(first.spread + second.spread + first.p50_ms + second.p50_ms)
    )
    even, odd = _error_points()
    for start in range(0, comparable.size, _CELLS_AT_A_TIME):
        cells = comparable[start : start + _CELLS_AT_A_TIME]
        # sqrt((1 + r) / 2) and sqrt((1 - r) / 2) give two unit normals the correlation r.
        common = np.sqrt((1 + shared[cells]) / 2)[:, None] * even  # [cells, points]
        opposite = np.sqrt((1 - shared[cells]) / 2)[:, None] * odd
        before = first.p50_ms[cells, None] * np.exp(first.spread[cells, None] * (common - opposite))
        after = second.p50_ms[cells, None] * np.exp(
            second.spread[cells, None] * (common + opposite)
        )
        # Only two ranks are needed: a partition takes less time than a sort.
        ordered = np.partition(after - before, (_LOW_POINT, _HIGH_POINT), axis=1)
        low[cells], high[cells] = ordered[:, _LOW_POINT], ordered[:, _HIGH_POINT]
    return low, high


@cache
def _error_points() -> tuple[Floats, Floats]:
    """Return points that stand for two independent standard normal errors, float64 [points] each.

    With each point stands the one whose second error has the other sign, so that exchanging the
    models turns the interval round and changes nothing else.

    Reference:
        M. Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences", 2018.
    """
    steps = np.arange(1, _POINTS // 2 + 1)
    square = np.modf(0.5 + np.outer(steps, [1 / _PLASTIC, 1 / _PLASTIC**2]))[0]
    normal = np.vectorize(NormalDist().inv_cdf)(square)
    even, odd = normal.T
    return np.concatenate([even, even]), np.concatenate([odd, -odd])
