"""The smallest records of a store, which tests of its file write: the rows of ``settings``."""

from __future__ import annotations

import json
from collections.abc import Mapping

from predictor.store.database import Database


def put(database: Database, values: Mapping[str, object]) -> None:
    """Store values, all or none; keys that are not named keep theirs."""
    rows = [{"key": key, "value": json.dumps(value)} for key, value in values.items()]
    with database.transaction() as db:
        db.table("settings").upsert_all(rows, pk="key")


def load_all(database: Database) -> dict[str, object]:
    with database.reading() as db:
        rows = db.table("settings").rows_where(order_by="key")
        return {row["key"]: json.loads(row["value"]) for row in rows}
