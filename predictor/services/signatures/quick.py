"""Signatures of the ten seconds of this machine: by hardware, behind the user's own."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from predictor.core.documents import ProbingFacts
from predictor.core.records import Device, Measurement, Signature, TargetId
from predictor.core.stored import StoredSignature
from predictor.services.devices.this_machine import this_hardware
from predictor.store import measurements as measurement_records
from predictor.store import signatures as records
from predictor.store.database import Database, has_store, open_database


def put_quick(
    database: Database,
    signature: Signature,
    measurements: Iterable[Measurement],
    facts: ProbingFacts,
) -> None:
    """Store a signature of this machine in one transaction; the user's of its target stays active.

    Args:
        database: of the user.
        signature: of one of its targets.
        measurements: of it.
        facts: of it, with its ``hardware``.

    Raises:
        HostError: the store cannot be written; nothing is stored then.
    """
    with database.transaction():
        target = (signature.device_id, signature.configuration)
        in_use = (
            entry
            for entry in records.stored(database)
            if entry.signature.active
            and (entry.signature.device_id, entry.signature.configuration) == target
        )
        is_active = all(map(is_quick, in_use))
        for measurement in measurements:
            measurement_records.add(database, measurement)
        records.add(database, replace(signature, active=is_active), facts)


def is_quick(entry: StoredSignature) -> bool:
    """Return whether a signature is one of the ten seconds."""
    return bool(entry.facts.hardware)


def used_signatures(entries: Iterable[StoredSignature]) -> list[StoredSignature]:
    """Return the signature that predictions of each target may use, as active.

    That is the active one. Of those of the ten seconds only those of this hardware count: the
    newest of a target where none of the user's is active.

    Args:
        entries: all signatures, the oldest first.
    """
    quick: dict[TargetId, StoredSignature] = {}
    used: dict[TargetId, StoredSignature] = {}
    for entry in entries:
        target = TargetId.of(entry.signature)
        if entry.deleted:
            continue
        if not is_quick(entry):
            if entry.signature.active:
                used[target] = entry
            continue
        if entry.facts.hardware == this_hardware():
            quick[target] = entry
    return [*used.values(), *(entry for target, entry in quick.items() if target not in used)]


def has_signature(store: Path | None, machine: Device) -> bool:
    """Return whether predictions of this machine rest on a probing of it, long or of ten seconds.

    Args:
        store: the store's file; None for that of CTM_STORE, else the one in the user's folder.
        machine: it as detected.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: the store cannot be read.
    """
    if not has_store(store):
        return False
    with closing(open_database(store)) as database:
        used = used_signatures(records.stored(database))
        return any(entry.signature.device_id == machine.id for entry in used)
