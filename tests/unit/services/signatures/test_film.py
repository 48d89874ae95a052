"""FiLM fine-tuned to a signature: a real child process, the better way kept, nothing lost."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from predictor.cli.probe.signatures import signature_document, signature_text
from predictor.core.documents import ProbingFacts, Provenance
from predictor.core.errors import CancelledError, HostError, InputError
from predictor.core.prediction import Prediction
from predictor.core.progress import CancelToken, Progress, no_progress
from predictor.core.records import Configuration, Measurement, Precision, Signature, Target
from predictor.core.resources import resources_dir
from predictor.core.stored import StoredSignature
from predictor.cost.engine import FilmBiases, FilmTuning, TargetMeasurements
from predictor.probing.networks.pool import load_pool
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.engines import network_in_use
from predictor.services.prediction.predict import predict
from predictor.services.probing.open import Probing, open_probing
from predictor.services.signatures import film as signature_film
from predictor.services.signatures.adaptation import adaptation_of, outdated_film_words
from predictor.services.signatures.assessment import left_out
from predictor.services.signatures.film import Adaptations, adaptations, median_error
from predictor.services.signatures.user_signatures import stored_signatures
from predictor.store import measurements, signatures
from predictor.store.database import open_database
from tests.support.child_modules import modules_after
from tests.support.probe_sessions import BOARD

pytestmark = pytest.mark.slow

CONFIGURATION = Configuration("onnxruntime", Precision.FP32, 1, 1)
NETWORKS = sorted(load_pool(), key=lambda network: network.macs)[5:40:10]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a signature of four networks, the last of which has run three times as long."""
    path = tmp_path_factory.mktemp("film") / "store.db"
    database = open_database(path)
    made = [
        Measurement(
            id=f"{number:032}",
            fingerprint=network.fingerprint,
            device_id=BOARD.id,
            configuration=CONFIGURATION,
            samples_ns=(),
            value_ms=(network.macs / 1e8 + 0.2) * (3 if number == 3 else 1),
            statistic="median",
            protocol="typed-by-hand/1",
            provenance=Provenance({"network": network.name}),
        )
        for number, network in enumerate(NETWORKS)
    ]
    for measurement in made:
        measurements.add(database, measurement)
    ids = tuple(measurement.id for measurement in made)
    signatures.add(database, Signature("5" * 32, BOARD.id, CONFIGURATION, ids, active=True))
    database.close()
    return path


@pytest.fixture(scope="module")
def told() -> list[Progress]:
    return []


@pytest.fixture(scope="module")
def found(store: Path, told: list[Progress]) -> Adaptations:
    with open_probing(store) as probing:
        return adaptations(*of_active(probing), told.append)


@pytest.fixture
def probing(store: Path) -> Iterator[Probing]:
    with open_probing(store) as opened:
        yield opened


def active(probing: Probing) -> StoredSignature:
    (found,) = [stored for stored in probing.signatures.all() if stored.signature.active]
    return found


def of_active(probing: Probing) -> tuple[Target, TargetMeasurements, tuple[Measurement, ...]]:
    measured, used = probing.signatures.measured(active(probing).signature.id)
    return Target(BOARD, CONFIGURATION), measured, used


def test_each_network_is_predicted_from_the_others_both_ways(
    found: Adaptations, told: list[Progress]
) -> None:
    assert [(each.done, each.total) for each in told] == [(done, 5) for done in range(1, 6)]
    assert set(found.film.without) == {network.fingerprint for network in NETWORKS}
    assert [each.measurement_id for each in found.by_film] == [f"{n:032}" for n in range(4)]
    pairs = list(zip(found.by_posterior, found.by_film, strict=True))
    assert all(plain.measured_ms == tuned.measured_ms for plain, tuned in pairs)
    assert any(plain.predicted_ms != tuned.predicted_ms for plain, tuned in pairs)
    better = median_error(found.by_film) < median_error(found.by_posterior)
    assert found.film_is_better is better


