"""Predictions as they were made: each one a record, never changed and never merged.

The user's tags and note stand apart from it. A deleted one is kept for a while and can be
restored.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from predictor.core import fields
from predictor.core.documents import NO_SETTINGS, PredictionSettings
from predictor.core.prediction import Prediction
from predictor.core.stored import StoredPrediction
from predictor.store import targets
from predictor.store.database import Database
from predictor.store.tables import Tables
from predictor.store.values import Columns, names_out, new_id, next_time, text_in, text_out


@dataclass(frozen=True, slots=True)
class NewPrediction:
    """A prediction to be stored, the row id of its model's file, and its settings."""

    prediction: Prediction
    file_id: int | None
    settings_hash: str
    settings: PredictionSettings = NO_SETTINGS


_COLUMNS = Columns(fields.PREDICTION)
_SELECT = (
    f"SELECT predictions.*, path, tags, note, {targets.COLUMNS}"  # noqa: S608 - our own words
    " FROM predictions JOIN targets ON targets.id = target_id"
    " LEFT JOIN model_files ON model_files.id = file_id"
    " LEFT JOIN prediction_marks ON prediction_id = predictions.id"
)


def add(db: Tables, predictions: Iterable[NewPrediction]) -> list[str]:
    """Store predictions and return their ids in order; inside a transaction."""
    now_ns = next_time(db, "predictions")
    rows = [(new_id(), now_ns, new) for new in predictions]
    _insert(db, rows)
    return [identity for identity, _, _ in rows]


def insert(db: Tables, predictions: Iterable[StoredPrediction]) -> None:
    """Store predictions under their own ids and times, with their marks; inside a transaction."""
    stored = list(predictions)
    _insert(
        db,
        (
            (s.id, s.created_ns, NewPrediction(s.prediction, None, s.settings_hash, s.settings))
            for s in stored
        ),
    )
    for row in stored:
        if row.tags or row.note:
            mark(db, row.id, row.tags, row.note)


def recent(database: Database, limit: int) -> list[StoredPrediction]:
    """Return the last ``limit`` predictions that were not deleted, the newest first."""
    with database.reading() as db:
        # By rowid too: predictions that were stored together have the same time.
        rows = db.query(
            f"{_SELECT} WHERE deleted_ns IS NULL"
            " ORDER BY predictions.created_ns DESC, predictions.rowid DESC LIMIT ?",
            (limit,),
        )
        return [_stored(row) for row in rows]


def by_id(db: Tables, prediction_id: str) -> StoredPrediction | None:
    """Return one prediction, deleted or not; None where there is none of this id."""
    rows = db.query(f"{_SELECT} WHERE predictions.id = ?", (prediction_id,))
    return next((_stored(row) for row in rows), None)


def newest_of(database: Database, prediction: Prediction) -> StoredPrediction | None:
    """Return the newest record that equals ``prediction`` and was not deleted."""
    with database.reading() as db:
        rows = db.query(
            f"{_SELECT} WHERE predictions.fingerprint = ? AND targets.device_id = ?"
            " AND deleted_ns IS NULL ORDER BY predictions.created_ns DESC, predictions.rowid DESC",
            (prediction.fingerprint, prediction.device_id),
        )
        return next((s for s in map(_stored, rows) if s.prediction == prediction), None)


def count(database: Database) -> int:
    """Return the number of predictions that were not deleted."""
    with database.reading() as db:
        return db.table("predictions").count_where("deleted_ns IS NULL")


def mark(db: Tables, prediction_id: str, tags: Sequence[str], note: str) -> None:
    """Set a prediction's tags and note; neither takes its mark away. Inside a transaction."""
    marks = db.table("prediction_marks")
    if tags or note:
        words = {"tags": json.dumps(list(tags)), "note": text_in(note)}
        marks.upsert({"prediction_id": prediction_id, **words}, pk="prediction_id")
    else:
        marks.delete_where("prediction_id = ?", (prediction_id,))


def delete(database: Database, ids: Sequence[str]) -> None:
    """Delete predictions, which ``restore`` undoes until they are purged."""
    with database.transaction() as db:
        _set_deleted(db, ids, time.time_ns())


def restore(db: Tables, ids: Sequence[str]) -> None:
    """Undo a deletion; inside a transaction."""
    _set_deleted(db, ids, None)


def is_deleted(db: Tables, prediction_id: str) -> bool:
    """Return whether a prediction was deleted."""
    where = "id = ? AND deleted_ns IS NOT NULL"
    return bool(db.table("predictions").count_where(where, (prediction_id,)))


def purge(database: Database, before_ns: int) -> None:
    """Remove for good the predictions deleted before a time, and graphs of those alone."""
    # A look first: a write transaction for nothing would wait for other writers.
    old = ("deleted_ns < ?", (before_ns,))
    with database.reading() as db:
        if not db.table("predictions").count_where(*old):
            return
    with database.transaction() as db:
        db.table("predictions").delete_where(*old)
        db.table("models").delete_where(
            "fingerprint NOT IN (SELECT fingerprint FROM predictions)"
            " AND fingerprint NOT IN (SELECT fingerprint FROM measurements)"
        )


def _insert(db: Tables, rows: Iterable[tuple[str, int, NewPrediction]]) -> None:
    # Thousands of rows share a few targets.
    target = lru_cache(maxsize=None)(partial(targets.put, db))
    db.insert(
        "predictions",
        (
            {
                "id": identity,
                "created_ns": created_ns,
                "target_id": target(new.prediction.device_id, new.prediction.configuration),
                "file_id": new.file_id,
                "settings_hash": new.settings_hash,
                "settings": new.settings.to_json(),
                **_COLUMNS.values(new.prediction),
            }
            for identity, created_ns, new in rows
        ),
    )


def _set_deleted(db: Tables, ids: Sequence[str], deleted_ns: int | None) -> None:
    # Not Table.update, which reads each row before it: 0.9 s for 5 000 predictions, this 0.03 s.
    db.conn.executemany(
        "UPDATE predictions SET deleted_ns = ? WHERE id = ?", [(deleted_ns, i) for i in ids]
    )


def _stored(row: Mapping[str, Any]) -> StoredPrediction:
    return StoredPrediction(
        id=row["id"],
        created_ns=row["created_ns"],
        path=text_out(row["path"] or ""),
        settings_hash=text_out(row["settings_hash"]),
        prediction=Prediction(**_COLUMNS.fields(row)),
        settings=_settings(row["settings"]),
        tags=names_out(row["tags"] or "[]"),
        note=text_out(row["note"] or ""),
    )


@lru_cache(maxsize=256)
def _settings(text: str) -> PredictionSettings:
    """Return the settings of a text; thousands of predictions have the same."""
    return PredictionSettings(text=text)
