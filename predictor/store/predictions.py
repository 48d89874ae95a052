"""Predictions as they were made: each one a record, never changed and never merged.

What the user says of one (tags, a note) stands apart from it. A deleted one is kept for a while
and can be restored.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from predictor.core.records import Basis, Prediction
from predictor.store import targets
from predictor.store.database import Database
from predictor.store.values import new_id, text_in, text_out


@dataclass(frozen=True, slots=True)
class StoredPrediction:
    """A prediction and what the store knows about it.

    Attributes:
        id: UUID hex.
        created_ns: when it was recorded, since 1970.
        path: of the model's file, empty where it is not known.
        settings_hash: SHA-256 (hex) of what it was made with, besides model and device.
        prediction: the record.
        settings: what it was made with and no field of it tells, as a JSON object.
        tags: the user's words for it, in order.
        note: the user's remark.
    """

    id: str
    created_ns: int
    path: str
    settings_hash: str
    prediction: Prediction
    settings: str = "{}"
    tags: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class NewPrediction:
    """A prediction to be stored, the row id of its model's file, and what it was made with."""

    prediction: Prediction
    file_id: int | None
    settings_hash: str
    settings: str = "{}"


_COLUMNS = (
    "model, predictions.fingerprint, engine, basis, latency_ms, low80_ms, high80_ms, low95_ms,"
    " high95_ms, predicted_ms, bound_ms, fits_memory, problem, out_of_distribution, signature_id,"
    " flagged_operators, predictions.provenance, fine_tuned, by_operators"
)
_INSERT = (
    "INSERT INTO predictions"  # noqa: S608 - our own words
    " (id, target_id, file_id, settings_hash, settings, created_ns,"
    f" {_COLUMNS.replace('predictions.', '')}) VALUES ({', '.join('?' * 25)})"
)
_SELECT = (
    "SELECT predictions.id, predictions.created_ns, model_files.path, settings_hash, settings,"  # noqa: S608 - our own words
    f" tags, note, {targets.COLUMNS},"
    f" {_COLUMNS}"
    " FROM predictions JOIN targets ON targets.id = target_id"
    " LEFT JOIN model_files ON model_files.id = file_id"
    " LEFT JOIN prediction_marks ON prediction_id = predictions.id"
)


def add(connection: sqlite3.Connection, predictions: Iterable[NewPrediction]) -> list[str]:
    """Store predictions and return their ids in order; inside a transaction."""
    now_ns = time.time_ns()
    rows = [(new_id(), new) for new in predictions]
    connection.executemany(
        _INSERT, (_row(connection, identity, new, now_ns) for identity, new in rows)
    )
    return [identity for identity, _ in rows]


def insert(connection: sqlite3.Connection, stored: StoredPrediction) -> None:
    """Store a prediction under its own id and time, with its marks; inside a transaction."""
    new = NewPrediction(stored.prediction, None, stored.settings_hash, stored.settings)
    connection.execute(_INSERT, _row(connection, stored.id, new, stored.created_ns))
    mark(connection, stored.id, stored.tags, stored.note)


def recent(database: Database, limit: int) -> list[StoredPrediction]:
    """Return the last ``limit`` predictions that were not deleted, the newest first."""
    with database.reading() as connection:
        rows = connection.execute(
            f"{_SELECT} WHERE deleted_ns IS NULL"
            " ORDER BY predictions.created_ns DESC, predictions.rowid DESC LIMIT ?",
            (limit,),
        )
        return [_stored(row) for row in rows]


def by_id(connection: sqlite3.Connection, prediction_id: str) -> StoredPrediction | None:
    """Return one prediction, deleted or not; None where there is none of this id."""
    row = connection.execute(f"{_SELECT} WHERE predictions.id = ?", (prediction_id,)).fetchone()
    return None if row is None else _stored(row)


def newest_of(database: Database, prediction: Prediction) -> StoredPrediction | None:
    """Return the newest record that says what ``prediction`` says and was not deleted."""
    with database.reading() as connection:
        rows = connection.execute(
            f"{_SELECT} WHERE predictions.fingerprint = ? AND targets.device_id = ?"
            " AND deleted_ns IS NULL ORDER BY predictions.created_ns DESC, predictions.rowid DESC",
            (prediction.fingerprint, prediction.device_id),
        )
        return next((s for s in map(_stored, rows) if s.prediction == prediction), None)


def count(database: Database) -> int:
    """Return how many predictions there are that were not deleted."""
    with database.reading() as connection:
        (number,) = connection.execute(
            "SELECT count(*) FROM predictions WHERE deleted_ns IS NULL"
        ).fetchone()
        return int(number)


