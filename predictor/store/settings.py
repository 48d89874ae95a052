"""The user's settings: one JSON value for each key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeAlias

from predictor.store.database import Database

SettingValue: TypeAlias = (
    bool | int | float | str | list["SettingValue"] | dict[str, "SettingValue"] | None
)


def put(database: Database, values: Mapping[str, SettingValue]) -> None:
    """Store settings, all or none; keys that are not named keep their values."""
    with database.transaction() as connection:
        connection.executemany(
            "INSERT INTO settings (key, value) VALUES (?, ?)"
            " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [(key, json.dumps(value)) for key, value in values.items()],
        )


def every(database: Database) -> dict[str, SettingValue]:
    """Return all stored settings by key."""
    with database.reading() as connection:
        rows = connection.execute("SELECT key, value FROM settings ORDER BY key")
        return {key: json.loads(value) for key, value in rows}
