"""The devices that the user described; those of the catalogue ship with the program."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision
from predictor.store.database import Database
from predictor.store.values import text_in, text_out


def put(
    database: Database,
    device: Device,
    unknown_metrics: Mapping[str, float] | None = None,
    replacing: str | None = None,
) -> None:
    """Store a device; an earlier description with its id is replaced.

    Args:
        database: the store.
        device: what is known of it.
        unknown_metrics: what another version's file told of it, kept as it is.
        replacing: id that it had until now; that description goes in the same transaction.
    """
    with database.transaction() as connection:
        if replacing not in {None, device.id}:
            connection.execute("DELETE FROM devices WHERE id = ?", (replacing,))
        insert(connection, device, unknown_metrics)


def insert(
    connection: sqlite3.Connection,
    device: Device,
    unknown_metrics: Mapping[str, float] | None = None,
) -> None:
    """Store a device, an earlier description with its id is replaced; inside a transaction."""
    connection.execute(
        "INSERT INTO devices (id, name, vendor, family, description, updated_ns)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET name = excluded.name,"
        " vendor = excluded.vendor, family = excluded.family,"
        " description = excluded.description, updated_ns = excluded.updated_ns",
        (
            device.id,
            text_in(device.name),
            text_in(device.vendor),
            str(device.family),
            _description(device, unknown_metrics or {}),
            time.time_ns(),
        ),
    )


def every(database: Database) -> list[Device]:
    """Return all stored devices, by id."""
    with database.reading() as connection:
        rows = connection.execute(
            "SELECT id, name, vendor, family, description FROM devices ORDER BY id"
        )
        return [_device(*row) for row in rows]


def unknown_metrics(database: Database) -> dict[str, dict[str, float]]:
    """Return by device id the metrics that only another version's file knows."""
    with database.reading() as connection:
        rows = connection.execute("SELECT id, description FROM devices").fetchall()
    kept = {identity: json.loads(text).get("unknown_metrics", {}) for identity, text in rows}
    return {identity: metrics for identity, metrics in kept.items() if metrics}


def remove(database: Database, device_id: str) -> None:
    """Forget a device's description; what was measured on it stays."""
    with database.transaction() as connection:
        connection.execute("DELETE FROM devices WHERE id = ?", (device_id,))


def _description(device: Device, unknown_metrics: Mapping[str, float]) -> str:
    """Return what has no column of its own as a JSON object."""
    return json.dumps(
        {
            "unknown_metrics": dict(unknown_metrics),
            "metrics": dict(device.metrics),
            "sources": dict(device.sources),
            "configurations": [asdict(configuration) for configuration in device.configurations],
            "clusters": [asdict(cluster) for cluster in device.clusters],
            "system": device.system,
            "notes": device.notes,
        }
    )


def _device(
    identity: str, name: str | bytes, vendor: str | bytes, family: str, description: str
) -> Device:
    parts: dict[str, Any] = json.loads(description)
    return Device(
        identity,
        text_out(name),
        text_out(vendor),
        Family(family),
        parts["metrics"],
        parts["sources"],
        tuple(
            Configuration(**{**c, "precision": Precision(c["precision"])})
            for c in parts["configurations"]
        ),
        tuple(Cluster(**cluster) for cluster in parts["clusters"]),
        parts["system"],
        parts["notes"],
    )
