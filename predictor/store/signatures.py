"""Signatures: the measurements that describe a target, and the one that is in use."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from predictor.core.documents import NO_FACTS, ProbingFacts
from predictor.core.errors import InputError
from predictor.core.records import Signature
from predictor.core.stored import StoredSignature
from predictor.store import targets
from predictor.store.database import Database
from predictor.store.tables import Tables
from predictor.store.values import next_time, target_of

# Without reading the provenances, which may be 128 MB long.
_TIMED = (
    "(SELECT count(*) FROM signature_measurements JOIN measurements"
    " ON measurements.id = measurement_id WHERE signature_id = signatures.id AND"
    " CASE WHEN json_valid(provenance) THEN json_type(provenance, '$.operators') END = 'array')"
)


def add(
    database: Database,
    signature: Signature,
    facts: ProbingFacts = NO_FACTS,
    session_id: str | None = None,
) -> None:
    """Store a signature of stored measurements; an active one takes the place of the one before."""
    with database.transaction() as db:
        created_ns = next_time(db, "signatures")
        new = StoredSignature(
            signature=signature, created_ns=created_ns, facts=facts, session_id=session_id
        )
        insert_stored(db, new)


def insert_stored(db: Tables, stored: StoredSignature) -> None:
    """Store a signature with its time; inside a transaction."""
    signature = stored.signature
    target_id = targets.put(db, signature.device_id, signature.configuration)
    if signature.active:
        # First: a unique index allows one active signature a target.
        _deactivate(db, target_id)
    db.table("signatures").insert(
        {
            "id": signature.id,
            "target_id": target_id,
            "active": signature.active,
            "created_ns": stored.created_ns,
            "facts": stored.facts.to_json(),
            "session_id": stored.session_id,
            "deleted_ns": stored.deleted_ns,
        }
    )
    db.table("signature_measurements").insert_all(
        {"signature_id": signature.id, "position": place, "measurement_id": name}
        for place, name in enumerate(signature.measurement_ids)
    )


def load_all(database: Database) -> list[Signature]:
    """Return all signatures that were not deleted, the oldest first."""
    return [row.signature for row in stored(database) if not row.deleted]


def stored(database: Database) -> list[StoredSignature]:
    """Return all signatures with time and facts, deleted ones too, the oldest first."""
    member_ids = members(database)
    with database.reading() as db:
        rows = db.query(
            f"SELECT signatures.*, {_TIMED} AS timed, {targets.COLUMNS}"  # noqa: S608 - our own words
            " FROM signatures JOIN targets ON targets.id = target_id"
            " ORDER BY created_ns, signatures.rowid"
        )
        return [
            StoredSignature(
                signature=Signature(
                    id=row["id"],
                    **target_of(row),
                    measurement_ids=member_ids.get(row["id"], ()),
                    active=bool(row["active"]),
                ),
                created_ns=row["created_ns"],
                facts=ProbingFacts(text=row["facts"]),
                session_id=row["session_id"],
                deleted_ns=row["deleted_ns"],
                timed=row["timed"],
            )
            for row in rows
        ]


def facts_of(database: Database, signature_id: str) -> ProbingFacts:
    """Return the facts of a signature; none where there is no signature."""
    with database.reading() as db:
        rows = db.table("signatures").rows_where("id = ?", (signature_id,))
        return next((ProbingFacts(text=row["facts"]) for row in rows), NO_FACTS)


def note(database: Database, signature_id: str, facts: Mapping[str, object]) -> None:
    """Add facts to a signature's; one that was noted before is replaced."""
    with database.transaction() as db:
        db.table("signatures").update(
            signature_id,
            {"facts": json.dumps(facts)},
            conversions={"facts": "json_patch(facts, ?)"},
        )


def members(database: Database) -> dict[str, tuple[str, ...]]:
    """Return by signature id the ids of its measurements in order, of deleted signatures too."""
    ids: dict[str, list[str]] = {}
    with database.reading() as db:
        for row in db.query("SELECT * FROM signature_measurements ORDER BY position"):
            ids.setdefault(row["signature_id"], []).append(row["measurement_id"])
    return {identity: tuple(names) for identity, names in ids.items()}


def activate(database: Database, signature_id: str) -> None:
    """Let a signature be the one that its target's predictions use.

    Raises:
        InputError: there is no such signature, or it was deleted.
    """
    with database.transaction() as db:
        _deactivate(db, _target_of(db, signature_id))
        db.table("signatures").update(signature_id, {"active": 1})


def delete(database: Database, signature_id: str) -> bool:
    """Delete a signature, which ``restore`` undoes; its measurements stay.

    Returns:
        Whether it was the active one; ``restore`` wants to know.

    Raises:
        InputError: there is no such signature, or it was deleted before.
    """
    with database.transaction() as db:
        _target_of(db, signature_id)
        signatures = db.table("signatures")
        active = bool(signatures.get(signature_id)["active"])
        signatures.update(signature_id, {"active": 0, "deleted_ns": time.time_ns()})
    return active


def give_back(database: Database, signature_id: str, before_id: str) -> bool:
    """Delete a signature that took another one's place; the other one has its place again.

    Args:
        database: open.
        signature_id: of the one to delete, which ``restore`` undoes.
        before_id: of the other one, active from now on where the deleted one was.

    Returns:
        Whether the deleted one was active; ``restore`` wants to know.

    Raises:
        InputError: one of them is not there, or was deleted before; nothing is changed then.
    """
    with database.transaction() as db:
        # For its error, before anything is changed.
        _target_of(db, before_id)
        active = delete(database, signature_id)
        if active:
            activate(database, before_id)
    return active


def restore(database: Database, signature_id: str, *, active: bool) -> None:
    """Undo a deletion; an active signature takes the place of the one before."""
    with database.transaction() as db:
        db.table("signatures").update(signature_id, {"deleted_ns": None})
        if active:
            activate(database, signature_id)


def _deactivate(db: Tables, target_id: int) -> None:
    # A list: rows must not change under a query that is still read.
    for row in list(db.table("signatures").rows_where("target_id = ? AND active", (target_id,))):
        db.table("signatures").update(row["id"], {"active": 0})


def _target_of(db: Tables, signature_id: str) -> int:
    rows = db.table("signatures").rows_where("id = ? AND deleted_ns IS NULL", (signature_id,))
    for row in rows:
        return int(row["target_id"])
    raise InputError(
        f"signature {signature_id}", "there is none of this id", "run `ctm probe list`"
    )
