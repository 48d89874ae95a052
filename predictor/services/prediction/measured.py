"""Predictions of measured graphs: the measured latency, and the engine's own beside it.

A prediction is of a measured graph where fingerprint, device, runtime, precision and threads are
those of a measurement; the batch is part of the fingerprint. The user's own measurements come
before published ones, the newest before the others.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from predictor.calibration.published import Published, PublishedLatency, read_published
from predictor.core.errors import HostError
from predictor.core.percentiles import Z80, Z95
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Measurement, TargetId
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.prediction.measured_order import slower_words

MIN_DEVIATION: Final = 0.02
"""Of the log-latency: how far medians of one machine lie apart from one hour to the next."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _MeasuredLatency:
    """A measured latency, the standard deviation of its logarithm, and who measured it."""

    latency_ms: float
    deviation: float
    provenance: str


def with_measured(
    predictions: Sequence[Prediction],
    measurements: Iterable[Measurement] = (),
    models: Iterable[Model] = (),
) -> tuple[Prediction, ...]:
    """Return predictions with measured latencies in place of the predicted ones.

    Args:
        predictions: of an engine, configurations resolved.
        measurements: the user's, the oldest first; those of other graphs do not count.
        models: of the predictions; published latencies are found by their former fingerprints too.

    Returns:
        The same predictions. Where the graph was measured on the target ``latency_ms`` is the
        measured one, ``predicted_ms`` the engine's, and the intervals are those of another run
        like the measured ones.
    """
    # The oldest come first, so a later one of the same key replaces them.
    newest = {(m.fingerprint, TargetId.of(m)): m for m in measurements}
    former = {model.graph.fingerprint: model.graph.former_fingerprint for model in models}
    return tuple(
        _with_order(_replaced(p, former.get(p.fingerprint, ""), newest)) for p in predictions
    )


def published_targets(graph: OperatorGraph) -> frozenset[TargetId]:
    """Return the targets of which a latency of a graph ships."""
    published = _published()
    if published is None:
        return frozenset()
    targets = published.targets_of(graph.fingerprint)
    former = graph.former_fingerprint
    return targets | published.targets_of(former) if former else targets


def _replaced(
    prediction: Prediction,
    former: str,
    newest: dict[tuple[str, TargetId], Measurement],
) -> Prediction:
    target = TargetId.of(prediction)
    measurement = newest.get((prediction.fingerprint, target))
    if measurement is not None:
        return _measured(prediction, _of_user(measurement))
    published = _published()
    latency = published.find(prediction.fingerprint, target) if published else None
    if latency is None and published and former:
        latency = published.find(former, target)
    return prediction if latency is None else _measured(prediction, _of_published(latency))


def _with_order(prediction: Prediction) -> Prediction:
    """Say what the run is slower than by published latencies, which are of one input at a time."""
    published, batch = _published(), prediction.configuration.batch
    if published is None or prediction.latency_ms is None or batch != 1:
        return prediction
    words = slower_words(published, TargetId.of(prediction))
    return replace(prediction, slower=words) if words else prediction


def _measured(prediction: Prediction, measured: _MeasuredLatency) -> Prediction:
    def at(z: float) -> float:
        # Latencies are taken as log-normal, so the interval is symmetric in the logarithm.
        return measured.latency_ms * math.exp(z * measured.deviation)

    return replace(
        prediction,
        basis=Basis.MEASURED,
        latency_ms=measured.latency_ms,
        low80_ms=at(-Z80),
        high80_ms=at(Z80),
        low95_ms=at(-Z95),
        high95_ms=at(Z95),
        predicted_ms=_engine_ms(prediction),
        provenance=measured.provenance,
        problem="",
        out_of_distribution="",
        unstable="",
    )


def _engine_ms(prediction: Prediction) -> float | None:
    # An engine may itself answer with a measurement; its own estimate stands beside that then.
    is_measured = prediction.basis is Basis.MEASURED
    return prediction.predicted_ms if is_measured else prediction.latency_ms


def _of_user(measurement: Measurement) -> _MeasuredLatency:
    samples = np.array(measurement.samples_ns, np.float64)
    spread = float(np.log(samples).std()) if samples.size > 1 and samples.min() > 0 else 0.0
    runs = f" of {samples.size} runs" if samples.size else ""
    return _MeasuredLatency(
        measurement.value_ms,
        max(MIN_DEVIATION, spread),
        f"your own measurement, {measurement.statistic}{runs}, {measurement.protocol}",
    )


def _of_published(latency: PublishedLatency) -> _MeasuredLatency:
    more = f", median of {latency.count} published values" if latency.count > 1 else ""
    return _MeasuredLatency(
        latency.latency_ms,
        max(MIN_DEVIATION, latency.deviation),
        f"{latency.provenance}: {latency.statistic}{more}. {latency.source}.",
    )


@cache
def _published() -> Published | None:
    """Return the shipped latencies; without them predictions are those of the engine."""
    try:
        return read_published()
    except HostError as error:
        _LOG.warning("%s", error)
        return None
