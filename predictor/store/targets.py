"""Targets: device and execution configuration, one row each, which other records refer to."""

from __future__ import annotations

from predictor.core.records import Configuration
from predictor.store.database import Tables

# For queries that join the table; ``values.target_of`` reads them.
COLUMNS = "device_id, runtime, precision, threads, batch"


def put(db: Tables, device_id: str, configuration: Configuration) -> int:
    """Return the row id of a target, which is made where it is new; inside a transaction."""
    row_id: int = db.table("targets").lookup(
        {
            "device_id": device_id,
            "runtime": configuration.runtime,
            "precision": str(configuration.precision),
            "threads": configuration.threads,
            "batch": configuration.batch,
        }
    )
    return row_id
