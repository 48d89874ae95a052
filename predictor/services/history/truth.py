"""Predicted against measured: the pairs of both, and the errors of engines by target.

A measurement is compared with one prediction of each engine and basis for the same graph on the
same target: the one that it was recorded for, else the last one made before it, else the first
one after. Predictions made from the measurement itself prove nothing and are left out: those
whose signature holds it, and later ones that state the measured latency.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Configuration, Measurement, TargetId
from predictor.core.stored import StoredMeasurement, StoredPrediction

# A wrong alarm in at most one of a hundred targets whose intervals are right.
CHANCE = 0.01
# What is looked at for a warning: older errors were of another driver, another cooler.
RECENT = 20
_OUTSIDE_80 = 0.2

_GraphOnTarget = tuple[str, TargetId]  # fingerprint of the graph


@dataclass(frozen=True, slots=True)
class Pair:
    """A measured latency and the prediction that it is compared with."""

    predicted: StoredPrediction
    measured: StoredMeasurement

    @property
    def predicted_ms(self) -> float:
        """Predicted latency in ms."""
        latency_ms = self.predicted.prediction.latency_ms
        assert latency_ms is not None  # noqa: S101 - pairs are made of predictions with a number
        return latency_ms

    @property
    def measured_ms(self) -> float:
        """Measured latency in ms."""
        return self.measured.measurement.value_ms

    @property
    def error(self) -> float:
        """The prediction's error as a part of the measured latency: 0.1 is 10 % too slow."""
        return self.predicted_ms / self.measured_ms - 1.0

    @property
    def inside80(self) -> bool | None:
        """Whether the measured latency lies in the 80 % interval; None without one."""
        p = self.predicted.prediction
        return _inside(p.low80_ms, p.high80_ms, self.measured_ms)

    @property
    def inside95(self) -> bool | None:
        """Whether the measured latency lies in the 95 % interval; None without one."""
        p = self.predicted.prediction
        return _inside(p.low95_ms, p.high95_ms, self.measured_ms)


@dataclass(frozen=True, slots=True)
class Surprise:
    """More measurements outside the 80 % interval than chance allows.

    Attributes:
        outside: number of the last ones that lie outside.
        count: number of the last ones.
        probability: of as many or more, were the intervals right.
    """

    outside: int
    count: int
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetErrors:
    """Errors of one engine on one target, in its predictions of one basis.

    Attributes:
        device_id: id of the device.
        configuration: runtime, precision and threads; batch 0, as each graph has its own.
        engine: name and version.
        basis: of the predictions.
        count: of measurements.
        median_error: median of the errors' sizes, 0.1 is 10 %.
        bias: median of the errors, over 0 where predictions are too slow.
        with_interval: number of predictions that have an 80 % interval.
        inside80: number of those measurements that lie in it.
        inside95: number of those that lie in the 95 % interval.
        surprise: the sign that the intervals are too narrow; None where there is none.
    """

    device_id: str
    configuration: Configuration
    engine: str
    basis: Basis
    count: int
    median_error: float
    bias: float
    with_interval: int
    inside80: int
    inside95: int
    surprise: Surprise | None


def engine_ms(prediction: Prediction) -> float | None:
    """Return the engine's own latency in ms, where a measured one stands in its place too."""
    is_measured = prediction.basis is Basis.MEASURED
    return prediction.predicted_ms if is_measured else prediction.latency_ms


def pairs(
    predictions: Iterable[StoredPrediction],
    measurements: Iterable[StoredMeasurement],
    members: Mapping[str, Container[str]] | None = None,
) -> list[Pair]:
    """Pair each measurement with predictions, chosen by the module's rule.

    Args:
        predictions: in any order.
        measurements: the oldest first.
        members: ids of the measurements of each signature, by its id.

    Returns:
        The pairs, in the order of the measurements.
    """
    of_signatures = members or {}
    by_target: dict[_GraphOnTarget, dict[tuple[str, Basis], list[StoredPrediction]]] = {}
    for stored in sorted(predictions, key=lambda p: p.created_ns):
        prediction = stored.prediction
        if prediction.basis is not None and prediction.latency_ms:
            kinds = by_target.setdefault(target_of(prediction), {})
            kinds.setdefault((prediction.engine, prediction.basis), []).append(stored)
    return [
        Pair(chosen, measured)
        for measured in measurements
        for candidates in by_target.get(target_of(measured.measurement), {}).values()
        if (chosen := _chosen(candidates, measured, of_signatures)) is not None
    ]


