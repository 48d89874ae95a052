"""Records under fingerprints of a former recipe, and their renewal when a model is opened."""

from __future__ import annotations

import json
from collections.abc import Iterable

from predictor.store.database import Database
from predictor.store.tables import Tables

_STORED = (
    "SELECT 1 FROM models WHERE fingerprint = ?1"
    " UNION ALL SELECT 1 FROM measurements WHERE fingerprint = ?1"
)
_COPY = (
    "INSERT OR IGNORE INTO models (fingerprint, graph, created_ns)"
    " SELECT ?, ?, created_ns FROM models WHERE fingerprint = ?"
)
_RENEW = (
    "UPDATE OR IGNORE model_files SET fingerprint = ? WHERE fingerprint = ?",
    "UPDATE predictions SET fingerprint = ? WHERE fingerprint = ?",
    "UPDATE measurements SET fingerprint = ? WHERE fingerprint = ?",
    "INSERT OR REPLACE INTO former_fingerprints (fingerprint, former) VALUES (?, ?)",
)


def has_records(database: Database, fingerprint: str) -> bool:
    """Return whether a graph or a measurement is stored under a fingerprint."""
    with database.reading() as db:
        return db.execute(_STORED, (fingerprint,)).fetchone() is not None


def renew(db: Tables, former: str, fingerprint: str, graph: bytes) -> None:
    """Move all records of a former fingerprint to the current one; inside a transaction.

    Args:
        db: the tables.
        former: fingerprint by the former recipe.
        fingerprint: the current one of the same graph.
        graph: its bytes.
    """
    db.execute(_COPY, (fingerprint, graph, former))
    for statement in _RENEW:
        db.execute(statement, (fingerprint, former))
    db.execute("DELETE FROM models WHERE fingerprint = ?", (former,))


def renewed(database: Database, fingerprints: Iterable[str]) -> dict[str, str]:
    """Return the current fingerprints of renewed ones, by the former."""
    chosen = json.dumps(sorted(set(fingerprints)))
    with database.reading() as db:
        rows = db.execute(
            "SELECT former, fingerprint FROM former_fingerprints"
            " WHERE former IN (SELECT value FROM json_each(?))",
            (chosen,),
        )
        return dict(rows.fetchall())
