"""Probe sessions and the signatures that come of them."""

from __future__ import annotations

import uuid

import pytest

from predictor.core.documents import NO_OUTCOME, ProbeOutcome, ProbingFacts, Provenance
from predictor.core.errors import InputError
from predictor.core.records import Configuration, Measurement, Precision, Signature
from predictor.core.stored import ProbeState, SessionProbe, SessionState, StoredSession
from predictor.store import measurements, probe_sessions, signatures
from predictor.store.database import Database

BOARD = Configuration("onnxruntime", Precision.FP32, 1, 1)
STEADY = ProbeOutcome({"verdict": "steady"})
NAMES = ("a", "b", "café")


def session(database: Database) -> StoredSession:
    made = StoredSession(
        id=uuid.uuid4().hex,
        device_id="board",
        configuration=BOARD,
        plan_text='{"networks": 3}',
        probes=tuple(SessionProbe(name=name, fingerprint=name.encode().hex()) for name in NAMES),
    )
    probe_sessions.add(database, made)
    return made


def measurement(name: str, value_ms: float = 2.0) -> Measurement:
    return Measurement(
        id=uuid.uuid4().hex,
        fingerprint=name.encode().hex(),
        device_id="board",
        configuration=BOARD,
        samples_ns=(2_000_000,),
        value_ms=value_ms,
        statistic="median",
        protocol="ctm-probe/1",
        provenance=Provenance(),
    )


def signature(database: Database, *, active: bool) -> Signature:
    stored = measurement("a")
    measurements.add(database, stored)
    made = Signature(uuid.uuid4().hex, "board", BOARD, (stored.id,), active=active)
    signatures.add(database, made)
    return made


def measured(database: Database, made: StoredSession, found: Measurement) -> None:
    probe_sessions.record(database, made.id, "a", ProbeState.MEASURED, STEADY, measurement=found)


def active(database: Database) -> list[str]:
    return [s.id for s in signatures.load_all(database) if s.active]


def test_a_session_comes_back_as_it_was_planned(database: Database) -> None:
    made = session(database)
    found = probe_sessions.get(database, made.id)
    assert (found.probes, found.plan_text, found.configuration) == (
        made.probes,
        made.plan_text,
        BOARD,
    )
    assert (found.state, found.finished_ns) == (SessionState.RUNNING, None)
    assert found.created_ns > 0
    assert probe_sessions.load_all(database) == [found]


def test_outcomes_are_kept_with_their_probes(database: Database) -> None:
    made, found = session(database), measurement("a")
    measured(database, made, found)
    probe_sessions.record(database, made.id, "café", ProbeState.FAILED, NO_OUTCOME, "no operator")

    a, b, cafe = probe_sessions.get(database, made.id).probes
    assert (a.state, a.measurement_id, a.outcome) == (
        ProbeState.MEASURED,
        found.id,
        STEADY,
    )
    assert b.state is ProbeState.WAITING
    assert (cafe.state, cafe.reason, cafe.measurement_id) == (
        ProbeState.FAILED,
        "no operator",
        None,
    )
    assert measurements.of_session(database, made.id) == [found]


def test_a_failing_record_stores_neither_measurement_nor_outcome(database: Database) -> None:
    made = session(database)
    with pytest.raises(Exception, match="CHECK constraint failed"):
        measured(database, made, measurement("a", -1.0))
    assert measurements.of_session(database, made.id) == []
    assert probe_sessions.get(database, made.id).probes[0].state is ProbeState.WAITING


def test_a_repeated_probe_waits_and_its_measurement_stays(database: Database) -> None:
    made, first = session(database), measurement("a")
    measured(database, made, first)
    probe_sessions.finish(database, made.id, SessionState.FINISHED)
    assert probe_sessions.get(database, made.id).finished_ns is not None

    probe_sessions.repeat(database, made.id, ["a"])

    again = probe_sessions.get(database, made.id)
    assert (again.state, again.finished_ns) == (SessionState.RUNNING, None)
    assert again.probes[0] == made.probes[0]
    assert measurements.of_session(database, made.id) == [first]


def test_facts_are_added_and_replaced(database: Database) -> None:
    made = session(database)
    probe_sessions.note(database, made.id, {"drift": 0.1, "host": {"python": "3.8"}})
    probe_sessions.note(database, made.id, {"drift": 0.2})
    facts = probe_sessions.get(database, made.id).facts
    assert facts.content == {"drift": 0.2, "host": {"python": "3.8"}}


def test_a_session_ends_with_its_signature_in_one_step(database: Database) -> None:
    made, found = session(database), measurement("a")
    measured(database, made, found)
    end = Signature(uuid.uuid4().hex, "board", BOARD, (found.id,), active=True)
    probe_sessions.finish(
        database, made.id, SessionState.FINISHED, end, ProbingFacts({"drift": 0.1})
    )

    (stored,) = signatures.stored(database)
    assert (stored.signature, stored.facts, stored.session_id) == (
        end,
        ProbingFacts({"drift": 0.1}),
        made.id,
    )
    assert measurements.of_signature(database, end.id) == [found]
    assert probe_sessions.get(database, made.id).state is SessionState.FINISHED


def test_an_unknown_session_is_refused(database: Database) -> None:
    with pytest.raises(InputError, match="there is none of this id"):
        probe_sessions.get(database, "f" * 32)


def test_one_signature_of_a_target_is_active(database: Database) -> None:
    first, second = (signature(database, active=True) for _ in range(2))
    assert active(database) == [second.id]
    signatures.activate(database, first.id)
    assert active(database) == [first.id]


@pytest.mark.parametrize("was_active", [True, False])
def test_a_deleted_signature_comes_back_as_it_was(database: Database, was_active: bool) -> None:
    made = signature(database, active=was_active)

    assert signatures.delete(database, made.id) is was_active
    assert signatures.load_all(database) == []
    (deleted,) = signatures.stored(database)
    assert deleted.deleted_ns is not None
    assert not deleted.signature.active

    signatures.restore(database, made.id, active=was_active)
    assert signatures.load_all(database) == [made]


def test_a_deleted_signature_cannot_be_used_or_deleted_again(database: Database) -> None:
    made = signature(database, active=True)
    signatures.delete(database, made.id)
    for change in (signatures.activate, signatures.delete):
        with pytest.raises(InputError, match="there is none of this id"):
            change(database, made.id)
