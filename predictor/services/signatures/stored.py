"""Signatures in the store: several of a target, one of which its predictions use."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.records import Measurement, adaptation_by
from predictor.cost.film import FilmTuning
from predictor.services.prediction.engines import network_in_use
from predictor.services.signatures.own import FILM, film_of
from predictor.store import measurements as measurement_records
from predictor.store import signatures as records
from predictor.store.database import Database
from predictor.store.signatures import StoredSignature

__all__ = [
    "ADAPTATIONS",
    "Signatures",
    "StoredSignature",
    "adaptation_of",
    "excluded_reasons",
    "excluded_words",
    "included_again_words",
    "outdated_film_words",
]


ADAPTATIONS: Final[Mapping[str, str]] = {
    "posterior": "the network as it ships, with a Bayesian posterior of how the target deviates",
    "operators": "times of its networks' operators, with a Gaussian process over all operators",
    "film": "FiLM of the network fine-tuned to it, with a Bayesian posterior of the rest",
}
"""How predictions are adapted to a signature, in words."""


def adaptation_of(stored: StoredSignature) -> str:
    """Return how predictions are adapted to a signature; see ``adaptation_by``.

    What was fine-tuned for another network has no part in them.
    """
    film = film_of(json.loads(stored.facts))
    fine_tuned = film is not None and film.network == network_in_use()
    return adaptation_by(fine_tuned=fine_tuned, by_operators=stored.timed > 0)


def outdated_film_words(stored: StoredSignature) -> str:
    """Say that FiLM was fine-tuned for a network that is not in use; empty where it was not."""
    film = film_of(json.loads(stored.facts))
    if film is None or film.network == network_in_use():
        return ""
    return "fine-tuned for another version of the network, so not used: fine-tune again"


def excluded_reasons(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return why measurements were left out of a signature, by their ids."""
    return {key: str(reason) for key, reason in _object(facts, "excluded").items()}


def excluded_words(facts: Mapping[str, Any]) -> list[str]:
    """Return the networks that were left out of a signature, each with the user's reason."""
    names = _object(facts, "excluded_names")
    return [f"{names.get(key, key[:8])} ({why})" for key, why in excluded_reasons(facts).items()]


def included_again_words(facts: Mapping[str, Any]) -> list[str]:
    """Return the networks that are in a signature again, each with why it was left out once."""
    return [
        f"{each.get('network')} (was left out: {each.get('reason')})"
        for each in _included_again(facts)
    ]


def _included_again(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = facts.get("included_again")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _object(facts: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a fact; empty where there is none, or another program wrote something else."""
    found = facts.get(name)
    return found if isinstance(found, dict) else {}


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
        stored = self._stored(signature_id)
        ids = stored.signature.measurement_ids
        rest = tuple(name for name in ids if name != measurement_id)
        if measurement_id not in ids or not rest:
            what = "it has none of this id" if rest else "it is its only measurement"
            raise InputError(f"signature {signature_id}", what, "choose another one")
        facts = json.loads(stored.facts)
        facts["excluded"] = {**excluded_reasons(facts), measurement_id: reason}
        facts["excluded_names"] = {
            **_object(facts, "excluded_names"),
            measurement_id: self._network_name(measurement_id),
        }
        return self._replace(stored, rest, facts)

    def include(self, signature_id: str, measurement_id: str) -> str:
        """Take in again what was left out: a new signature with it takes the place of this one.

        The new signature keeps that it was left out once, and why.

        Args:
            signature_id: of the signature, which stays stored.
            measurement_id: that was left out of it.

        Returns:
            The id of the new signature, active where the old one was.

        Raises:
            InputError: there is no such signature, or it does not leave out this measurement.
        """
        stored = self._stored(signature_id)
        facts = json.loads(stored.facts)
        reasons = excluded_reasons(facts)
        if measurement_id not in {m.id for m in self.excluded(signature_id)}:
            what = f"no measurement {measurement_id} was left out of it"
            raise InputError(f"signature {signature_id}", what, "see `ctm probe show`")
        again = {
            "measurement": measurement_id,
            "network": self._network_name(measurement_id),
            "reason": reasons.pop(measurement_id),
        }
        facts["excluded"] = reasons
        facts["included_again"] = [*_included_again(facts), again]
        ids = (*stored.signature.measurement_ids, measurement_id)
        return self._replace(stored, ids, facts)

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
        stored = self._stored(signature_id)
        facts = {key: fact for key, fact in json.loads(stored.facts).items() if key != FILM}
        if film is not None:
            facts[FILM] = film.to_json()
        return self._put(stored, stored.signature.measurement_ids, facts)

    def excluded(self, signature_id: str) -> list[Measurement]:
        """Return what was left out of a signature, the oldest first.

        Raises:
            InputError: there is no signature of this id.
        """
        facts = json.loads(self._stored(signature_id).facts)
        return measurement_records.of_ids(self._database, excluded_reasons(facts))

    def give_back(self, signature_id: str, before_id: str) -> bool:
        """Delete a signature that took another one's place, which the other one has again.

        Returns:
            What ``restore`` needs to undo it.

        Raises:
            InputError: one of the two is not there; nothing is changed then.
        """
        return records.give_back(self._database, signature_id, before_id)

    def _stored(self, signature_id: str) -> StoredSignature:
        found = [s for s in self.every() if s.signature.id == signature_id]
        if not found:
            raise InputError(
                f"signature {signature_id}", "there is none of this id", "run `ctm probe list`"
            )
        return found[0]

    def _replace(
        self, stored: StoredSignature, ids: tuple[str, ...], facts: Mapping[str, Any]
    ) -> str:
        """Store a signature of other measurements in the place of one; returns its id.

        What was fine-tuned to those of before is not its own.
        """
        facts = {name: fact for name, fact in facts.items() if name != FILM}
        return self._put(stored, ids, facts)

    def _put(self, stored: StoredSignature, ids: tuple[str, ...], facts: Mapping[str, Any]) -> str:
        made = replace(stored.signature, id=uuid.uuid4().hex, measurement_ids=ids)
        records.add(self._database, made, json.dumps(facts), stored.session_id)
        return made.id

    def _network_name(self, measurement_id: str) -> str:
        found = measurement_records.of_ids(self._database, [measurement_id])
        name = json.loads(found[0].provenance).get("network") if found else None
        return str(name or measurement_id[:8])
