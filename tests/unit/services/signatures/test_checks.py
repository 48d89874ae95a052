"""A probing that failed its own checks is not believed, and what rests on it says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from predictor.core.documents import ProbingFacts, Provenance
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Signature, Target
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext
from predictor.presentation.remarks import remarks
from predictor.presentation.wording import basis_text
from predictor.probing.importers.registry import import_typed
from predictor.services.prediction.predict import predict
from predictor.services.probing.imports import take_over
from predictor.services.signatures.checks import LIMITS, ProbingChecks
from predictor.services.signatures.stored import Signatures
from predictor.services.signatures.user_signatures import read_user_signatures
from predictor.store import devices as device_records
from predictor.store import measurements as measurement_records
from predictor.store import signatures as records
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

ASKED = MODELS[len(PROBES)]
GOOD = ProbingChecks(chosen=12, tried=12, measured=12, disturbed=0.0, drift=0.01, error=0.1)
FAILING = {
    "drift": replace(GOOD, drift=LIMITS.drift + 0.01),
    "disturbed": replace(GOOD, disturbed=LIMITS.disturbed + 0.1),
    "error": replace(GOOD, error=LIMITS.error + 0.1),
    "share": replace(GOOD, measured=int(LIMITS.measured * 12 - 1)),
    "few": replace(GOOD, tried=2, measured=2),
}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "ctm.db")
    device_records.put(opened, BOARD, {})
    yield opened
    opened.close()


def store(
    database: Database,
    factors: Sequence[float] = (1.0,) * len(PROBES),
    blocks: Sequence[dict[str, Any]] = (),
    **facts: object,
) -> None:
    """Store an active signature of a probing, as versions before the checks did."""
    expected = [p.latency_ms or 0.0 for p in predict(MODELS[: len(PROBES)], [TARGET])]
    found = [
        replace(
            measured(place, SLOWER * ms * factor),
            provenance=Provenance({"network": f"n{place}", "blocks": list(blocks)}),
        )
        for place, (ms, factor) in enumerate(zip(expected, factors, strict=True))
    ]
    for measurement in found:
        measurement_records.add(database, measurement)
    signature = Signature(
        SIGNATURE, BOARD.id, CONFIGURATION, tuple(m.id for m in found), active=True
    )
    records.add(database, signature, ProbingFacts({"protocol": "ctm-probe/1", **facts}))


def asked(database: Database, target: Target = TARGET) -> Prediction:
    known = read_user_signatures(database).of([target])
    return predict([ASKED], [target], measured=known)[0]


def told(prediction: Prediction, place: Place) -> list[str]:
    row = PredictionRow(prediction=prediction, device_name="Board", model_label="m.onnx")
    return [text for text in remarks(row, TableContext(place)) if "unstable" in text]


@pytest.mark.parametrize("name", FAILING)
def test_each_check_stops_a_probing_by_itself(name: str, database: Database) -> None:
    assert (GOOD.failures(), GOOD.reason) == ((), "")
    assert len(FAILING[name].failures()) == 1
    store(database, checks=FAILING[name].to_json())
    before = predict([ASKED], [TARGET])[0]
    assert asked(database) == before
    assert before.basis is Basis.ZERO_SHOT

    reason = Signatures(database).activate(SIGNATURE)

    now = asked(database)
    assert (now.signature, now.unstable) == (SIGNATURE, reason) == (SIGNATURE, now.unstable)
    assert reason == FAILING[name].reason != ""
    assert basis_text(now) == "calibrated, unstable"
    for place in (Place.COMPARE, Place.DETAILS, Place.TEXT, Place.REPORT):
        assert told(now, place) == [f"unstable: {reason}"]


def test_a_good_one_is_used_as_before(database: Database) -> None:
    store(database, drift=0.01)
    now = asked(database)
    assert (now.signature, now.unstable, basis_text(now)) == (SIGNATURE, "", "calibrated")
    assert told(now, Place.TEXT) == []


def test_several_reasons_are_one_sentence() -> None:
    checks = ProbingChecks(
        chosen=12, tried=6, measured=3, disturbed=4 / 6, drift=0.259, error=0.844
    )
    assert checks.reason == (
        "only 3 of 6 networks gave a number, other programs disturbed 4 of 6 networks, the "
        "machine's speed changed by 25.9 % and its networks predict each other 84.4 % off"
    )


def test_few_networks_do_where_no_more_were_chosen() -> None:
    assert replace(GOOD, chosen=2, tried=2, measured=2).reason == ""


def test_what_was_not_looked_at_stops_nothing() -> None:
    assert replace(GOOD, drift=None, error=None).reason == ""


@pytest.mark.parametrize("content", [{}, {"drift": 0.1}, {**GOOD.to_json(), "error": "much"}])
def test_notes_of_another_form_are_none(content: dict[str, Any]) -> None:
    assert ProbingChecks.from_json(content) is None
    for checks in (GOOD, replace(GOOD, drift=None, error=None)):
        assert ProbingChecks.from_json(checks.to_json()) == checks


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"drift": 0.5}, "the machine's speed changed by 50 %"),
        ({"blocks": [{"contended": True}] * 2}, "other programs disturbed 8 of 8 networks"),
        ({"factors": [0.05, 20.0] * 4}, "its networks predict each other"),
    ],
)
def test_checks_of_earlier_versions_are_worked_out_once(
    database: Database, facts: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(database, **facts)
    assert asked(database).signature is None
    (stored,) = records.stored(database)
    assert stored.signature.active  # as it was stored
    assert words in Signatures(database).reason_against(stored)
    assert ProbingChecks.from_json(stored.facts.checks) is not None

    monkeypatch.setattr("predictor.services.signatures.checks.work_out", None)
    assert asked(database).signature is None


def test_other_configurations_of_its_device_are_unstable_too(database: Database) -> None:
    store(database, checks=FAILING["drift"].to_json(), used_anyway=True)
    other = Target(BOARD, replace(CONFIGURATION, runtime="ncnn"))
    elsewhere = replace(other, device=replace(BOARD, id="another"))
    known = read_user_signatures(database).of([other, elsewhere])
    near, far = predict([ASKED], [other, elsewhere], measured=known)
    assert near.unstable == FAILING["drift"].reason
    assert far.unstable == ""


def test_a_measured_number_is_not_unstable(database: Database) -> None:
    store(database, checks=FAILING["drift"].to_json(), used_anyway=True)
    own = [measured(len(PROBES), 9.0, "own")]
    known = read_user_signatures(database).of([TARGET])
    (now,) = predict([ASKED], [TARGET], measurements=own, measured=known)
    assert (now.basis, now.unstable) == (Basis.MEASURED, "")


def test_the_network_that_was_to_blame_is_left_out(database: Database) -> None:
    store(database, drift=0.01, checks=FAILING["error"].to_json())
    signatures = Signatures(database)
    outlier = records.stored(database)[0].signature.measurement_ids[0]
    made = signatures.exclude(SIGNATURE, outlier, "it swapped")
    # The checks of the rest are its own: the noted ones were of other networks.
    assert asked(database).signature == made


def test_measurements_from_a_file_do_not_hide_that_a_probing_is_unstable(
    database: Database,
) -> None:
    store(database, checks=FAILING["drift"].to_json(), used_anyway=True)
    network = PROBES[0].name
    take_over(import_typed(f"{network}, 3.5"), BOARD, CONFIGURATION, store=database.path)
    now = asked(database)
    assert now.signature not in {None, SIGNATURE}
    assert now.unstable == FAILING["drift"].reason


def test_measurements_from_a_file_do_not_bring_back_what_is_not_believed(
    database: Database,
) -> None:
    store(database, checks=FAILING["drift"].to_json())
    take_over(import_typed(f"{PROBES[0].name}, 3.5"), BOARD, CONFIGURATION, store=database.path)
    (made,) = [s.signature for s in records.stored(database) if s.signature.active]
    assert len(made.measurement_ids) == 1
    assert asked(database).unstable == ""
