"""Tokens a second that the user measured of language models: the last of each device."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from predictor.core.documents import Document
from predictor.store.database import Database
from predictor.store.values import text_in, text_out


@dataclass(frozen=True, slots=True)
class TokenRate:
    """New tokens a second of all sequences of one run.

    Attributes:
        device_id: that it was measured on.
        tokens_per_s: measured.
        run: model and run.
    """

    device_id: str
    tokens_per_s: float
    run: Document


def put(database: Database, rate: TokenRate) -> None:
    """Store the rate of a device; an earlier one is replaced."""
    with database.transaction() as db:
        db.table("token_rates").upsert(
            {
                "device_id": rate.device_id,
                "tokens_per_s": rate.tokens_per_s,
                "run": text_in(rate.run.to_json()),
                "updated_ns": time.time_ns(),
            },
            pk="device_id",
        )


def remove(database: Database, device_id: str) -> None:
    """Forget the rate of a device."""
    with database.transaction() as db:
        db.table("token_rates").delete_where("device_id = ?", (device_id,))


def load_all(database: Database) -> list[TokenRate]:
    """Return the rates of all devices, by their ids."""
    with database.reading() as db:
        return [_rate(row) for row in db.table("token_rates").rows_where(order_by="device_id")]


def _rate(row: Mapping[str, Any]) -> TokenRate:
    return TokenRate(row["device_id"], row["tokens_per_s"], Document(text=text_out(row["run"])))
