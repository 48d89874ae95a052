"""Reports that were written: what they were about and where they went."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from predictor.core.records import Prediction
from predictor.store.database import Database
from predictor.store.values import new_id, text_in, text_out


@dataclass(frozen=True, slots=True)
class StoredReport:
    """A report that was written.

    Attributes:
        id: UUID hex.
        title: of the report.
        path: of its file when it was written.
        created_ns: when it was recorded, since 1970.
        prediction_ids: of the predictions that it shows.
    """

    id: str
    title: str
    path: str
    created_ns: int
    prediction_ids: tuple[str, ...]


def add(database: Database, title: str, path: str, prediction_ids: Sequence[str]) -> str:
    """Store that a report of stored predictions was written; returns its id."""
    identity = new_id()
    with database.transaction() as connection:
        connection.execute(
            "INSERT INTO reports (id, title, path, created_ns) VALUES (?, ?, ?, ?)",
            (identity, text_in(title), text_in(path), time.time_ns()),
        )
        connection.executemany(
            "INSERT INTO report_predictions (report_id, prediction_id) VALUES (?, ?)",
            [(identity, prediction) for prediction in prediction_ids],
        )
    return identity


def prediction_ids(
    database: Database, predictions: Sequence[tuple[Prediction, str]]
) -> list[str | None]:
    """Return the id of the newest record of each prediction, None where there is none.

    Args:
        database: the store.
        predictions: each with the hash of its settings.
    """
    with database.reading() as connection:
        return [_newest(connection, prediction, settings) for prediction, settings in predictions]


def _newest(
    connection: sqlite3.Connection, prediction: Prediction, settings_hash: str
) -> str | None:
    row = connection.execute(
        "SELECT predictions.id FROM predictions JOIN targets ON targets.id = target_id"
        " WHERE fingerprint = ? AND model = ? AND settings_hash = ? AND device_id = ?"
        " AND latency_ms IS ? ORDER BY predictions.created_ns DESC, predictions.rowid DESC LIMIT 1",
        (
            prediction.fingerprint,
            text_in(prediction.model),
            settings_hash,
            prediction.device_id,
            prediction.latency_ms,
        ),
    ).fetchone()
    return None if row is None else str(row[0])


def every(database: Database) -> list[StoredReport]:
    """Return all reports, the oldest first."""
    with database.reading() as connection:
        rows = connection.execute(
            "SELECT id, title, path, created_ns FROM reports ORDER BY created_ns, rowid"
        ).fetchall()
        return [
            StoredReport(
                identity,
                text_out(title),
                text_out(path),
                created_ns,
                _prediction_ids(connection, identity),
            )
            for identity, title, path, created_ns in rows
        ]


def _prediction_ids(connection: sqlite3.Connection, report_id: str) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT prediction_id FROM report_predictions WHERE report_id = ? ORDER BY rowid",
        (report_id,),
    )
    return tuple(identity for (identity,) in rows)
