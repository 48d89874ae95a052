"""Items a second of models on targets, with as many runs at once as pay.

Where the class of a target was fitted to published rates beside latencies, several runs at once
bring what it says. Of every other target the rate is that of one run after the other, which is a
lower limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

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


@dataclass(frozen=True, slots=True)
class RunGain:
    """What several runs of a model at once bring on a target.

    Attributes:
        gain: items in the time of one run, over its batch.
        reach80: half the 80 % interval of its ln.
        size: of the batches that bring it, in runs.
        bound_ms: no run takes less time, in whatever batch; NaN where it is not known.
        evidence: in words, where it comes from.
    """

    gain: float = 1.0
    reach80: float = 0.0
    size: int = 1
    bound_ms: float = math.nan
    evidence: str = ALONE


_ALONE: Final = RunGain()


def throughputs(
    model: Model, targets: Sequence[Target], predictions: Sequence[Prediction]
) -> list[Throughput | None]:
    """Return the throughput of a model on targets; None where there is no latency.

    Args:
        model: the model.
        targets: T of them.
        predictions: of the model, one a target.
    """
    pairs = zip(targets, predictions, strict=True)
    timed = [(target, p) for target, p in pairs if p.latency_ms is not None]
    batch = max(timed[0][1].configuration.batch, 1) if timed else 1
    rates = iter(gains(model, [target for target, _ in timed], batch))
    return [None if p.latency_ms is None else throughput_of(p, next(rates)) for p in predictions]


def gains(model: Model, targets: Sequence[Target], batch: int) -> list[RunGain]:
    """Return what several runs of a model at once bring on targets.

    Args:
        model: the model.
        targets: T of them.
        batch: of one run of the model.
    """
    rules = [concurrency_of(target) for target in targets]
    places = [place for place, rule in enumerate(rules) if rule is not None]
    several = [_ALONE] * len(targets)
    if not places:
        return several
    times = batch_times(model.graph, [targets[place] for place in places], SIZES)
    largest = largest_gain(times, SIZES)
    columns = largest.factor.tolist(), largest.size.tolist(), times.bound_ms.tolist()
    for place, factor, size, bound_ms in zip(places, *columns, strict=True):
        rule = rules[place]
        if rule is not None and math.isfinite(factor):
            cores = cores_of(targets[place]) or 1
            gain, reach, evidence = _of_rule(rule, factor, batch, cores)
            used = size if gain > 1 and rule.batches else 1
            bound = bound_ms if bound_ms > 0 else math.nan
            several[place] = RunGain(gain, reach, used, bound, evidence)
    return several


def throughput_of(prediction: Prediction, several: RunGain) -> Throughput | None:
    """Return the throughput by a latency and what several runs bring; None without a latency."""
    latency_ms = prediction.latency_ms
    if latency_ms is None:
        return None
    batch = max(prediction.configuration.batch, 1)
    alone = _MS * batch / latency_ms
    bound_ms = several.bound_ms
    limit_per_s = math.inf if math.isnan(bound_ms) else _MS * batch / bound_ms
    gain = min(several.gain, max(limit_per_s / alone, 1.0))
    low, high = prediction.low80_ms, prediction.high80_ms
    ends: tuple[float | None, float | None] = (None, None)
    if low and high:
        below = math.hypot(math.log(high / latency_ms), several.reach80)
        above = math.hypot(math.log(latency_ms / low), several.reach80)
        highest = max(limit_per_s, alone * gain)
        ends = alone * gain * math.exp(-below), min(alone * gain * math.exp(above), highest)
    return Throughput(
        per_s=alone * gain,
        low80_per_s=ends[0],
        high80_per_s=ends[1],
        alone_per_s=alone,
        gain=gain,
        batch=batch * several.size,
        evidence=several.evidence,
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
