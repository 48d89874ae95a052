"""Measurements with every sample. They are added and read; nothing changes or removes them.

One that was typed by mistake can be withdrawn: it stays, and no reading gives it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Any

from predictor.core import fields
from predictor.core.errors import InputError
from predictor.core.records import Measurement
from predictor.core.stored import StoredMeasurement
from predictor.store import targets
from predictor.store.database import Database
from predictor.store.tables import Tables
from predictor.store.values import Columns, next_time

_COLUMNS = Columns(fields.MEASUREMENT)
_SELECT = (
    f"SELECT measurements.*, {targets.COLUMNS}"  # noqa: S608 - our own words
    " FROM measurements JOIN targets ON targets.id = target_id"
)


def add(
    database: Database,
    measurement: Measurement,
    session_id: str | None = None,
    prediction_id: str | None = None,
) -> None:
    """Store one measurement; it is on the disk when this returns.

    Args:
        database: open.
        measurement: the record.
        session_id: of the probe session that it belongs to.
        prediction_id: of the prediction that it was recorded for.
    """
    with database.transaction() as db:
        created_ns = next_time(db, "measurements")
        insert_stored(db, [StoredMeasurement(measurement, created_ns, prediction_id)], session_id)


def insert_stored(
    db: Tables, measurements: Iterable[StoredMeasurement], session_id: str | None = None
) -> None:
    """Store measurements with the times when they were stored first; inside a transaction."""
    # Thousands of rows share a few targets.
    target = lru_cache(maxsize=None)(partial(targets.put, db))
    db.table("measurements").insert_all(
        {
            **_COLUMNS.values(stored.measurement),
            "target_id": target(stored.measurement.device_id, stored.measurement.configuration),
            "session_id": session_id,
            "prediction_id": stored.prediction_id,
            "created_ns": stored.created_ns,
        }
        for stored in measurements
    )


def of_session(database: Database, session_id: str) -> list[Measurement]:
    """Return the measurements of a probe session, the oldest first."""
    return _records(database, "session_id = ?", session_id)


def of_signature(database: Database, signature_id: str) -> list[Measurement]:
    """Return the measurements of a signature, the oldest first."""
    condition = (
        "measurements.id IN (SELECT measurement_id FROM signature_measurements"
        " WHERE signature_id = ?)"
    )
    return _records(database, condition, signature_id)


def of_ids(database: Database, ids: Iterable[str]) -> list[Measurement]:
    """Return the measurements of these ids that there are, the oldest first."""
    # As one JSON text: SQLite limits the number of parameters in a statement.
    chosen = json.dumps(sorted(set(ids)))
    return _records(database, "measurements.id IN (SELECT value FROM json_each(?))", chosen)


def of_no_signature(database: Database) -> list[Measurement]:
    """Return the measurements of no signature and no probe session, the oldest first."""
    condition = (
        "session_id IS NULL AND measurements.id NOT IN"
        " (SELECT measurement_id FROM signature_measurements)"
    )
    return _records(database, condition)


def of_predicted(database: Database) -> list[StoredMeasurement]:
    """Return the measurements of graphs that have a prediction, the oldest first."""
    condition = "fingerprint IN (SELECT fingerprint FROM predictions WHERE deleted_ns IS NULL)"
    return _read(database, condition)


def of_fingerprints(database: Database, fingerprints: Iterable[str]) -> list[Measurement]:
    """Return the measurements of graphs, the oldest first."""
    chosen = json.dumps(sorted(set(fingerprints)))
    return _records(database, "fingerprint IN (SELECT value FROM json_each(?))", chosen)


def load_all(database: Database) -> list[StoredMeasurement]:
    """Return all measurements, the oldest first."""
    return _read(database, "1")


def by_id(db: Tables, measurement_id: str) -> StoredMeasurement | None:
    """Return one measurement, withdrawn or not; None where there is none of this id."""
    rows = db.query(f"{_SELECT} WHERE measurements.id = ?", (measurement_id,))
    return next((_stored(row) for row in rows), None)


def withdraw(db: Tables, measurement_id: str) -> None:
    """Leave a measurement out from now on, which ``reinstate`` undoes; inside a transaction.

    Raises:
        InputError: a signature that was not deleted uses it.
    """
    rows = db.query(
        "SELECT signature_id FROM signature_measurements JOIN signatures"
        " ON signatures.id = signature_id WHERE measurement_id = ? AND deleted_ns IS NULL",
        (measurement_id,),
    )
    used = next(rows, None)
    if used is not None:
        raise InputError(
            f"measurement {measurement_id}",
            f"signature {used['signature_id']} uses it",
            "delete that signature first, or leave the measurement out of it",
        )
    db.table("measurements").update(measurement_id, {"withdrawn_ns": time.time_ns()})


def is_withdrawn(db: Tables, measurement_id: str) -> bool:
    """Return whether a measurement was withdrawn."""
    where = "id = ? AND withdrawn_ns IS NOT NULL"
    return bool(db.table("measurements").count_where(where, (measurement_id,)))


def reinstate(db: Tables, measurement_id: str) -> None:
    """Undo a withdrawal; inside a transaction."""
    db.table("measurements").update(measurement_id, {"withdrawn_ns": None})


def _records(database: Database, condition: str, *values: str) -> list[Measurement]:
    return [stored.measurement for stored in _read(database, condition, *values)]


def _read(database: Database, condition: str, *values: str) -> list[StoredMeasurement]:
    with database.reading() as db:
        rows = db.query(
            f"{_SELECT} WHERE {condition} AND withdrawn_ns IS NULL"
            " ORDER BY created_ns, measurements.rowid",
            values,
        )
        return [_stored(row) for row in rows]


def _stored(row: Mapping[str, Any]) -> StoredMeasurement:
    record = Measurement(**_COLUMNS.fields(row))
    return StoredMeasurement(record, row["created_ns"], row["prediction_id"])