def latest_by_target(
    measurements: Iterable[StoredMeasurement],
) -> dict[_GraphOnTarget, StoredMeasurement]:
    """Return the newest measurement of each graph on each target; the oldest comes first."""
    return {target_of(stored.measurement): stored for stored in measurements}


def errors_by_target(measured: Sequence[Pair]) -> list[TargetErrors]:
    """Return the errors of each target, engine and basis, the most measured first.

    Args:
        measured: pairs, the oldest measurement first.
    """
    groups: dict[tuple[str, Configuration, str, Basis], list[Pair]] = {}
    for pair in measured:
        prediction = pair.predicted.prediction
        c = prediction.configuration
        # Batch 0: the graph has it, and errors at all batches are of one target.
        configuration = Configuration(c.runtime, c.precision, c.threads, 0)
        assert prediction.basis is not None  # noqa: S101 - as above
        key = (prediction.device_id, configuration, prediction.engine, prediction.basis)
        groups.setdefault(key, []).append(pair)
    errors = [_errors(*key, group) for key, group in groups.items()]
    return sorted(errors, key=lambda e: -e.count)


def surprise(recent: Sequence[Pair]) -> Surprise | None:
    """Return the surprise where the last measurements leave the 80 % interval beyond chance.

    Intervals that are right are left by each measurement with probability 0.2, so their number
    among n is binomial.

    Args:
        recent: pairs of one target, the oldest first; those without an interval do not count.
    """
    # Filtered before the last are selected: pairs without an interval do not count.
    inside = [pair.inside80 for pair in recent if pair.inside80 is not None][-RECENT:]
    outside = inside.count(False)
    probability = binomial_tail(outside, len(inside), _OUTSIDE_80)
    return Surprise(outside, len(inside), probability) if probability <= CHANCE else None


def binomial_tail(minimum: int, count: int, probability: float) -> float:
    """Return the probability of ``minimum`` or more of ``count``, each with ``probability``."""
    # At most RECENT terms: no need for scipy, which is no dependency.
    return math.fsum(
        math.comb(count, k) * probability**k * (1 - probability) ** (count - k)
        for k in range(minimum, count + 1)
    )


def _chosen(
    candidates: Sequence[StoredPrediction],
    measured: StoredMeasurement,
    members: Mapping[str, Container[str]],
) -> StoredPrediction | None:
    """Return the one of an engine's predictions that a measurement is compared with."""
    identity = measured.measurement.id
    # Not by a signature that holds this very measurement: such a prediction was given the answer.
    free = [
        stored
        for stored in candidates
        if identity not in members.get(stored.prediction.signature or "", ())
    ]
    linked = [stored for stored in free if stored.id == measured.prediction_id]
    before = [stored for stored in free if stored.created_ns <= measured.created_ns]
    # Later ones that show a measured latency may show this one.
    after = [stored for stored in free if stored.prediction.basis is not Basis.MEASURED]
    return next(iter([*linked, *reversed(before), *after]), None)


def _errors(
    device_id: str, configuration: Configuration, engine: str, basis: Basis, group: Sequence[Pair]
) -> TargetErrors:
    errors = [pair.error for pair in group]
    return TargetErrors(
        device_id=device_id,
        configuration=configuration,
        engine=engine,
        basis=basis,
        count=len(group),
        median_error=float(np.median(np.abs(errors))),
        bias=float(np.median(errors)),
        with_interval=sum(pair.inside80 is not None for pair in group),
        inside80=sum(pair.inside80 is True for pair in group),
        inside95=sum(pair.inside95 is True for pair in group),
        surprise=surprise(group),
    )


def target_of(record: Prediction | Measurement) -> _GraphOnTarget:
    """Return graph and target of a latency; the graph's shapes hold the batch."""
    return record.fingerprint, TargetId.of(record)


def _inside(low_ms: float | None, high_ms: float | None, value_ms: float) -> bool | None:
    if low_ms is None or high_ms is None:
        return None
    return low_ms <= value_ms <= high_ms
