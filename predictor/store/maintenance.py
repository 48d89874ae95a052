"""Contents and soundness of a store; one of an earlier schema is looked at as it is."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from predictor.store import migrations
from predictor.store.database import Database
from predictor.store.failures import has_code
from predictor.store.tables import Tables

TABLES = (
    "devices",
    "targets",
    "models",
    "model_files",
    "probe_sessions",
    "probes",
    "measurements",
    "signatures",
    "predictions",
    "prediction_marks",
    "reports",
    "token_rates",
    "settings",
)
# Columns whose text is a JSON document.
_DOCUMENTS = {
    "devices": ("description",),
    "probe_sessions": ("plan", "facts"),
    "probes": ("outcome",),
    "signatures": ("facts",),
    "predictions": ("flagged_operators", "settings"),
    "prediction_marks": ("tags",),
    "token_rates": ("run",),
    "settings": ("value",),
}


def info(database: Database) -> dict[str, object]:
    """Return path, size in bytes with the log, schema, journal and records of each table."""
    with database.reading() as db:
        present = set(db.library.table_names())
        return {
            "path": str(database.path),
            "size_bytes": _size_bytes(database),
            "schema": (migrations.applied_names(database.connection) or [""])[-1],
            "journal": db.library.journal_mode,
            "records": {
                table: db.table(table).count if table in present else 0 for table in TABLES
            },
        }


def info_of_none(path: Path) -> dict[str, object]:
    """Return the ``info`` of a store that is not there yet."""
    records = dict.fromkeys(TABLES, 0)
    return {"path": str(path), "size_bytes": 0, "schema": "", "journal": "", "records": records}


def problems(database: Database) -> list[str]:
    """Return the findings of SQLite's checks and of the store's, one sentence each."""
    with database.reading() as db:
        try:
            return [
                *_damage(db),
                *_foreign_objects(db),
                *_dangling(db),
                *_empty_signatures(db),
                *_withdrawn_in_use(db),
                *_wrong_documents(db),
            ]
        except sqlite3.DatabaseError as error:
            # Some damage is found by the check, some keeps the check itself from running.
            if not has_code(error, sqlite3.SQLITE_CORRUPT):
                raise
            return [f"The file is damaged: {error}."]


def _size_bytes(database: Database) -> int:
    log = database.path.with_name(f"{database.path.name}-wal")
    return sum(file.stat().st_size for file in (database.path, log) if file.exists())


def _damage(db: Tables) -> list[str]:
    rows = [str(row[0]) for row in db.execute("PRAGMA integrity_check")]
    return [] if rows == ["ok"] else [f"The file is damaged: {row}." for row in rows]


def _foreign_objects(db: Tables) -> list[str]:
    # A trigger runs inside our own statements: in a file from elsewhere, foreign SQL.
    rows = db.query(
        "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name"
    )
    return [
        f"It has the {row['type']} {row['name']}, which this program does not make." for row in rows
    ]


def _dangling(db: Tables) -> list[str]:
    return [
        f"Row {row} of {table} refers to a row of {parent} that does not exist."
        for table, row, parent, _ in db.execute("PRAGMA foreign_key_check")
    ]


def _empty_signatures(db: Tables) -> list[str]:
    rows = db.table("signatures").rows_where(
        "id NOT IN (SELECT signature_id FROM signature_measurements)", order_by="id"
    )
    return [f"Signature {row['id']} has no measurement." for row in rows]


def _withdrawn_in_use(db: Tables) -> list[str]:
    # A store of an earlier schema does not have the column yet.
    if "withdrawn_ns" not in db.table("measurements").columns_dict:
        return []
    rows = db.query(
        "SELECT signatures.id AS name, measurements.id AS used FROM signatures"
        " JOIN signature_measurements ON signature_id = signatures.id"
        " JOIN measurements ON measurements.id = measurement_id"
        " WHERE deleted_ns IS NULL AND withdrawn_ns IS NOT NULL"
    )
    return [
        f"Signature {row['name']} uses measurement {row['used']}, which was withdrawn."
        for row in rows
    ]


def _wrong_documents(db: Tables) -> list[str]:
    return [
        f"Column {column} of row {row['rowid']} of {table} is not JSON."
        for table, columns in _DOCUMENTS.items()
        for column in columns
        if column in db.table(table).columns_dict
        for row in db.table(table).rows_where(f"NOT json_valid({column})", select="rowid")
    ]
