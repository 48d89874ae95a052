"""Records of reports that were written: title, file and the predictions that they show."""

from __future__ import annotations

from collections.abc import Sequence

from predictor.core.prediction import Prediction
from predictor.store.database import Database
from predictor.store.tables import Tables
from predictor.store.values import new_id, next_time, text_in


def add(database: Database, title: str, path: str, prediction_ids: Sequence[str]) -> str:
    """Store that a report of stored predictions was written; returns its id."""
    identity = new_id()
    words = {"title": text_in(title), "path": text_in(path)}
    with database.transaction() as db:
        db.table("reports").insert(
            {"id": identity, **words, "created_ns": next_time(db, "reports")}
        )
        db.table("report_predictions").insert_all(
            {"report_id": identity, "prediction_id": prediction} for prediction in prediction_ids
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
    with database.reading() as db:
        return [_newest(db, prediction, settings) for prediction, settings in predictions]


def _newest(db: Tables, prediction: Prediction, settings_hash: str) -> str | None:
    rows = db.query(
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
    )
    return next((row["id"] for row in rows), None)
