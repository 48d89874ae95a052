"""Probe sessions: the networks to be measured on a target, and the outcome of each.

Each outcome is committed with its measurement at once, so that a session whose program was killed
goes on where it was.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from predictor.core.documents import NO_FACTS, NO_OUTCOME, ProbeOutcome, ProbingFacts
from predictor.core.errors import InputError
from predictor.core.records import Measurement, Signature
from predictor.core.stored import ProbeState, SessionProbe, SessionState, StoredSession
from predictor.store import measurements, signatures, targets
from predictor.store.database import Database
from predictor.store.tables import Tables
from predictor.store.values import next_time, target_of, text_in, text_out

_SELECT = (
    f"SELECT probe_sessions.*, {targets.COLUMNS}"  # noqa: S608 - our own words
    " FROM probe_sessions JOIN targets ON targets.id = target_id"
)


def add(database: Database, session: StoredSession) -> None:
    """Store a new session with its probes."""
    with database.transaction() as db:
        db.table("probe_sessions").insert(
            {
                "id": session.id,
                "target_id": targets.put(db, session.device_id, session.configuration),
                "plan": session.plan_text,
                "state": str(session.state),
                "created_ns": next_time(db, "probe_sessions"),
            }
        )
        _insert_probes(db, session.id, session.probes, 0)


def extend(database: Database, session_id: str, plan: str, probes: Sequence[SessionProbe]) -> None:
    """Add probes behind those of a session; ``plan`` is the session's with them."""
    with database.transaction() as db:
        begin = db.table("probes").count_where("session_id = ?", (session_id,))
        db.table("probe_sessions").update(session_id, {"plan": plan})
        _insert_probes(db, session_id, probes, begin)


def load_all(database: Database) -> list[StoredSession]:
    """Return all sessions, the oldest first."""
    with database.reading() as db:
        rows = list(db.query(f"{_SELECT} ORDER BY created_ns, probe_sessions.rowid"))
        return [_session(db, row) for row in rows]


def get(database: Database, session_id: str) -> StoredSession:
    """Return one session.

    Raises:
        InputError: there is none of this id.
    """
    with database.reading() as db:
        for row in db.query(f"{_SELECT} WHERE probe_sessions.id = ?", (session_id,)):
            return _session(db, row)
    raise InputError(f"session {session_id}", "there is none of this id", "run `ctm probe list`")


def record(
    database: Database,
    session_id: str,
    name: str,
    state: ProbeState,
    outcome: ProbeOutcome,
    reason: str = "",
    measurement: Measurement | None = None,
) -> None:
    """Store the end of a probe, with its measurement or the reason that there is none.

    It is on the disk when this returns.
    """
    with database.transaction() as db:
        if measurement is not None:
            measurements.add(database, measurement, session_id)
        _update(db, session_id, name, state, outcome, reason, measurement)


def note(database: Database, session_id: str, facts: Mapping[str, object]) -> None:
    """Add facts to a session's; one that was noted before is replaced."""
    with database.transaction() as db:
        # In SQL, so that facts of another process noted meanwhile stay.
        db.table("probe_sessions").update(
            session_id,
            {"facts": json.dumps(facts)},
            conversions={"facts": "json_patch(facts, ?)"},
        )


def repeat(database: Database, session_id: str, names: Sequence[str]) -> None:
    """Let probes be measured again; their measurements stay in the store.

    The session is running again.
    """
    with database.transaction() as db:
        for name in names:
            _update(db, session_id, name, ProbeState.WAITING, NO_OUTCOME)
        db.table("probe_sessions").update(
            session_id, {"state": str(SessionState.RUNNING), "finished_ns": None}
        )


def finish(
    database: Database,
    session_id: str,
    state: SessionState,
    signature: Signature | None = None,
    facts: ProbingFacts = NO_FACTS,
) -> None:
    """End a session, with the signature that came of it where there is one."""
    with database.transaction() as db:
        ended = {"state": str(state), "finished_ns": time.time_ns()}
        # A session does not end before it was planned, also where the clock was put back.
        not_before = {"finished_ns": "max(created_ns, ?)"}
        db.table("probe_sessions").update(session_id, ended, conversions=not_before)
        if signature is not None:
            signatures.add(database, signature, facts, session_id)


def _update(
    db: Tables,
    session_id: str,
    name: str,
    state: ProbeState,
    outcome: ProbeOutcome,
    reason: str = "",
    measurement: Measurement | None = None,
) -> None:
    probes = db.table("probes")
    row = next(probes.rows_where("session_id = ? AND name = ?", (session_id, text_in(name))))
    probes.update(
        (session_id, row["position"]),
        {
            "state": str(state),
            "reason": text_in(reason),
            "outcome": outcome.to_json(),
            "measurement_id": measurement.id if measurement else None,
        },
    )


def _insert_probes(db: Tables, session_id: str, probes: Sequence[SessionProbe], begin: int) -> None:
    db.table("probes").insert_all(
        {
            "session_id": session_id,
            "position": place,
            "name": text_in(probe.name),
            "fingerprint": probe.fingerprint,
            "state": str(probe.state),
            "reason": "",
            "outcome": probe.outcome.to_json(),
        }
        for place, probe in enumerate(probes, begin)
    )


def _session(db: Tables, row: Mapping[str, Any]) -> StoredSession:
    return StoredSession(
        id=row["id"],
        **target_of(row),
        plan_text=row["plan"],
        probes=_probes(db, row["id"]),
        state=SessionState(row["state"]),
        created_ns=row["created_ns"],
        finished_ns=row["finished_ns"],
        facts=ProbingFacts(text=row["facts"]),
    )


def _probes(db: Tables, session_id: str) -> tuple[SessionProbe, ...]:
    rows = db.table("probes").rows_where("session_id = ?", (session_id,), order_by="position")
    return tuple(
        SessionProbe(
            name=text_out(row["name"]),
            fingerprint=row["fingerprint"],
            state=ProbeState(row["state"]),
            reason=text_out(row["reason"]),
            outcome=ProbeOutcome(text=row["outcome"]),
            measurement_id=row["measurement_id"],
        )
        for row in rows
    )
