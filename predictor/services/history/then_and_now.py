"""Predictions of the past beside what the present engine says: same graph, same target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from predictor.core.records import Device, Prediction, Target
from predictor.core.wording import adaptation_name
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorGraph
from predictor.services.history.truth import engine_ms
from predictor.services.prediction.predict import predict
from predictor.services.signatures.own import NOTHING_MEASURED, OwnSignatures
from predictor.store.predictions import StoredPrediction

__all__ = ["Graphs", "ThenAndNow", "predict_again"]

Graphs = Mapping[str, OperatorGraph]


@dataclass(frozen=True, slots=True)
class ThenAndNow:
    """A stored prediction and the present one.

    Attributes:
        then: as it was stored.
        now: what is predicted now; None where it cannot be asked.
        problem: why there is no present number, in words, else empty.
    """

    then: StoredPrediction
    now: Prediction | None
    problem: str = ""

    @property
    def change(self) -> float | None:
        """How much longer the engine's own number is now, as a part of the one of then."""
        before = engine_ms(self.then.prediction)
        after = None if self.now is None else engine_ms(self.now)
        return None if not before or after is None else after / before - 1.0

    @property
    def reasons(self) -> tuple[str, ...]:
        """What is not as it was, in words."""
        if self.now is None:
            return ()
        then, now = self.then.prediction, self.now
        found = []
        if then.engine != now.engine:
            found.append(f"engine {then.engine}, now {now.engine}")
        if then.signature != now.signature:
            found.append("the target's signature is another")
        if then.adaptation != now.adaptation and then.adaptation and now.adaptation:
            before, after = adaptation_name(then.adaptation), adaptation_name(now.adaptation)
            found.append(f"adapted by {before}, now by {after}")
        if then.basis != now.basis and then.basis and now.basis:
            found.append(f"{then.basis}, now {now.basis}")
        if not found and engine_ms(then) != engine_ms(now):
            found.append("the device's description or the program is another")
        return tuple(found)


def predict_again(
    stored: Sequence[StoredPrediction],
    graphs: Graphs,
    devices: Mapping[str, Device],
    engine: str = "",
    signatures: OwnSignatures = NOTHING_MEASURED,
) -> tuple[ThenAndNow, ...]:
    """Predict what was predicted before, with the present engine, devices and signatures.

    Args:
        stored: the predictions of the past.
        graphs: their operator graphs, by fingerprint.
        devices: the devices that there are now, by id.
        engine: its name, empty for the usual one.
        signatures: what the user measured on targets until now.

    Returns:
        One entry for each of ``stored``, in its order.
    """
    asked = [s for s in stored if not _problem(s, graphs, devices)]
    now: dict[str, Prediction] = {}
    for fingerprint in dict.fromkeys(s.prediction.fingerprint for s in asked):
        group = [s for s in asked if s.prediction.fingerprint == fingerprint]
        model = _model(group[0].prediction.model, graphs[fingerprint])
        targets = [_target(s.prediction, devices) for s in group]
        known = signatures.of(targets)
        again = predict([model], targets, engine, signatures=known)
        for then, found in zip(group, again, strict=True):
            # The graph has the batch in its shapes, and the model says it no more.
            now[then.id] = replace(
                found, model=then.prediction.model, configuration=then.prediction.configuration
            )
    return tuple(_entry(s, now.get(s.id), _problem(s, graphs, devices)) for s in stored)


def _entry(then: StoredPrediction, now: Prediction | None, problem: str) -> ThenAndNow:
    return ThenAndNow(then, now, problem or ("" if now is None else now.problem))


def _problem(stored: StoredPrediction, graphs: Graphs, devices: Mapping[str, Device]) -> str:
    if stored.prediction.device_id not in devices:
        return f"the device {stored.prediction.device_id} is no longer there"
    if stored.prediction.fingerprint not in graphs:
        return "the stored operator graph cannot be read"
    return ""


def _model(name: str, graph: OperatorGraph) -> Model:
    """Return a model of which only the graph is known."""
    return Model(name, 0, 0, 0, {}, "", (), (), (), (), graph)


def _target(prediction: Prediction, devices: Mapping[str, Device]) -> Target:
    return Target(devices[prediction.device_id], replace(prediction.configuration, batch=0))
