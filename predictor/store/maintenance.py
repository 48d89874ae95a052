"""What the store holds, and whether it is sound; one of an earlier schema as it is."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from predictor.store import migrations
from predictor.store.database import Database
from predictor.store.failures import has_code

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
    "settings": ("value",),
}


def info(database: Database) -> dict[str, object]:
    """Return path, size in bytes with the log, schema, journal and records of each table."""
    with database.reading() as connection:
        (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
        known = _columns(connection)
        return {
            "path": str(database.path),
            "size_bytes": _size_bytes(database),
            "schema": (migrations.applied_names(connection) or [""])[-1],
            "journal": journal,
            "records": {
                table: _count(connection, table) if table in known else 0 for table in TABLES
            },
        }


def info_of_none(path: Path) -> dict[str, object]:
    """Return what ``info`` tells of a store that is not there yet."""
    records = dict.fromkeys(TABLES, 0)
    return {"path": str(path), "size_bytes": 0, "schema": "", "journal": "", "records": records}


def problems(database: Database) -> list[str]:
    """Return what SQLite's own checks and the references find, one sentence each."""
    with database.reading() as connection:
        try:
            return [
                *_damage(connection),
                *_foreign_objects(connection),
                *_dangling(connection),
                *_empty_signatures(connection),
                *_withdrawn_in_use(connection),
                *_wrong_documents(connection),
            ]
        except sqlite3.DatabaseError as error:
            # Some damage is found by the check, some keeps the check itself from running.
            if not has_code(error, sqlite3.SQLITE_CORRUPT):
                raise
            return [f"The file is damaged: {error}."]


def _size_bytes(database: Database) -> int:
    log = database.path.with_name(f"{database.path.name}-wal")
    return sum(file.stat().st_size for file in (database.path, log) if file.exists())


def _count(connection: sqlite3.Connection, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - our own names
    return int(count)


def _columns(connection: sqlite3.Connection) -> dict[str, set[str]]:
    """Return the columns of each table that this store's schema has."""
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master")]
    return {
        table: {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        for table in TABLES
        if table in tables
    }


def _damage(connection: sqlite3.Connection) -> list[str]:
    rows = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    return [] if rows == ["ok"] else [f"The file is damaged: {row}." for row in rows]


def _foreign_objects(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name"
    )
    return [f"It has the {kind} {name}, which this program does not make." for kind, name in rows]


def _dangling(connection: sqlite3.Connection) -> list[str]:
    return [
        f"Row {row} of {table} refers to a row of {parent} that does not exist."
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check")
    ]


def _empty_signatures(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT id FROM signatures"
        " WHERE id NOT IN (SELECT signature_id FROM signature_measurements) ORDER BY id"
    )
    return [f"Signature {identity} has no measurement." for (identity,) in rows]


def _withdrawn_in_use(connection: sqlite3.Connection) -> list[str]:
    if "withdrawn_ns" not in _columns(connection)["measurements"]:
        return []
    rows = connection.execute(
        "SELECT signatures.id, measurements.id FROM signatures"
        " JOIN signature_measurements ON signature_id = signatures.id"
        " JOIN measurements ON measurements.id = measurement_id"
        " WHERE deleted_ns IS NULL AND withdrawn_ns IS NOT NULL"
    )
    return [
        f"Signature {name} uses measurement {used}, which was withdrawn." for name, used in rows
    ]


def _wrong_documents(connection: sqlite3.Connection) -> list[str]:
    known = _columns(connection)
    return [
        f"Column {column} of row {row} of {table} is not JSON."
        for table, columns in _DOCUMENTS.items()
        for column in columns
        if column in known.get(table, ())
        for (row,) in connection.execute(
            f"SELECT rowid FROM {table} WHERE NOT json_valid({column})"  # noqa: S608 - our own names
        )
    ]
