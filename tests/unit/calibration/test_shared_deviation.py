"""What errors on one target have in common: the root of a deviation, and what the engine tells."""

from __future__ import annotations

import numpy as np
import pytest

from predictor.calibration.deviation import DeviationPrior, Expectation
from predictor.core.prediction import Prediction
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.prediction.predict import predict
from predictor.services.prediction.targets import resolve_targets
from tests.support.matrices import model_named
from tests.support.operator_graphs import Named

PRIOR = DeviationPrior(shift=0.5, scale=0.3, noise=0.1)


def test_the_root_of_a_deviation_gives_its_covariance() -> None:
    expected = [
        Expectation(np.array([[1.0, 0.5, 0.1]]), np.full((1, 3, 2), response), 0.01)
        for response in (0.2, 0.7)
    ]
    for found in (PRIOR.unmeasured(2), PRIOR.measured(expected, np.log([2.0, 3.0]))):
        assert found.root @ found.root.T == pytest.approx(found.covariance, abs=1e-12)


def vector(prediction: Prediction) -> np.ndarray:
    return np.frombuffer(prediction.shared_error, np.float32)


def test_the_usual_engine_tells_what_two_models_have_in_common() -> None:
    models = [
        model_named(name, [Named(shape=shape, name=f"/{name}/x", macs=10**8)])
        for name, shape in (("a", (1, 64, 56, 56)), ("b", (1, 64, 28, 28)))
    ]
    targets = resolve_targets([load_catalogue().by_id["rpi4"]])
    first, second = predict(models, targets)
    assert 0.0 < vector(first) @ vector(second) <= 1.0
    assert vector(first) @ vector(first) < 1.0, "a part of the error is the model's own"


def test_an_engine_without_intervals_tells_nothing() -> None:
    targets = resolve_targets([load_catalogue().by_id["rpi4"]])
    (found,) = predict([model_named("a")], targets, "roofline")
    assert found.shared_error == b""
