"""Measurements with every sample. They are added and read; nothing changes or removes them.

One that was typed by mistake can be withdrawn: it stays, and no reading gives it.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from predictor.core.errors import InputError
from predictor.core.records import Measurement
from predictor.store import targets
from predictor.store.database import Database
from predictor.store.values import pack_samples, text_in, text_out, unpack_samples


@dataclass(frozen=True, slots=True)
class StoredMeasurement:
    """A measurement and what the store knows about it.

    Attributes:
        measurement: the record.
        created_ns: when it was stored, since 1970.
        prediction_id: of the prediction that it was recorded for, None where it was for none.
    """

    measurement: Measurement
    created_ns: int
    prediction_id: str | None = None


_SELECT = (
    f"SELECT measurements.id, fingerprint, {targets.COLUMNS}, samples_ns, value_ms,"  # noqa: S608 - our own words
    " statistic, protocol, provenance, created_ns, prediction_id"
    " FROM measurements JOIN targets ON targets.id = target_id"
)


def add(database: Database, measurement: Measurement) -> None:
    """Store one measurement; it is on the disk when this returns."""
    with database.transaction() as connection:
        insert(connection, measurement)


def insert(
    connection: sqlite3.Connection,
    measurement: Measurement,
    session_id: str | None = None,
    prediction_id: str | None = None,
    created_ns: int | None = None,
) -> None:
    """Store one measurement; inside a transaction.

    Args:
        connection: of the store.
        measurement: the record.
        session_id: of the probe session that it belongs to.
        prediction_id: of the prediction that it was recorded for.
        created_ns: when it was stored first; None for now.
    """
    target_id = targets.put(connection, measurement.device_id, measurement.configuration)
    connection.execute(
        "INSERT INTO measurements (id, fingerprint, target_id, session_id, samples_ns, value_ms,"
        " statistic, protocol, provenance, created_ns, prediction_id)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            measurement.id,
            measurement.fingerprint,
            target_id,
            session_id,
            pack_samples(measurement.samples_ns),
            measurement.value_ms,
            measurement.statistic,
            measurement.protocol,
            text_in(measurement.provenance),
            time.time_ns() if created_ns is None else created_ns,
            prediction_id,
        ),
    )


def of_device(database: Database, device_id: str) -> list[Measurement]:
    """Return the measurements on a device in all its configurations, the oldest first."""
    return _records(database, "targets.device_id = ?", device_id)


def of_session(database: Database, session_id: str) -> list[Measurement]:
    """Return the measurements of a probe session, the oldest first."""
    return _records(database, "measurements.session_id = ?", session_id)


def of_signature(database: Database, signature_id: str) -> list[Measurement]:
    """Return the measurements of a signature, the oldest first."""
    condition = (
        "measurements.id IN (SELECT measurement_id FROM signature_measurements"
        " WHERE signature_id = ?)"
    )
    return _records(database, condition, signature_id)


def of_ids(database: Database, ids: Iterable[str]) -> list[Measurement]:
    """Return the measurements of these ids that there are, the oldest first."""
    wanted = json.dumps(sorted(set(ids)))
    return _records(database, "measurements.id IN (SELECT value FROM json_each(?))", wanted)


def of_no_signature(database: Database) -> list[Measurement]:
    """Return the measurements of no signature and no probe session, the oldest first."""
    condition = (
        "session_id IS NULL AND measurements.id NOT IN"
        " (SELECT measurement_id FROM signature_measurements)"
    )
    return [stored.measurement for stored in _read(database, condition)]


def of_predicted(database: Database) -> list[StoredMeasurement]:
    """Return the measurements of graphs that have a prediction, the oldest first."""
    condition = "fingerprint IN (SELECT fingerprint FROM predictions WHERE deleted_ns IS NULL)"
    return _read(database, condition)


def of_fingerprints(database: Database, fingerprints: Iterable[str]) -> list[StoredMeasurement]:
    """Return the measurements of graphs, the oldest first."""
    wanted = json.dumps(sorted(set(fingerprints)))
    return _read(database, "fingerprint IN (SELECT value FROM json_each(?))", wanted)


def every(database: Database) -> list[StoredMeasurement]:
    """Return all measurements, the oldest first."""
    return _read(database, "1")


def by_id(connection: sqlite3.Connection, measurement_id: str) -> StoredMeasurement | None:
    """Return one measurement, withdrawn or not; None where there is none of this id."""
    row = connection.execute(f"{_SELECT} WHERE measurements.id = ?", (measurement_id,)).fetchone()
    return None if row is None else _stored(row)


def withdraw(connection: sqlite3.Connection, measurement_id: str) -> None:
    """Leave a measurement out from now on, which ``reinstate`` undoes; inside a transaction.

    Raises:
        InputError: a signature that was not deleted uses it.
    """
    used = connection.execute(
        "SELECT signature_id FROM signature_measurements JOIN signatures"
        " ON signatures.id = signature_id WHERE measurement_id = ? AND deleted_ns IS NULL",
        (measurement_id,),
    ).fetchone()
    if used is not None:
        raise InputError(
            f"measurement {measurement_id}",
            f"signature {used[0]} uses it",
            "delete that signature first, or leave the measurement out of it",
        )
    connection.execute(
        "UPDATE measurements SET withdrawn_ns = ? WHERE id = ?", (time.time_ns(), measurement_id)
    )


def is_withdrawn(connection: sqlite3.Connection, measurement_id: str) -> bool:
    """Return whether a measurement was withdrawn."""
    found = connection.execute(
        "SELECT 1 FROM measurements WHERE id = ? AND withdrawn_ns IS NOT NULL", (measurement_id,)
    ).fetchone()
    return found is not None


def reinstate(connection: sqlite3.Connection, measurement_id: str) -> None:
    """Undo a withdrawal; inside a transaction."""
    connection.execute(
        "UPDATE measurements SET withdrawn_ns = NULL WHERE id = ?", (measurement_id,)
    )


def _records(database: Database, condition: str, value: str) -> list[Measurement]:
    return [stored.measurement for stored in _read(database, condition, value)]


def _read(database: Database, condition: str, *values: str) -> list[StoredMeasurement]:
    with database.reading() as connection:
        rows = connection.execute(
            f"{_SELECT} WHERE {condition} AND withdrawn_ns IS NULL"
            " ORDER BY created_ns, measurements.rowid",
            values,
        )
        return [_stored(row) for row in rows]


def _stored(row: tuple[Any, ...]) -> StoredMeasurement:
    identity, fingerprint, samples, value_ms, statistic, protocol, provenance = (
        *row[:2],
        *row[7:12],
    )
    measurement = Measurement(
        identity,
        fingerprint,
        *targets.from_columns(row[2:7]),
        unpack_samples(samples),
        value_ms=value_ms,
        statistic=statistic,
        protocol=protocol,
        provenance=text_out(provenance),
    )
    return StoredMeasurement(measurement, *row[12:])
