"""Items a second of models on targets, with as many runs at once as pay.

Where the class of a target was fitted to published rates beside latencies, several runs at once
bring what it says. Of every other target the rate is that of one run after the other, which is a
lower limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from predictor.calibration.throughput import Concurrency, concurrency_of, cores_of
from predictor.core.prediction import Prediction
from predictor.core.records import Target
from predictor.core.text import plural
from predictor.graph.model import Model
from predictor.services.prediction.batches import SIZES, batch_times, largest_gain

_MS: Final = 1000.0
ALONE: Final = "one run after the other: nothing shows what several at once bring"


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """Items a second of a model on a target.

    Attributes:
        per_s: items a second.
        low80_per_s, high80_per_s: its 80 % interval; None where the latency has none.
        alone_per_s: of one run after the other.
        gain: items in the time of one run, over its batch.
        batch: smallest batch that brings nearly all that batches do, in items; 1 run's where none
            is used.
        evidence: in words, where the gain comes from.
    """

    per_s: float
    low80_per_s: float | None
    high80_per_s: float | None
    alone_per_s: float
    gain: float
    batch: int
    evidence: str


class _Batched(NamedTuple):
    """What the best batch brings, its size in runs, and the bound of a run in ms or NaN."""

    gain: float
    size: int
    bound_ms: float


def throughputs(
    model: Model, targets: Sequence[Target], predictions: Sequence[Prediction]
) -> list[Throughput | None]:
    """Return the throughput of a model on targets; None where there is no latency.

    Args:
        model: the model.
        targets: T of them.
        predictions: of the model, one a target.
    """
    rules = [concurrency_of(target) for target in targets]
    places = [
        place
        for place, (rule, prediction) in enumerate(zip(rules, predictions, strict=True))
        if rule is not None and prediction.latency_ms is not None
    ]
    batched: dict[int, _Batched] = {}
    if places:
        times = batch_times(model.graph, [targets[place] for place in places], SIZES)
        gain = largest_gain(times, SIZES)
        columns = gain.factor.tolist(), gain.size.tolist(), times.bound_ms.tolist()
        rows = zip(places, *columns, strict=True)
        batched = {place: _Batched(*row) for place, *row in rows if math.isfinite(row[0])}
    return [
        _throughput(prediction, target, rule, batched.get(place))
        for place, (prediction, target, rule) in enumerate(
            zip(predictions, targets, rules, strict=True)
        )
    ]


def _throughput(
    prediction: Prediction,
    target: Target,
    rule: Concurrency | None,
    batched: _Batched | None,
) -> Throughput | None:
    latency_ms = prediction.latency_ms
    if latency_ms is None:
        return None
    batch = max(prediction.configuration.batch, 1)
    alone = _MS * batch / latency_ms
    gain, reach, evidence = 1.0, 0.0, ALONE
    limit_per_s, size = math.inf, 1
    if rule is not None and batched is not None:
        gain, reach, evidence = _of_rule(rule, batched.gain, batch, cores_of(target) or 1)
        size = batched.size if gain > 1 and rule.batches else 1
        limit_per_s = _MS * batch / batched.bound_ms if batched.bound_ms > 0 else math.inf
        gain = min(gain, max(limit_per_s / alone, 1.0))
    low, high = prediction.low80_ms, prediction.high80_ms
    ends: tuple[float | None, float | None] = (None, None)
    if low and high:
        below = math.hypot(math.log(high / latency_ms), reach)
        above = math.hypot(math.log(latency_ms / low), reach)
        highest = max(limit_per_s, alone * gain)
        ends = alone * gain * math.exp(-below), min(alone * gain * math.exp(above), highest)
    return Throughput(
        per_s=alone * gain,
        low80_per_s=ends[0],
        high80_per_s=ends[1],
        alone_per_s=alone,
        gain=gain,
        batch=batch * size,
        evidence=evidence,
    )


def _of_rule(
    rule: Concurrency, batch_gain: float, batch: int, cores: int
) -> tuple[float, float, str]:
    """Return the gain, half its 80 % interval in ln, and where it comes from."""
    # What starts a run of one item is in the latency of a batch already.
    gain = rule.gain(batch_gain, cores) if batch == 1 else max(batch_gain**rule.batches, 1.0)
    evidence = (
        f"published rates beside latencies on {plural(rule.chips, 'chip')}, "
        f"{100 * rule.error:.0f} % off where left out"
    )
    return gain, rule.reach80(gain), evidence
