"""Probe sessions: what is to be measured on a target, and what became of each network.

Each outcome is committed with its measurement at once, so that a session whose program was killed
goes on where it was.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from predictor.core.errors import InputError
from predictor.core.records import Configuration, Measurement, Signature
from predictor.store import measurements, signatures, targets
from predictor.store.database import Database
from predictor.store.values import text_in, text_out


class SessionState(StrEnum):
    """Whether a session still has something to do; a paused or killed one is running."""

    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


class ProbeState(StrEnum):
    """What became of a network."""

    WAITING = "waiting"
    MEASURED = "measured"
    INCONCLUSIVE = "inconclusive"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class StoredProbe:
    """One network of a session.

    Attributes:
        name: unique in the session.
        fingerprint: of its operator graph.
        state: what became of it.
        reason: why it has no number, in words, else empty.
        outcome: what the runner told of it, as a JSON object.
        measurement_id: of its measurement, None where it has none.
    """

    name: str
    fingerprint: str
    state: ProbeState = ProbeState.WAITING
    reason: str = ""
    outcome: str = "{}"
    measurement_id: str | None = None


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session.

    Attributes:
        id: UUID hex.
        device_id: id of the device.
        configuration: threads and batch resolved to counts.
        plan: all that its networks are made of and measured by, as a JSON object.
        probes: in the order of measuring.
        state: whether it has something to do.
        created_ns: when it was planned, since 1970.
        finished_ns: when it ended, None while it is running.
        facts: what was noted of machine and drift, as a JSON object.
    """

    id: str
    device_id: str
    configuration: Configuration
    plan: str
    probes: tuple[StoredProbe, ...]
    state: SessionState = SessionState.RUNNING
    created_ns: int = 0
    finished_ns: int | None = None
    facts: str = "{}"


_UPDATE = (
    "UPDATE probes SET state = ?, reason = ?, outcome = ?, measurement_id = ?"
    " WHERE session_id = ? AND name = ?"
)
_SELECT = (
    "SELECT probe_sessions.id, plan, state, created_ns, finished_ns, facts,"  # noqa: S608 - our own words
    f" {targets.COLUMNS} FROM probe_sessions JOIN targets ON targets.id = target_id"
)


def add(database: Database, session: StoredSession) -> None:
    """Store a new session with its probes."""
    with database.transaction() as connection:
        target_id = targets.put(connection, session.device_id, session.configuration)
        connection.execute(
            "INSERT INTO probe_sessions (id, target_id, plan, state, created_ns)"
            " VALUES (?, ?, ?, ?, ?)",
            (session.id, target_id, session.plan, str(session.state), time.time_ns()),
        )
        _insert_probes(connection, session.id, session.probes, 0)


def extend(database: Database, session_id: str, plan: str, probes: Sequence[StoredProbe]) -> None:
    """Add probes behind those of a session; ``plan`` is the session's with them."""
    with database.transaction() as connection:
        (begin,) = connection.execute(
            "SELECT count(*) FROM probes WHERE session_id = ?", (session_id,)
        ).fetchone()
        connection.execute("UPDATE probe_sessions SET plan = ? WHERE id = ?", (plan, session_id))
        _insert_probes(connection, session_id, probes, begin)


def every(database: Database) -> list[StoredSession]:
    """Return all sessions, the oldest first."""
    with database.reading() as connection:
        rows = connection.execute(f"{_SELECT} ORDER BY created_ns, probe_sessions.rowid").fetchall()
        return [_session(connection, row) for row in rows]


def get(database: Database, session_id: str) -> StoredSession:
    """Return one session.

    Raises:
        InputError: there is none of this id.
    """
    with database.reading() as connection:
        row = connection.execute(f"{_SELECT} WHERE probe_sessions.id = ?", (session_id,)).fetchone()
        if row is None:
            raise InputError(
                f"session {session_id}", "there is none of this id", "run `ctm probe list`"
            )
        return _session(connection, row)


def record_measured(
    database: Database, session_id: str, name: str, measurement: Measurement, outcome: str
) -> None:
    """Store the measurement of a probe; it is on the disk when this returns."""
    with database.transaction() as connection:
        measurements.insert(connection, measurement, session_id)
        values = (str(ProbeState.MEASURED), "", outcome, measurement.id)
        connection.execute(_UPDATE, (*values, session_id, text_in(name)))


def record_without_number(
    database: Database, session_id: str, name: str, state: ProbeState, reason: str, outcome: str
) -> None:
    """Store that a probe has no number, why, and all that was seen of it."""
    with database.transaction() as connection:
        values = (str(state), text_in(reason), outcome, None)
        connection.execute(_UPDATE, (*values, session_id, text_in(name)))


def note(database: Database, session_id: str, facts: Mapping[str, object]) -> None:
    """Add facts to a session's; one that was noted before is replaced."""
    with database.transaction() as connection:
        connection.execute(
            "UPDATE probe_sessions SET facts = json_patch(facts, ?) WHERE id = ?",
            (json.dumps(facts), session_id),
        )


def repeat(database: Database, session_id: str, names: Sequence[str]) -> None:
    """Let probes be measured again; what was measured of them stays in the store.

    The session is running again.
    """
    with database.transaction() as connection:
        for name in names:
            values = (str(ProbeState.WAITING), "", "{}", None)
            connection.execute(_UPDATE, (*values, session_id, text_in(name)))
        connection.execute(
            "UPDATE probe_sessions SET state = ?, finished_ns = NULL WHERE id = ?",
            (str(SessionState.RUNNING), session_id),
        )


def finish(
    database: Database,
    session_id: str,
    state: SessionState,
    signature: Signature | None = None,
    facts: str = "{}",
) -> None:
    """End a session, with the signature that came of it where there is one."""
    with database.transaction() as connection:
        connection.execute(
            "UPDATE probe_sessions SET state = ?, finished_ns = ? WHERE id = ?",
            (str(state), time.time_ns(), session_id),
        )
        if signature is not None:
            signatures.insert(connection, signature, facts, session_id)


def _insert_probes(
    connection: sqlite3.Connection, session_id: str, probes: Sequence[StoredProbe], begin: int
) -> None:
    connection.executemany(
        "INSERT INTO probes (session_id, position, name, fingerprint, state, reason, outcome)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (session_id, place, text_in(p.name), p.fingerprint, str(p.state), "", p.outcome)
            for place, p in enumerate(probes, begin)
        ],
    )


def _session(connection: sqlite3.Connection, row: tuple[Any, ...]) -> StoredSession:
    identity, plan, state, created_ns, finished_ns, facts, *columns = row
    return StoredSession(
        identity,
        *targets.from_columns((*columns,)),
        plan,
        _probes(connection, identity),
        SessionState(state),
        created_ns,
        finished_ns,
        facts,
    )


def _probes(connection: sqlite3.Connection, session_id: str) -> tuple[StoredProbe, ...]:
    rows = connection.execute(
        "SELECT name, fingerprint, state, reason, outcome, measurement_id FROM probes"
        " WHERE session_id = ? ORDER BY position",
        (session_id,),
    )
    return tuple(
        StoredProbe(
            text_out(name),
            fingerprint,
            ProbeState(state),
            text_out(reason),
            outcome,
            measurement_id,
        )
        for name, fingerprint, state, reason, outcome, measurement_id in rows
    )
