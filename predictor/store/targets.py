"""Targets: device and execution configuration, one row each, which other records refer to."""

from __future__ import annotations

import sqlite3

from predictor.core.records import Configuration, Precision

# Columns of a target in the order that ``from_columns`` reads, for queries that join the table.
COLUMNS = "targets.device_id, targets.runtime, targets.precision, targets.threads, targets.batch"


def put(connection: sqlite3.Connection, device_id: str, configuration: Configuration) -> int:
    """Return the row id of a target, which is made where it is new; inside a transaction."""
    values = (
        device_id,
        configuration.runtime,
        str(configuration.precision),
        configuration.threads,
        configuration.batch,
    )
    found = connection.execute(
        "SELECT id FROM targets WHERE device_id = ? AND runtime = ? AND precision = ?"
        " AND threads = ? AND batch = ?",
        values,
    ).fetchone()
    if found:
        return int(found[0])
    made = connection.execute(
        "INSERT INTO targets (device_id, runtime, precision, threads, batch)"
        " VALUES (?, ?, ?, ?, ?)",
        values,
    )
    assert made.lastrowid is not None  # noqa: S101 - an INSERT of one row has made one
    return made.lastrowid


def from_columns(columns: tuple[str, str, str, int, int]) -> tuple[str, Configuration]:
    """Return the device id and configuration that ``COLUMNS`` gave."""
    device_id, runtime, precision, threads, batch = columns
    return device_id, Configuration(runtime, Precision(precision), threads, batch)
