"""Predictions as they were made: each one a record, never changed and never merged."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable
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
    """

    id: str
    created_ns: int
    path: str
    settings_hash: str
    prediction: Prediction


@dataclass(frozen=True, slots=True)
class NewPrediction:
    """A prediction to be stored, the row id of its model's file and the hash of its settings."""

    prediction: Prediction
    file_id: int | None
    settings_hash: str


_COLUMNS = (
    "model, fingerprint, engine, basis, latency_ms, low80_ms, high80_ms, low95_ms, high95_ms,"
    " bound_ms, fits_memory, problem, out_of_distribution, signature_id, flagged_operators"
)
_INSERT = (
    f"INSERT INTO predictions (id, target_id, file_id, settings_hash, created_ns, {_COLUMNS})"  # noqa: S608 - our own words
    f" VALUES ({', '.join('?' * 20)})"
)
_SELECT = (
    "SELECT predictions.id, predictions.created_ns, model_files.path, settings_hash,"  # noqa: S608 - our own words
    f" {targets.COLUMNS}, {_COLUMNS.replace('fingerprint', 'predictions.fingerprint')}"
    " FROM predictions JOIN targets ON targets.id = target_id"
    " LEFT JOIN model_files ON model_files.id = file_id"
    " ORDER BY predictions.created_ns DESC, predictions.rowid DESC LIMIT ?"
)


def add(connection: sqlite3.Connection, predictions: Iterable[NewPrediction]) -> list[str]:
    """Store predictions and return their ids in order; inside a transaction."""
    now_ns = time.time_ns()
    rows = [(new_id(), new) for new in predictions]
    connection.executemany(
        _INSERT,
        (
            (
                identity,
                targets.put(connection, new.prediction.device_id, new.prediction.configuration),
                new.file_id,
                new.settings_hash,
                now_ns,
                *_values(new.prediction),
            )
            for identity, new in rows
        ),
    )
    return [identity for identity, _ in rows]


def recent(database: Database, limit: int) -> list[StoredPrediction]:
    """Return the last ``limit`` predictions, the newest first."""
    with database.reading() as connection:
        return [_stored(row) for row in connection.execute(_SELECT, (limit,))]


def _values(prediction: Prediction) -> tuple[Any, ...]:
    return (
        text_in(prediction.model),
        prediction.fingerprint,
        prediction.engine,
        None if prediction.basis is None else str(prediction.basis),
        prediction.latency_ms,
        prediction.low80_ms,
        prediction.high80_ms,
        prediction.low95_ms,
        prediction.high95_ms,
        prediction.bound_ms,
        prediction.fits_memory,
        text_in(prediction.problem),
        text_in(prediction.out_of_distribution),
        prediction.signature,
        json.dumps(prediction.flagged_operators),
    )


def _stored(row: tuple[Any, ...]) -> StoredPrediction:
    identity, created_ns, path, settings_hash = row[:4]
    device_id, configuration = targets.from_columns(row[4:9])
    model, fingerprint, engine, basis = row[9:13]
    latency_ms, low80_ms, high80_ms, low95_ms, high95_ms, bound_ms = row[13:19]
    fits_memory, problem, out_of_distribution, signature, flagged_operators = row[19:]
    prediction = Prediction(
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
        fits_memory=None if fits_memory is None else bool(fits_memory),
        problem=text_out(problem),
        out_of_distribution=text_out(out_of_distribution),
        signature=signature,
        flagged_operators=tuple(json.loads(flagged_operators)),
    )
    return StoredPrediction(
        identity, created_ns, "" if path is None else text_out(path), settings_hash, prediction
    )
