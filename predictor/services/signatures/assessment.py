"""Worth of a signature: its networks predicted from one another, models without and with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predictor.core.prediction import Prediction
from predictor.core.progress import CancelToken
from predictor.core.records import Measurement, Target
from predictor.cost.engine import TargetMeasurements
from predictor.graph.model import Model
from predictor.presentation.wording import percent
from predictor.services.prediction.predict import predict


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A measured network, predicted from all the others of its signature.

    Attributes:
        measurement_id: of the network.
        measured_ms: its latency.
        predicted_ms: from the others.
        low95_ms, high95_ms: interval of the prediction; None for engines that give none.
    """

    measurement_id: str
    measured_ms: float
    predicted_ms: float
    low95_ms: float | None
    high95_ms: float | None

    @property
    def error(self) -> float:
        """The prediction's error as a part of the measured latency: 0.1 is 10 % too slow."""
        return self.predicted_ms / self.measured_ms - 1.0

    @property
    def disagrees(self) -> bool:
        """Whether the measured latency lies outside the 95 % interval."""
        if self.low95_ms is None or self.high95_ms is None:
            return False
        return not self.low95_ms <= self.measured_ms <= self.high95_ms


def left_out(
    target: Target,
    measured: TargetMeasurements,
    measurements: Sequence[Measurement],
    cancel: CancelToken | None = None,
) -> tuple[LeftOut, ...]:
    """Predict each network of a signature from all the others.

    Args:
        target: of the signature.
        measured: measurements of the signature as engines take them.
        measurements: the same records, those of which the graph is known.
        cancel: looked at before each network.

    Returns:
        One entry for each measurement that has a prediction; none for a single one, which
        has no others.

    Raises:
        CancelledError: it was cancelled.
    """
    if len(measurements) < 2:
        return ()
    token = cancel or CancelToken()
    predictions: list[Prediction] = []
    for graph, m in zip(measured.graphs, measurements, strict=True):
        token.check()
        model = Model.of_graph(m.fingerprint, graph)
        # A prediction leaves out what was measured of its own graph.
        predictions += predict([model], [target], measured={target.id: measured})
    return tuple(
        # Where a measured latency replaces the engine's, the engine's is the one to judge.
        LeftOut(m.id, m.value_ms, p.predicted_ms or p.latency_ms, p.low95_ms, p.high95_ms)
        for m, p in zip(measurements, predictions, strict=True)
        if p.latency_ms is not None
    )


def errors_in_words(fits: Sequence[LeftOut]) -> str:
    """Return the errors in a sentence; empty where there are none."""
    if not fits:
        return ""
    errors = np.abs([fit.error for fit in fits])
    return (
        "Each network predicted from the others: median error "
        f"{percent(float(np.median(errors)))}, largest {percent(float(errors.max()))}."
    )


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """A model's predictions on one target, without the user's measurements and with a signature."""

    before: Prediction
    after: Prediction


def before_and_after(
    target: Target, measured: TargetMeasurements, models: Sequence[Model]
) -> tuple[BeforeAfter, ...]:
    """Predict models without a signature and with it; those without a number are left out.

    Args:
        target: of the signature.
        measured: measurements of the signature, active or not, as engines take them.
        models: to be predicted.
    """
    if not measured.graphs or not models:
        return ()
    before = predict(models, [target])
    after = predict(models, [target], measured={target.id: measured})
    pairs = [BeforeAfter(*pair) for pair in zip(before, after, strict=True)]
    return tuple(pair for pair in pairs if pair.after.latency_ms is not None)