def mark(
    connection: sqlite3.Connection, prediction_id: str, tags: Sequence[str], note: str
) -> None:
    """Set a prediction's tags and note; neither takes its mark away. Inside a transaction."""
    if not tags and not note:
        connection.execute("DELETE FROM prediction_marks WHERE prediction_id = ?", (prediction_id,))
        return
    connection.execute(
        "INSERT INTO prediction_marks (prediction_id, tags, note) VALUES (?, ?, ?)"
        " ON CONFLICT (prediction_id) DO UPDATE SET tags = excluded.tags, note = excluded.note",
        (prediction_id, json.dumps(list(tags)), text_in(note)),
    )


def delete(database: Database, ids: Sequence[str]) -> None:
    """Delete predictions, which ``restore`` undoes until they are purged."""
    now_ns = time.time_ns()
    with database.transaction() as connection:
        connection.executemany(
            "UPDATE predictions SET deleted_ns = ? WHERE id = ?", [(now_ns, i) for i in ids]
        )


def is_deleted(connection: sqlite3.Connection, prediction_id: str) -> bool:
    """Return whether a prediction was deleted."""
    found = connection.execute(
        "SELECT 1 FROM predictions WHERE id = ? AND deleted_ns IS NOT NULL", (prediction_id,)
    ).fetchone()
    return found is not None


def restore(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Undo a deletion; inside a transaction."""
    connection.executemany(
        "UPDATE predictions SET deleted_ns = NULL WHERE id = ?", [(i,) for i in ids]
    )


def purge(database: Database, before_ns: int) -> None:
    """Remove for good what was deleted before a time, and the graphs that only those had."""
    with database.reading() as connection:
        old = connection.execute(
            "SELECT 1 FROM predictions WHERE deleted_ns < ? LIMIT 1", (before_ns,)
        ).fetchone()
    if old is None:
        return
    with database.transaction() as connection:
        connection.execute("DELETE FROM predictions WHERE deleted_ns < ?", (before_ns,))
        connection.execute(
            "DELETE FROM models WHERE fingerprint NOT IN (SELECT fingerprint FROM predictions)"
            " AND fingerprint NOT IN (SELECT fingerprint FROM measurements)"
        )


def _row(
    connection: sqlite3.Connection, identity: str, new: NewPrediction, created_ns: int
) -> tuple[Any, ...]:
    prediction = new.prediction
    return (
        identity,
        targets.put(connection, prediction.device_id, prediction.configuration),
        new.file_id,
        new.settings_hash,
        new.settings,
        created_ns,
        text_in(prediction.model),
        prediction.fingerprint,
        prediction.engine,
        None if prediction.basis is None else str(prediction.basis),
        prediction.latency_ms,
        prediction.low80_ms,
        prediction.high80_ms,
        prediction.low95_ms,
        prediction.high95_ms,
        prediction.predicted_ms,
        prediction.bound_ms,
        prediction.fits_memory,
        text_in(prediction.problem),
        text_in(prediction.out_of_distribution),
        prediction.signature,
        json.dumps(prediction.flagged_operators),
        text_in(prediction.provenance),
        prediction.fine_tuned,
        prediction.by_operators,
    )


def _stored(row: tuple[Any, ...]) -> StoredPrediction:
    identity, created_ns, path, settings_hash, settings, tags, note = row[:7]
    return StoredPrediction(
        identity,
        created_ns,
        "" if path is None else text_out(path),
        settings_hash,
        _prediction(row[7:]),
        settings,
        () if tags is None else tuple(json.loads(tags)),
        "" if note is None else text_out(note),
    )


def _prediction(row: tuple[Any, ...]) -> Prediction:
    device_id, configuration = targets.from_columns(row[:5])
    model, fingerprint, engine, basis = row[5:9]
    latency_ms, low80_ms, high80_ms, low95_ms, high95_ms = row[9:14]
    predicted_ms, bound_ms, fits_memory, problem = row[14:18]
    out_of_distribution, signature, flagged_operators, provenance = row[18:22]
    fine_tuned, by_operators = row[22:]
    return Prediction(
        model=text_out(model),
        fingerprint=fingerprint,
        device_id=device_id,
        configuration=configuration,
        engine=engine,
        basis=None if basis is None else Basis(basis),
        latency_ms=latency_ms,
        low80_ms=low80_ms,
        high80_ms=high80_ms,
        low95_ms=low95_ms,
        high95_ms=high95_ms,
        bound_ms=bound_ms,
        predicted_ms=predicted_ms,
        fits_memory=None if fits_memory is None else bool(fits_memory),
        problem=text_out(problem),
        out_of_distribution=text_out(out_of_distribution),
        signature=signature,
        flagged_operators=tuple(json.loads(flagged_operators)),
        provenance=text_out(provenance),
        fine_tuned=bool(fine_tuned),
        by_operators=bool(by_operators),
    )
