"""Changes: stored predictions against those of the present engine for the same targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from predictor.core.prediction import Prediction
from predictor.core.records import Device, Target
from predictor.core.stored import StoredPrediction
from predictor.graph.model import Model
from predictor.graph.operator_graph import OperatorGraph
from predictor.presentation.wording import adaptation_name
from predictor.services.history.truth import engine_ms
from predictor.services.prediction.predict import predict
from predictor.services.signatures.user_signatures import NOTHING_MEASURED, UserSignatures

Graphs = Mapping[str, OperatorGraph]


@dataclass(frozen=True, slots=True)
class Change:
    """A stored prediction and its repetition today.

    Attributes:
        stored: the record.
        today: the prediction of today; None where there can be none.
        problem: why there is no number today, in words, else empty.
    """

    stored: StoredPrediction
    today: Prediction | None
    problem: str = ""

    @property
    def relative(self) -> float | None:
        """Change of the engine's own latency: 0.1 is 10 % longer today."""
        before = engine_ms(self.stored.prediction)
        after = None if self.today is None else engine_ms(self.today)
        return None if not before or after is None else after / before - 1.0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Differences in engine, signature, adaptation and basis of the two, in words."""
        if self.today is None:
            return ()
        then, now = self.stored.prediction, self.today
        reasons = []
        if then.engine != now.engine:
            reasons.append(f"engine {then.engine}, now {now.engine}")
        if then.signature != now.signature:
            reasons.append("the target's signature is another")
        if then.adaptation != now.adaptation and then.adaptation and now.adaptation:
            before, after = adaptation_name(then.adaptation), adaptation_name(now.adaptation)
            reasons.append(f"adapted by {before}, now by {after}")
        if then.basis != now.basis and then.basis and now.basis:
            reasons.append(f"{then.basis.words}, now {now.basis.words}")
        if not reasons and engine_ms(then) != engine_ms(now):
            reasons.append("the device's description or the program is another")
        return tuple(reasons)


def predict_again(
    stored: Sequence[StoredPrediction],
    graphs: Graphs,
    devices: Mapping[str, Device],
    engine: str = "",
    signatures: UserSignatures = NOTHING_MEASURED,
) -> tuple[Change, ...]:
    """Repeat stored predictions with the present engine, devices and signatures.

    Args:
        stored: the predictions of the past.
        graphs: their operator graphs, by fingerprint.
        devices: the devices that there are now, by id.
        engine: its name, empty for the usual one.
        signatures: the user's measurements of targets until now.

    Returns:
        One entry for each of ``stored``, in its order.
    """
    problems = {s.id: _problem(s, graphs, devices) for s in stored}
    # By model, so that each graph goes through the engine once for all its targets.
    by_model: dict[str, list[StoredPrediction]] = {}
    for entry in stored:
        if not problems[entry.id]:
            by_model.setdefault(entry.prediction.fingerprint, []).append(entry)
    today: dict[str, Prediction] = {}
    for fingerprint, group in by_model.items():
        model = Model.of_graph(group[0].prediction.model, graphs[fingerprint])
        # The graph has the batch in its shapes.
        targets = [
            Target(devices[p.device_id], replace(p.configuration, batch=0))
            for p in (s.prediction for s in group)
        ]
        again = predict([model], targets, engine, measured=signatures.of(targets))
        for entry, new in zip(group, again, strict=True):
            before = entry.prediction
            # Name and configuration as stored: the graph alone has neither the file nor the batch.
            today[entry.id] = replace(new, model=before.model, configuration=before.configuration)
    return tuple(_change(s, today.get(s.id), problems[s.id]) for s in stored)


def _change(stored: StoredPrediction, today: Prediction | None, problem: str) -> Change:
    return Change(stored, today, problem or ("" if today is None else today.problem))


def _problem(stored: StoredPrediction, graphs: Graphs, devices: Mapping[str, Device]) -> str:
    if stored.prediction.device_id not in devices:
        return f"the device {stored.prediction.device_id} is no longer there"
    if stored.prediction.fingerprint not in graphs:
        return "the stored operator graph cannot be read"
    return ""