def test_a_signature_says_what_adapts_to_it_and_predictions_follow(
    probing: Probing, found: Adaptations, store: Path
) -> None:
    before = active(probing)
    with IngestionWorker() as worker:
        model = worker.ingest(str(resources_dir() / "samples" / "mobilenetv2-1.0-224.onnx"))

    def prediction() -> Prediction:
        target = Target(BOARD, CONFIGURATION)
        known = stored_signatures(store).of([target])
        return predict([model], [target], measured=known)[0]

    plain = prediction()
    made = probing.signatures.adapt(before.signature.id, found.film)
    stored = active(probing)
    assert (stored.signature.id, adaptation_of(stored)) == (made, "film")
    assert left_out(*of_active(probing)) == found.by_film
    tuned = prediction()
    assert (plain.fine_tuned, tuned.fine_tuned) == (False, True)
    assert tuned.signature == made
    assert tuned.latency_ms != plain.latency_ms

    left = probing.signatures.exclude(made, f"{0:032}", "a backup ran")
    assert adaptation_of(active(probing)) == "posterior"  # of other networks than it was tuned to
    probing.signatures.give_back(left, made)
    assert adaptation_of(active(probing)) == "film"
    probing.signatures.adapt(made, None)
    assert adaptation_of(active(probing)) == "posterior"
    assert prediction().latency_ms == plain.latency_ms


def test_what_was_fine_tuned_for_another_network_has_no_part_and_is_said_to_be_outdated() -> None:
    shift = np.zeros(4, np.float32)

    def stored(network: str, timed: int = 0) -> StoredSignature:
        film = FilmTuning(network, FilmBiases(shift, shift)).to_json()
        signature = Signature("s", "b", CONFIGURATION, ("m",), active=True)
        return StoredSignature(
            signature=signature, created_ns=0, facts=ProbingFacts({"film": film}), timed=timed
        )

    current, foreign = stored(network_in_use()), stored("0" * 64)
    assert (adaptation_of(current), outdated_film_words(current)) == ("film", "")
    assert adaptation_of(foreign) == "posterior"
    assert adaptation_of(stored("0" * 64, timed=3)) == "operators"
    told = "FiLM: fine-tuned for another version of the network, so not used"
    assert told in signature_text(foreign, [], [])
    assert "FiLM: " not in signature_text(current, [], [])
    assert signature_document(foreign, [], [])["adaptation"] == "posterior"


@pytest.mark.parametrize("fact", [None, 3, {}, {"network": "a"}, {"network": "a", "gamma": "A"}])
def test_a_fact_that_is_no_tuning_leaves_the_posterior(fact: object) -> None:
    signature = Signature("s", "b", CONFIGURATION, ("m",), active=True)
    stored = StoredSignature(signature=signature, created_ns=0, facts=ProbingFacts({"film": fact}))
    assert adaptation_of(stored) == "posterior"


def test_a_cancel_ends_the_child(probing: Probing) -> None:
    token = CancelToken()
    with pytest.raises(CancelledError):
        adaptations(*of_active(probing), lambda _: token.cancel(), token)


def test_a_cancel_stops_the_predicting_of_networks(probing: Probing) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(CancelledError):
        left_out(*of_active(probing), token)


def test_without_torch_it_is_not_offered(probing: Probing, monkeypatch: pytest.MonkeyPatch) -> None:
    assert signature_film.can_fine_tune()
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "torch" else find(name)
    )
    assert not signature_film.can_fine_tune()
    with pytest.raises(InputError, match="torch is not installed"):
        adaptations(*of_active(probing), no_progress)


def test_a_child_that_fails_is_told_in_a_sentence(
    probing: Probing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signature_film, "_MODULE", "predictor.no_such_module")
    with pytest.raises(HostError, match="No module named"):
        adaptations(*of_active(probing), no_progress)


def test_the_program_itself_loads_no_torch() -> None:
    loaded = modules_after(
        "from predictor.services.signatures.film import can_fine_tune; assert can_fine_tune()"
    )
    assert loaded.isdisjoint({"torch", "onnx"})
