"""Targets: device and execution configuration, one row each, which other records refer to."""

from __future__ import annotations

from predictor.core.records import Configuration
from predictor.store.tables import Tables

# For queries that join the table; ``values.target_of`` reads them.
COLUMNS = "device_id, runtime, precision, threads, batch"
_FIND = f"SELECT id FROM targets WHERE ({COLUMNS}) = (?, ?, ?, ?, ?)"  # noqa: S608 - our own words
_ADD = (
    f"INSERT INTO targets ({COLUMNS}) VALUES (?, ?, ?, ?, ?)"  # noqa: S608 - our own words
    " ON CONFLICT DO NOTHING"
)


def put(db: Tables, device_id: str, configuration: Configuration) -> int:
    """Return the row id of a target, which is made where it is new; inside a transaction."""
    c = configuration
    values = (device_id, c.runtime, str(c.precision), c.threads, c.batch)
    # Not Table.lookup: six statements a target, and a command may store hundreds.
    db.conn.execute(_ADD, values)
    row_id: int = db.conn.execute(_FIND, values).fetchone()[0]
    return row_id
