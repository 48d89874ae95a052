"""Items a second against a budget: with as many runs at once as the runtime would choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from predictor.core.percentiles import Z80
from predictor.core.prediction import Prediction
from predictor.graph.model import Model
from predictor.graph.scaling import at_batch
from predictor.services.choose.options import Options
from predictor.services.choose.rows import Row
from predictor.services.prediction.throughput import RunGain, Throughput, gains, throughput_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """What several runs at once bring a model on N options.

    Attributes:
        gains: of the targets at each batch, in the order of the options' batches.
        options: N of them.
        limits_ms: longest time of a run that keeps the items a second, float64 [N].
        reach: standard deviation of ln(gain), float64 [N].
        lowest_ms: time of a run at the rate that nothing is over, float64 [N]; 0 where unknown.
    """

    gains: Sequence[Sequence[RunGain]]
    options: Options
    limits_ms: Floats
    reach: Floats
    lowest_ms: Floats

    def rate(self, place: int, prediction: Prediction) -> Throughput | None:
        """Return the items a second of an option by its latency; None without one."""
        target = int(self.options.target_places[place])
        return throughput_of(prediction, self.gains[place // self.options.block][target])


def rates_of(model: Model, options: Options, row: Row, min_per_s: float) -> Rates:
    """Return the gains of a model, and how slow its runs may be for so many items a second.

    Args:
        model: at its own batch.
        options: N of them.
        row: of the model on them.
        min_per_s: items a second that have to be kept.
    """
    models = [replace(model, graph=at_batch(model.graph, factor)) for factor in options.batches]
    sizes = row.batch[:: options.block].tolist()
    of_batches = [
        gains(larger, options.targets, size) for larger, size in zip(models, sizes, strict=True)
    ]
    places = options.target_places
    blocks = np.arange(len(places)) // options.block
    rows = np.array(
        [[(one.gain, one.reach80 / Z80, one.bound_ms) for one in block] for block in of_batches]
    )
    gain, reach, bound_ms = rows[blocks, places].T
    return Rates(
        gains=of_batches,
        options=options,
        limits_ms=1e3 * row.batch * gain / min_per_s,
        reach=reach,
        lowest_ms=np.where(1e3 * row.batch / min_per_s < np.nan_to_num(bound_ms), np.inf, 0.0),
    )


def with_rates(
    rates: Sequence[Rates], rows: Sequence[Row], z: Floats, deviation: Floats
) -> tuple[Floats, Floats]:
    """Return limits and their deviations, float64 [M, N] each, those of rates among them.

    The error of the gain joins that of the latency. Of each option the limit counts that is
    harder to keep.

    Args:
        rates: of M models.
        rows: of the models.
        z: limits of ln(latency) in standard deviations from its P50.
        deviation: of ln(latency).
    """
    p50, low, high, bound = np.stack([row.times_ms for row in rows], axis=1)
    limits, reach, lowest = (
        np.stack([getattr(rate, name) for rate in rates])
        for name in ("limits_ms", "reach", "lowest_ms")
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.log(np.where(limits >= p50, high / p50, p50 / low)) / Z80
        together = np.hypot(spread, reach)
        margin = np.log(limits / p50)
        of_rate = np.where(together > 0, margin / together, np.where(margin >= 0, np.inf, -np.inf))
    of_rate = np.where(np.isnan(p50), np.nan, of_rate)
    of_rate = np.where((limits < bound) | (lowest > 0), np.where(np.isnan(z), z, -np.inf), of_rate)
    return np.fmin(z, of_rate), np.where(of_rate < z, together, deviation)
