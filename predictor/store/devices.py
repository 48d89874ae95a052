"""The devices that the user described; those of the catalogue ship with the program."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from predictor.core import records
from predictor.core.metrics import Family
from predictor.store.database import Database
from predictor.store.values import text_in, text_out


def put(
    database: Database,
    device: records.Device,
    unknown_metrics: Mapping[str, float] | None = None,
    replacing: str | None = None,
) -> None:
    """Store a device; an earlier description with its id is replaced.

    Args:
        database: the store.
        device: its description.
        unknown_metrics: metrics of another version's file, kept as they are.
        replacing: id that it had until now; that description goes in the same transaction.
    """
    with database.transaction() as db:
        if replacing not in {None, device.id}:
            db.table("devices").delete_where("id = ?", (replacing,))
        db.table("devices").upsert(
            {
                "id": device.id,
                "name": text_in(device.name),
                "vendor": text_in(device.vendor),
                "family": str(device.family),
                "description": _description(device, unknown_metrics or {}),
                "updated_ns": time.time_ns(),
            },
            pk="id",
        )


def load_all(database: Database) -> list[records.Device]:
    """Return all stored devices, by id."""
    with database.reading() as db:
        return [_device(row) for row in db.table("devices").rows_where(order_by="id")]


def unknown_metrics(database: Database) -> dict[str, dict[str, float]]:
    """Return by device id the metrics that came from another version's file."""
    with database.reading() as db:
        stored = {
            row["id"]: json.loads(row["description"]).get("unknown_metrics", {})
            for row in db.table("devices").rows
        }
    return {identity: metrics for identity, metrics in stored.items() if metrics}


def remove(database: Database, device_id: str) -> None:
    """Forget a device's description; the measurements on it stay."""
    with database.transaction() as db:
        db.table("devices").delete_where("id = ?", (device_id,))


def _description(device: records.Device, unknown_metrics: Mapping[str, float]) -> str:
    """Return the fields without a column of their own as a JSON object."""
    return json.dumps(
        {
            "unknown_metrics": dict(unknown_metrics),
            "metrics": dict(device.metrics),
            "sources": dict(device.sources),
            "configurations": [asdict(configuration) for configuration in device.configurations],
            "clusters": [asdict(cluster) for cluster in device.clusters],
            "system": device.system,
            "notes": device.notes,
            "chip": device.chip,
            "architecture": device.architecture,
            "host_architecture": device.host_architecture,
            "instruction_sets": device.instruction_sets,
            "measured": {name: asdict(rate) for name, rate in device.measured.items()},
            "operating_points": [asdict(point) for point in device.operating_points],
        }
    )


def _device(row: Mapping[str, Any]) -> records.Device:
    parts: dict[str, Any] = json.loads(row["description"])
    parts.pop("unknown_metrics", None)
    parts["configurations"] = tuple(
        records.Configuration(**{**c, "precision": records.Precision(c["precision"])})
        for c in parts["configurations"]
    )
    parts["clusters"] = tuple(
        # Records of earlier versions have no instruction sets.
        records.Cluster(
            **{**cluster, "instruction_sets": tuple(cluster.get("instruction_sets", ()))}
        )
        for cluster in parts["clusters"]
    )
    parts["instruction_sets"] = tuple(parts.get("instruction_sets", ()))
    parts["measured"] = {
        name: records.MeasuredRate(**rate) for name, rate in parts.get("measured", {}).items()
    }
    parts["operating_points"] = tuple(
        records.OperatingPoint(**point) for point in parts.get("operating_points", ())
    )
    return records.Device(
        id=row["id"],
        name=text_out(row["name"]),
        vendor=text_out(row["vendor"]),
        family=Family(row["family"]),
        **parts,
    )
