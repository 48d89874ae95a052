"""Signatures in the store: several of a target, one of which its predictions use."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from predictor.core.errors import InputError
from predictor.core.records import Measurement
from predictor.store import measurements as measurement_records
from predictor.store import signatures as records
from predictor.store.database import Database
from predictor.store.signatures import StoredSignature

__all__ = ["Signatures", "StoredSignature", "excluded_words"]


def excluded_words(facts: Mapping[str, Any]) -> list[str]:
    """Return the networks that were left out of a signature, each with the user's reason."""
    names = facts.get("excluded_names") or {}
    left_out: Mapping[str, str] = facts.get("excluded") or {}
    return [f"{names.get(key, key[:8])} ({reason})" for key, reason in left_out.items()]


class Signatures:
    """The signatures in an open store.

    Args:
        database: opened on this thread; the caller closes it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def every(self) -> list[StoredSignature]:
        """Return the signatures that were not deleted, the oldest first."""
        return [s for s in records.stored(self._database) if s.deleted_ns is None]

    def deleted(self) -> list[StoredSignature]:
        """Return the signatures that were deleted and can be restored, the oldest first."""
        return [s for s in records.stored(self._database) if s.deleted_ns is not None]

    def measurements(self, signature_id: str) -> list[Measurement]:
        """Return the measurements of a signature, the oldest first."""
        return measurement_records.of_signature(self._database, signature_id)

    def activate(self, signature_id: str) -> None:
        """Let a signature be the one that its target's predictions use.

        Raises:
            InputError: there is none of this id.
        """
        records.activate(self._database, signature_id)

    def delete(self, signature_id: str) -> bool:
        """Delete a signature; returns what ``restore`` needs to undo it.

        Raises:
            InputError: there is none of this id.
        """
        return records.delete(self._database, signature_id)

    def restore(self, signature_id: str, *, active: bool) -> None:
        """Undo the deletion of a signature, which returned ``active``."""
        records.restore(self._database, signature_id, active=active)

    def exclude(self, signature_id: str, measurement_id: str, reason: str) -> str:
        """Leave a measurement out of a signature: a new one takes its place and keeps the reason.

        Args:
            signature_id: of the signature, which stays stored.
            measurement_id: of its measurement that disagrees.
            reason: of the user, kept with the new signature.

        Returns:
            The id of the new signature, active where the old one was.

        Raises:
            InputError: there is no such signature or measurement, or it is its only one.
        """
        found = [s for s in self.every() if s.signature.id == signature_id]
        ids = found[0].signature.measurement_ids if found else ()
        rest = tuple(name for name in ids if name != measurement_id)
        if measurement_id not in ids or not rest:
            what = "it is its only measurement" if ids and not rest else "it has none of this id"
            raise InputError(f"signature {signature_id}", what, "choose another one")
        facts = json.loads(found[0].facts)
        facts["excluded"] = {**facts.get("excluded", {}), measurement_id: reason}
        facts["excluded_names"] = {
            **facts.get("excluded_names", {}),
            measurement_id: self._network_name(signature_id, measurement_id),
        }
        made = replace(found[0].signature, id=uuid.uuid4().hex, measurement_ids=rest)
        records.add(self._database, made, json.dumps(facts), found[0].session_id)
        return made.id

    def _network_name(self, signature_id: str, measurement_id: str) -> str:
        found = [m for m in self.measurements(signature_id) if m.id == measurement_id]
        name = json.loads(found[0].provenance).get("network") if found else None
        return str(name or measurement_id[:8])
