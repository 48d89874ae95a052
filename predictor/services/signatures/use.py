"""What a signature changes: models predicted without it and with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from predictor.core.records import Device, Measurement, Prediction, Signature, Target
from predictor.graph.model import Model
from predictor.services.prediction.predict import predict
from predictor.services.signatures.own import measurements_of
from predictor.store.database import Database


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """A model's predictions on one target, without the user's measurements and with a signature."""

    before: Prediction
    after: Prediction


def before_and_after(
    database: Database,
    signature: Signature,
    measurements: Sequence[Measurement],
    device: Device,
    models: Sequence[Model],
) -> tuple[BeforeAfter, ...]:
    """Predict models without a signature and with it; those without a number are left out.

    Args:
        database: where graphs of the user's models are.
        signature: of the target, active or not.
        measurements: of the signature.
        device: of the target.
        models: to be predicted.
    """
    target = Target(device, signature.configuration)
    known, used = measurements_of(database, signature.id, measurements)
    if not used or not models:
        return ()
    before = predict(models, [target])
    after = predict(models, [target], signatures={target.key: known})
    pairs = [BeforeAfter(*pair) for pair in zip(before, after, strict=True)]
    return tuple(pair for pair in pairs if pair.after.latency_ms is not None)
