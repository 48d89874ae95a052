"""Signatures: which measurements describe a target, and which of its signatures is in use."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass, replace

from predictor.core.errors import InputError
from predictor.core.records import Signature
from predictor.store import targets
from predictor.store.database import Database


@dataclass(frozen=True, slots=True)
class StoredSignature:
    """A signature and what the store knows about it.

    Attributes:
        signature: the record.
        created_ns: when it was stored, since 1970.
        facts: facts of the machine and the protocol, as a JSON object.
        session_id: of the probe session that it came from, None where it came from none.
        deleted_ns: when it was deleted; None where it was not.
        timed: of how many of its measurements the operators were timed.
    """

    signature: Signature
    created_ns: int
    facts: str = "{}"
    session_id: str | None = None
    deleted_ns: int | None = None
    timed: int = 0


_TIMED = (
    "(SELECT count(*) FROM signature_measurements JOIN measurements"
    " ON measurements.id = measurement_id WHERE signature_id = signatures.id AND"
    " CASE WHEN json_valid(provenance) THEN json_type(provenance, '$.operators') END = 'array')"
)


def add(
    database: Database, signature: Signature, facts: str = "{}", session_id: str | None = None
) -> None:
    """Store a signature of stored measurements; an active one takes the place of the one before."""
    with database.transaction() as connection:
        insert(connection, signature, facts, session_id)


def insert(
    connection: sqlite3.Connection,
    signature: Signature,
    facts: str = "{}",
    session_id: str | None = None,
) -> None:
    """Do what ``add`` does, inside a transaction."""
    target_id = targets.put(connection, signature.device_id, signature.configuration)
    if signature.active:
        _deactivate(connection, target_id)
    connection.execute(
        "INSERT INTO signatures (id, target_id, active, created_ns, facts, session_id)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (signature.id, target_id, signature.active, time.time_ns(), facts, session_id),
    )
    connection.executemany(
        "INSERT INTO signature_measurements (signature_id, position, measurement_id)"
        " VALUES (?, ?, ?)",
        [(signature.id, place, name) for place, name in enumerate(signature.measurement_ids)],
    )


def insert_stored(connection: sqlite3.Connection, stored: StoredSignature) -> None:
    """Store a signature under its own id and time, not active; inside a transaction."""
    signature = stored.signature
    insert(connection, replace(signature, active=False), stored.facts)
    connection.execute(
        "UPDATE signatures SET created_ns = ?, deleted_ns = ? WHERE id = ?",
        (stored.created_ns, stored.deleted_ns, signature.id),
    )


def every(database: Database) -> list[Signature]:
    """Return all signatures that were not deleted, the oldest first."""
    return [stored.signature for stored in stored(database) if stored.deleted_ns is None]


def stored(database: Database) -> list[StoredSignature]:
    """Return all signatures with what is known of them, deleted ones too, the oldest first."""
    with database.reading() as connection:
        rows = connection.execute(
            f"SELECT signatures.id, active, created_ns, facts, session_id, deleted_ns,"  # noqa: S608 - our own words
            f" {_TIMED}, {targets.COLUMNS} FROM signatures JOIN targets ON targets.id = target_id"
            " ORDER BY created_ns, signatures.rowid"
        ).fetchall()
        return [
            StoredSignature(
                Signature(
                    identity,
                    *targets.from_columns((*columns,)),
                    _measurement_ids(connection, identity),
                    active=bool(active),
                ),
                created_ns,
                facts,
                session_id,
                deleted_ns,
                timed,
            )
            for identity, active, created_ns, facts, session_id, deleted_ns, timed, *columns in rows
        ]


def facts_of(database: Database, signature_id: str) -> str:
    """Return the facts of a signature, a JSON object; an empty one where there is no signature."""
    with database.reading() as connection:
        found = connection.execute(
            "SELECT facts FROM signatures WHERE id = ?", (signature_id,)
        ).fetchone()
    return "{}" if found is None else str(found[0])


def members(database: Database) -> dict[str, frozenset[str]]:
    """Return by signature id the ids of its measurements, of deleted signatures too."""
    found: dict[str, set[str]] = {}
    with database.reading() as connection:
        for signature_id, measurement_id in connection.execute(
            "SELECT signature_id, measurement_id FROM signature_measurements"
        ):
            found.setdefault(signature_id, set()).add(measurement_id)
    return {identity: frozenset(ids) for identity, ids in found.items()}


def activate(database: Database, signature_id: str) -> None:
    """Let a signature be the one that its target's predictions use.

    Raises:
        InputError: there is no such signature, or it was deleted.
    """
    with database.transaction() as connection:
        make_active(connection, signature_id)


def make_active(connection: sqlite3.Connection, signature_id: str) -> None:
    """Do what ``activate`` does, inside a transaction."""
    _deactivate(connection, _target_of(connection, signature_id))
    connection.execute("UPDATE signatures SET active = 1 WHERE id = ?", (signature_id,))


def delete(database: Database, signature_id: str) -> bool:
    """Delete a signature, which ``restore`` undoes; its measurements stay.

    Returns:
        Whether it was the active one; ``restore`` wants to know.

    Raises:
        InputError: there is no such signature, or it was deleted before.
    """
    with database.transaction() as connection:
        return _put_away(connection, signature_id)


def give_back(database: Database, signature_id: str, before_id: str) -> bool:
    """Delete a signature that took another one's place; the other one has its place again.

    Args:
        database: open.
        signature_id: of the one to delete, which ``restore`` undoes.
        before_id: of the other one, active from now on where the deleted one was.

    Returns:
        Whether the deleted one was active; ``restore`` wants to know.

    Raises:
        InputError: one of them is not there, or was deleted before; nothing is changed then.
    """
    with database.transaction() as connection:
        _target_of(connection, before_id)
        active = _put_away(connection, signature_id)
        if active:
            make_active(connection, before_id)
    return active


def restore(database: Database, signature_id: str, *, active: bool) -> None:
    """Undo a deletion; an active signature takes the place of the one before."""
    with database.transaction() as connection:
        undelete(connection, signature_id)
        if active:
            _deactivate(connection, _target_of(connection, signature_id))
            connection.execute("UPDATE signatures SET active = 1 WHERE id = ?", (signature_id,))


def undelete(connection: sqlite3.Connection, signature_id: str) -> None:
    """Undo a deletion, the signature not active; inside a transaction."""
    connection.execute("UPDATE signatures SET deleted_ns = NULL WHERE id = ?", (signature_id,))


def _put_away(connection: sqlite3.Connection, signature_id: str) -> bool:
    """Delete a signature; returns whether it was active."""
    _target_of(connection, signature_id)
    (active,) = connection.execute(
        "SELECT active FROM signatures WHERE id = ?", (signature_id,)
    ).fetchone()
    connection.execute(
        "UPDATE signatures SET active = 0, deleted_ns = ? WHERE id = ?",
        (time.time_ns(), signature_id),
    )
    return bool(active)


def _deactivate(connection: sqlite3.Connection, target_id: int) -> None:
    connection.execute("UPDATE signatures SET active = 0 WHERE target_id = ?", (target_id,))


def _target_of(connection: sqlite3.Connection, signature_id: str) -> int:
    found = connection.execute(
        "SELECT target_id FROM signatures WHERE id = ? AND deleted_ns IS NULL", (signature_id,)
    ).fetchone()
    if found is None:
        raise InputError(
            f"signature {signature_id}", "there is none of this id", "run `ctm probe list`"
        )
    return int(found[0])


def _measurement_ids(connection: sqlite3.Connection, signature_id: str) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT measurement_id FROM signature_measurements WHERE signature_id = ?"
        " ORDER BY position",
        (signature_id,),
    )
    return tuple(name for (name,) in rows)
