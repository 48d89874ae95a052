"""What the user measured on a target corrects what is predicted for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predictor.core.documents import Provenance
from predictor.core.records import Basis, Signature, Target
from predictor.core.stored import StoredPrediction
from predictor.graph.operator_graph import OperatorFlag, OperatorGraph
from predictor.presentation.wording import percent
from predictor.services.history.changes import predict_again
from predictor.services.prediction.explain import explain
from predictor.services.prediction.predict import predict
from predictor.services.signatures.adaptation import adaptation_of
from predictor.services.signatures.assessment import LeftOut, errors_in_words, left_out
from predictor.services.signatures.user_signatures import (
    DEFAULT_NOISE,
    MIN_NOISE,
    measurements_of,
    noise_of,
    read_user_signatures,
)
from predictor.store import measurements as measurement_records
from predictor.store import signatures as signature_records
from predictor.store.database import Database, open_database
from tests.support.own_signatures import (
    BOARD,
    CONFIGURATION,
    MODELS,
    PROBES,
    SIGNATURE,
    SLOWER,
    TARGET,
    measured,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def zero_shot() -> list[float]:
    return [p.latency_ms or 0.0 for p in predict(MODELS, [TARGET])]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "ctm.db")
    yield opened
    opened.close()


def store_signature(database: Database, values_ms: Sequence[float], *, active: bool = True) -> None:
    found = [measured(place, value) for place, value in enumerate(values_ms)]
    for measurement in found:
        measurement_records.add(database, measurement)
    ids = tuple(m.id for m in found)
    signature = Signature(SIGNATURE, BOARD.id, CONFIGURATION, ids, active=active)
    signature_records.add(database, signature)


def test_a_signature_whose_operators_were_timed_corrects_each_kind_of_operator_apart(
    database: Database,
) -> None:
    # Arithmetic takes 0.1 ns for a MAC, everything else 3 ns for a byte.
    def of_each(graph: OperatorGraph) -> dict[str, float]:
        return {
            name: 1e-7 * macs if macs else 3e-6 * moved
            for name, macs, moved in zip(
                graph.names, graph.macs.tolist(), graph.bytes_moved.tolist(), strict=True
            )
            if moved and not graph.has_flag(OperatorFlag.VIEW | OperatorFlag.FUSED)[0]
        }

    told = [of_each(model.graph) for model in MODELS]
    found = [
        replace(
            measured(place, sum(times.values())),
            provenance=Provenance(
                {"operators": [[name, "", ms * 1e6] for name, ms in times.items()]}
            ),
        )
        for place, times in enumerate(told[: len(PROBES)])
    ]
    for measurement in found:
        measurement_records.add(database, measurement)
    ids = tuple(m.id for m in found)
    signature_records.add(database, Signature(SIGNATURE, BOARD.id, CONFIGURATION, ids, active=True))

    (stored,) = signature_records.stored(database)
    known = read_user_signatures(database).of([TARGET])
    asked = MODELS[len(PROBES) :]
    predictions = predict(asked, [TARGET], measured=known)

    assert (stored.timed, adaptation_of(stored)) == (len(PROBES), "operators")
    assert {p.adaptation for p in predictions} == {"operators"}
    actual = np.array([sum(times.values()) for times in told[len(PROBES) :]])
    off = np.log([p.latency_ms or 0.0 for p in predictions]) - np.log(actual)
    assert np.median(np.abs(off)) < 0.2
    explained = explain(asked[0], TARGET, measured=known)
    assert explained.latency_ms.sum() == pytest.approx(predictions[0].latency_ms)


def test_a_signature_corrects_predictions_and_narrows_their_intervals(
    database: Database, zero_shot: list[float]
) -> None:
    store_signature(database, [SLOWER * ms for ms in zero_shot[: len(PROBES)]])
    known = read_user_signatures(database).of([TARGET])
    others = MODELS[len(PROBES) :]
    before, after = predict(others, [TARGET]), predict(others, [TARGET], measured=known)
    off: list[float] = []
    for then, now in zip(before, after, strict=True):
        assert (then.basis, now.basis) == (Basis.ZERO_SHOT, Basis.PROBED)
        assert (then.signature, now.signature) == (None, SIGNATURE)
        off.append(abs(np.log((now.latency_ms or 0) / (then.latency_ms or 0) / SLOWER)))
        assert width(now) < width(then)
    # The network, which reads signatures, weighs operators otherwise than the estimate does.
    assert np.median(off) < 0.3
    table = explain(others[0], TARGET, measured=known)
    assert table.latency_ms.sum() == pytest.approx(after[0].latency_ms, rel=1e-6)


def width(prediction: object) -> float:
    return float(np.log(prediction.high80_ms / prediction.low80_ms))  # type: ignore[attr-defined]


def test_other_threads_are_another_target(database: Database, zero_shot: list[float]) -> None:
    store_signature(database, zero_shot[: len(PROBES)])
    own = read_user_signatures(database)
    alone = Target(BOARD, replace(CONFIGURATION, threads=1))
    assert set(own.of([TARGET, alone])) == {TARGET.id}
    assert own.has_device("board")
    assert not own.has_device("rpi5")


def test_a_signature_that_is_not_active_tells_nothing(
    database: Database, zero_shot: list[float]
) -> None:
    store_signature(database, zero_shot[: len(PROBES)], active=False)
    assert read_user_signatures(database).of([TARGET]) == {}


def test_own_models_join_the_signature(database: Database, zero_shot: list[float]) -> None:
    store_signature(database, zero_shot[:4])
    place = len(PROBES)
    measurement_records.add(database, measured(place, 9.0, "old"))
    measurement_records.add(database, measured(place, 8.0, "new"))
    (known,) = read_user_signatures(database).of([TARGET]).values()
    assert known.signature_id == SIGNATURE
    assert known.latency_ms == pytest.approx([*zero_shot[:4], 8.0])


def test_own_models_alone_correct_predictions(database: Database, zero_shot: list[float]) -> None:
    measurement_records.add(database, measured(0, SLOWER * zero_shot[0]))
    own = read_user_signatures(database)
    (now,) = predict([MODELS[1]], [TARGET], measured=own.of([TARGET]))
    assert now.basis is Basis.PROBED
    assert now.signature is None
    assert (now.latency_ms or 0) > 1.2 * zero_shot[1]


def test_what_was_measured_of_a_model_does_not_tell_its_prediction(
    database: Database, zero_shot: list[float]
) -> None:
    values = [SLOWER * ms for ms in zero_shot[:4]]
    store_signature(database, values)
    honest = read_user_signatures(database).of([TARGET])
    with database.transaction() as connection:
        connection.execute("UPDATE measurements SET value_ms = value_ms * 3 WHERE id LIKE '%m2'")
    changed = read_user_signatures(database).of([TARGET])
    (one,) = predict([MODELS[2]], [TARGET], measured=honest)
    (other,) = predict([MODELS[2]], [TARGET], measured=changed)
    assert one.latency_ms == other.latency_ms


def test_the_same_measurements_are_equal(database: Database, zero_shot: list[float]) -> None:
    store_signature(database, zero_shot[:2])
    first = read_user_signatures(database)
    assert read_user_signatures(database) == first
    measurement_records.add(database, measured(5, 8.0))
    assert read_user_signatures(database) != first


def fits(database: Database, signature: Signature) -> tuple[LeftOut, ...]:
    stored = measurement_records.of_signature(database, signature.id)
    measured, used = measurements_of(database, signature.id, stored)
    return left_out(Target(BOARD, signature.configuration), measured, used)


def test_a_network_that_disagrees_with_the_others_shows(
    database: Database, zero_shot: list[float]
) -> None:
    values = [SLOWER * ms for ms in zero_shot[: len(PROBES)]]
    values[3] *= 6.0
    store_signature(database, values)
    (signature,) = signature_records.load_all(database)
    found = fits(database, signature)
    assert [fit.measured_ms for fit in found] == pytest.approx(values)
    assert max(found, key=lambda fit: abs(np.log1p(fit.error))) is found[3]
    assert found[3].disagrees
    worst = max(abs(fit.error) for fit in found)
    assert errors_in_words(found).endswith(f"largest {percent(worst)}.")


def test_one_network_alone_tells_nothing_of_itself(
    database: Database, zero_shot: list[float]
) -> None:
    store_signature(database, zero_shot[:1])
    (signature,) = signature_records.load_all(database)
    assert fits(database, signature) == ()
    assert errors_in_words(()) == ""


def test_noise_is_what_the_samples_say() -> None:
    noisy = replace(measured(0, 1.0), samples_ns=(1_000_000, 1_300_000, 800_000, 1_100_000))
    logs = np.log([1.0, 1.3, 0.8, 1.1])
    assert noise_of(noisy) == pytest.approx(float(logs.std()) / 2)
    assert noise_of(replace(noisy, samples_ns=(1_000_000,) * 50)) == MIN_NOISE
    assert noise_of(replace(noisy, samples_ns=())) == DEFAULT_NOISE


def test_what_was_predicted_before_is_predicted_again_with_the_signature(
    database: Database, zero_shot: list[float]
) -> None:
    store_signature(database, [SLOWER * ms for ms in zero_shot[: len(PROBES)]])
    own, (model, *_) = read_user_signatures(database), MODELS[len(PROBES) :]
    (before,) = predict([model], [TARGET])
    then = StoredPrediction(
        id="p", created_ns=0, path="", settings_hash="0" * 64, prediction=before
    )
    (entry,) = predict_again(
        [then], {before.fingerprint: model.graph}, {BOARD.id: BOARD}, signatures=own
    )
    (wanted,) = predict([model], [TARGET], measured=own.of([TARGET]))
    assert entry.today is not None
    assert (entry.today.basis, entry.today.signature) == (Basis.PROBED, SIGNATURE)
    assert entry.today.latency_ms == wanted.latency_ms
    assert "the target's signature is another" in entry.reasons
