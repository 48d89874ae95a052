"""The devices that the user described; those of the catalogue ship with the program."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import Any

from predictor.core.metrics import Family
from predictor.core.records import Cluster, Configuration, Device, Precision
from predictor.store.database import Database
from predictor.store.values import text_in, text_out


def put(database: Database, device: Device) -> None:
    """Store a device; an earlier description with its id is replaced."""
    with database.transaction() as connection:
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
                _description(device),
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


def remove(database: Database, device_id: str) -> None:
    """Forget a device's description; what was measured on it stays."""
    with database.transaction() as connection:
        connection.execute("DELETE FROM devices WHERE id = ?", (device_id,))


def _description(device: Device) -> str:
    """Return what has no column of its own as a JSON object."""
    return json.dumps(
        {
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
