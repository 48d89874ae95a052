"""Signatures in the store: several of a target, one of which its predictions use."""

from __future__ import annotations

import uuid
from dataclasses import replace
from functools import partial

from predictor.core.documents import ProbingFacts
from predictor.core.errors import InputError
from predictor.core.records import Measurement
from predictor.core.stored import StoredSignature
from predictor.cost.engine import FilmTuning, TargetMeasurements
from predictor.services.signatures.adaptation import FILM
from predictor.services.signatures.checks import CHECKS, USED_ANYWAY, reason_against
from predictor.services.signatures.user_signatures import measurements_of
from predictor.store import measurements as measurement_records
from predictor.store import signatures as records
from predictor.store.database import Database


class Signatures:
    """The signatures in an open store.

    Args:
        database: opened on this thread; the caller closes it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[StoredSignature]:
        """Return the signatures that were not deleted, the oldest first."""
        return [entry for entry in records.stored(self._database) if not entry.deleted]

    def deleted(self) -> list[StoredSignature]:
        """Return the signatures that were deleted and can be restored, the oldest first."""
        return [entry for entry in records.stored(self._database) if entry.deleted]

    def measurements(self, signature_id: str) -> list[Measurement]:
        """Return the measurements of a signature, the oldest first."""
        return measurement_records.of_signature(self._database, signature_id)

    def measured(self, signature_id: str) -> tuple[TargetMeasurements, tuple[Measurement, ...]]:
        """Return the measurements as engines take them, and those of which the graph is known."""
        measurements = self.measurements(signature_id)
        return measurements_of(self._database, signature_id, measurements)

    def reason_against(self, stored: StoredSignature) -> str:
        """Return why a signature is not believed, without a full stop; empty where it is."""
        return reason_against(self._database, stored, partial(self.measured, stored.signature.id))

    def noted_reason(self, stored: StoredSignature) -> str:
        """Return the same for a list: of one that is not active only as far as it is noted.

        To work out the checks of many takes long.
        """
        is_wanted = stored.signature.active or stored.facts.checks
        return self.reason_against(stored) if is_wanted else ""

    def activate(self, signature_id: str) -> str:
        """Let a signature be the one that its target's predictions use, believed or not.

        Returns:
            Why it is not believed, so that its numbers are unstable; empty where it is.

        Raises:
            InputError: there is none of this id.
        """
        reason = self.reason_against(self._entry(signature_id))
        records.activate(self._database, signature_id)
        if reason:
            records.note(self._database, signature_id, {USED_ANYWAY: True})
        return reason

    def delete(self, signature_id: str) -> bool:
        """Delete a signature; returns whether it was active, for ``restore``.

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
        entry = self._entry(signature_id)
        ids = entry.signature.measurement_ids
        rest = tuple(name for name in ids if name != measurement_id)
        if measurement_id not in ids or not rest:
            cause = "it has none of this id" if rest else "it is its only measurement"
            raise InputError(f"signature {signature_id}", cause, "choose another one")
        facts, name = entry.facts.without(FILM).without(CHECKS), self._network_name(measurement_id)
        facts = facts.with_facts(
            excluded={**facts.excluded, measurement_id: reason},
            excluded_names={**facts.excluded_names, measurement_id: name},
        )
        return self._put(entry, rest, facts)

    def include(self, signature_id: str, measurement_id: str) -> str:
        """Take an excluded measurement in again: a new signature with it replaces this one.

        The new signature keeps the reason for which it was left out once.

        Args:
            signature_id: of the signature, which stays stored.
            measurement_id: that was left out of it.

        Returns:
            The id of the new signature, active where the old one was.

        Raises:
            InputError: there is no such signature, or it does not leave out this measurement.
        """
        entry = self._entry(signature_id)
        reasons = entry.facts.excluded
        if measurement_id not in {m.id for m in self.excluded(signature_id)}:
            cause = f"no measurement {measurement_id} was left out of it"
            raise InputError(f"signature {signature_id}", cause, "see `ctm probe show`")
        again = {
            "measurement": measurement_id,
            "network": self._network_name(measurement_id),
            "reason": reasons.pop(measurement_id),
        }
        facts = entry.facts.without(FILM).without(CHECKS)
        facts = facts.with_facts(excluded=reasons, included_again=[*facts.included_again, again])
        return self._put(entry, (*entry.signature.measurement_ids, measurement_id), facts)

    def adapt(self, signature_id: str, film: FilmTuning | None) -> str:
        """Let predictions use FiLM fine-tuned to a signature, or the network as it ships.

        Args:
            signature_id: of the signature, which stays stored.
            film: fine-tuned to it; None for the network as it ships.

        Returns:
            The id of the new signature that takes its place, active where the old one was.

        Raises:
            InputError: there is no such signature.
        """
        entry = self._entry(signature_id)
        facts = entry.facts.without(FILM)
        if film is not None:
            facts = facts.with_facts(**{FILM: film.to_json()})
        return self._put(entry, entry.signature.measurement_ids, facts)

    def excluded(self, signature_id: str) -> list[Measurement]:
        """Return the measurements left out of a signature, the oldest first.

        Raises:
            InputError: there is no signature of this id.
        """
        reasons = self._entry(signature_id).facts.excluded
        return measurement_records.of_ids(self._database, reasons)

    def give_back(self, signature_id: str, before_id: str) -> bool:
        """Delete a signature that took another one's place, which the other one has again.

        Returns:
            Whether it was active, for ``restore``.

        Raises:
            InputError: one of the two is not there; nothing is changed then.
        """
        return records.give_back(self._database, signature_id, before_id)

    def _entry(self, signature_id: str) -> StoredSignature:
        for entry in self.all():
            if entry.signature.id == signature_id:
                return entry
        raise InputError(
            f"signature {signature_id}", "there is none of this id", "run `ctm probe list`"
        )

    def _put(self, before: StoredSignature, ids: tuple[str, ...], facts: ProbingFacts) -> str:
        """Store a signature in the place of one; returns its id.

        FiLM fine-tuned to other measurements is not its own, so ``facts`` come without it.
        """
        # A new record, never an edit: stored predictions name the signature that they used.
        made = replace(before.signature, id=uuid.uuid4().hex, measurement_ids=ids)
        records.add(self._database, made, facts, before.session_id)
        return made.id

    def _network_name(self, measurement_id: str) -> str:
        measurements = measurement_records.of_ids(self._database, [measurement_id])
        return (measurements[0].provenance.network if measurements else "") or measurement_id[:8]
