"""Adaptation of predictions to a signature: by a posterior, by operators or by fine-tuned FiLM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from predictor.core.documents import ProbingFacts
from predictor.core.prediction import adaptation_by
from predictor.core.stored import StoredSignature
from predictor.cost.engine import FilmTuning
from predictor.services.prediction.engines import network_in_use

FILM: Final = "film"
"""The fact of a signature that FiLM was fine-tuned to it."""

ADAPTATIONS: Final[Mapping[str, str]] = {
    "posterior": "the network as it ships, with a Bayesian posterior of how the target deviates",
    "operators": "times of its networks' operators, and from them those of operators alike",
    "film": "FiLM of the network fine-tuned to it, with a Bayesian posterior of the rest",
}
"""Kinds of adaptation in words."""


def film_of(facts: ProbingFacts) -> FilmTuning | None:
    """Return FiLM as it was fine-tuned; None where the network stays as it ships."""
    try:
        return FilmTuning.from_json(facts.content[FILM])
    except (AttributeError, KeyError, TypeError, ValueError):
        return None  # there is none, or another program wrote something else


def adaptation_of(stored: StoredSignature) -> str:
    """Return the adaptation of predictions to a signature; see ``adaptation_by``.

    FiLM that was fine-tuned for another network has no part in it.
    """
    film = film_of(stored.facts)
    fine_tuned = film is not None and film.network == network_in_use()
    return adaptation_by(fine_tuned=fine_tuned, by_operators=stored.timed > 0)


def outdated_film_words(stored: StoredSignature) -> str:
    """Words on FiLM that was fine-tuned for a network not in use; empty where it was not."""
    film = film_of(stored.facts)
    if film is None or film.network == network_in_use():
        return ""
    return "fine-tuned for another version of the network, so not used: fine-tune again"
