"""A signature with what is known of it: machine, protocol, what was left out, fine-tuning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from predictor.core.records import Signature, adaptation_by
from predictor.cost.film import FilmTuning
from predictor.services.prediction.engines import network_in_use
from predictor.store.signatures import StoredSignature

FILM: Final = "film"
"""The fact of a signature that FiLM was fine-tuned to it."""

ADAPTATIONS: Final[Mapping[str, str]] = {
    "posterior": "the network as it ships, with a Bayesian posterior of how the target deviates",
    "operators": "times of its networks' operators, with a Gaussian process over all operators",
    "film": "FiLM of the network fine-tuned to it, with a Bayesian posterior of the rest",
}
"""How predictions are adapted to a signature, in words."""


@dataclass(frozen=True, slots=True)
class SignatureFacts:
    """Facts of a signature. Another program may have written them: a wrong one counts as missing.

    Attributes:
        document: as the store keeps it; facts of later versions are kept in it.
    """

    document: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> SignatureFacts:
        """Read what the store keeps."""
        return cls(json.loads(text))

    @property
    def film(self) -> FilmTuning | None:
        """FiLM as it was fine-tuned; None where the network stays as it ships."""
        try:
            return FilmTuning.from_json(self.document[FILM])
        except (AttributeError, KeyError, TypeError, ValueError):
            return None

    @property
    def excluded(self) -> dict[str, str]:
        """The user's reasons for leaving measurements out, by their ids."""
        return {key: str(reason) for key, reason in self.object("excluded").items()}

    @property
    def included_again(self) -> list[dict[str, Any]]:
        """Measurements that were left out once: id, network and reason."""
        entries = self.document.get("included_again")
        return [e for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []

    def object(self, name: str) -> dict[str, Any]:
        """Return a fact that is an object; empty where there is none."""
        fact = self.document.get(name)
        return fact if isinstance(fact, dict) else {}

    def excluded_words(self) -> list[str]:
        """Return the networks that were left out, each with the user's reason."""
        names = self.object("excluded_names")
        return [f"{names.get(key, key[:8])} ({why})" for key, why in self.excluded.items()]

    def included_again_words(self) -> list[str]:
        """Return the networks that are in it again, each with why it was left out once."""
        return [
            f"{each.get('network')} (was left out: {each.get('reason')})"
            for each in self.included_again
        ]

    def without_film(self) -> dict[str, Any]:
        """Return the facts but for what was fine-tuned."""
        return {name: fact for name, fact in self.document.items() if name != FILM}


@dataclass(frozen=True, slots=True)
class SignatureEntry:
    """A signature of the store.

    Attributes:
        signature: the record.
        created_ns: when it was stored, since 1970.
        facts: of the machine and the protocol.
        session_id: of the probe session that it came from, None where it came from none.
        deleted_ns: when it was deleted; None where it was not.
        timed: of how many of its measurements the operators were timed.
    """

    signature: Signature
    created_ns: int
    facts: SignatureFacts = field(default_factory=SignatureFacts)
    session_id: str | None = None
    deleted_ns: int | None = None
    timed: int = 0

    @classmethod
    def of(cls, stored: StoredSignature) -> SignatureEntry:
        """Read what the store has of a signature."""
        return cls(
            stored.signature,
            stored.created_ns,
            SignatureFacts.parse(stored.facts),
            stored.session_id,
            stored.deleted_ns,
            stored.timed,
        )


def adaptation_of(entry: SignatureEntry) -> str:
    """Return the adaptation of predictions to a signature; see ``adaptation_by``.

    What was fine-tuned for another network has no part in them.
    """
    film = entry.facts.film
    fine_tuned = film is not None and film.network == network_in_use()
    return adaptation_by(fine_tuned=fine_tuned, by_operators=entry.timed > 0)


def outdated_film_words(entry: SignatureEntry) -> str:
    """Words on FiLM that was fine-tuned for a network not in use; empty where it was not."""
    film = entry.facts.film
    if film is None or film.network == network_in_use():
        return ""
    return "fine-tuned for another version of the network, so not used: fine-tune again"
