"""Signatures: which measurements describe a target, and which of its signatures is in use."""

from __future__ import annotations

import sqlite3
import time

from predictor.core.records import Signature
from predictor.store import targets
from predictor.store.database import Database


def add(database: Database, signature: Signature) -> None:
    """Store a signature of stored measurements; an active one takes the place of the one before."""
    with database.transaction() as connection:
        target_id = targets.put(connection, signature.device_id, signature.configuration)
        if signature.active:
            connection.execute("UPDATE signatures SET active = 0 WHERE target_id = ?", (target_id,))
        connection.execute(
            "INSERT INTO signatures (id, target_id, active, created_ns) VALUES (?, ?, ?, ?)",
            (signature.id, target_id, signature.active, time.time_ns()),
        )
        connection.executemany(
            "INSERT INTO signature_measurements (signature_id, position, measurement_id)"
            " VALUES (?, ?, ?)",
            [(signature.id, place, name) for place, name in enumerate(signature.measurement_ids)],
        )


def every(database: Database) -> list[Signature]:
    """Return all signatures, the oldest first."""
    with database.reading() as connection:
        rows = connection.execute(
            f"SELECT signatures.id, active, {targets.COLUMNS}"  # noqa: S608 - our own words
            " FROM signatures JOIN targets ON targets.id = target_id"
            " ORDER BY created_ns, signatures.rowid"
        ).fetchall()
        return [
            Signature(
                identity,
                *targets.from_columns((*columns,)),
                _measurement_ids(connection, identity),
                active=bool(active),
            )
            for identity, active, *columns in rows
        ]


def _measurement_ids(connection: sqlite3.Connection, signature_id: str) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT measurement_id FROM signature_measurements WHERE signature_id = ?"
        " ORDER BY position",
        (signature_id,),
    )
    return tuple(name for (name,) in rows)
