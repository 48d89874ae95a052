"""Devices for the open language model and limits of its own, worked out off the window's thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from predictor.services.choose.language import (
    LanguageBudget,
    LanguageOption,
    choose_language,
    front,
    language_sentence,
)
from predictor.services.generation.records import Generation
from predictor.services.serving.prices import Prices


@dataclass(frozen=True, slots=True)
class LanguageLimits:
    """Limits of a language model as they are typed; None limits nothing.

    Attributes:
        min_tokens_per_s: new tokens a second.
        max_first_ms: to the first token.
        max_joules: of a new token.
        max_cost: of a million new tokens.
        price_per_hour: of one card of every device; None for no price.
    """

    min_tokens_per_s: float | None = None
    max_first_ms: float | None = None
    max_joules: float | None = None
    max_cost: float | None = None
    price_per_hour: float | None = None

    @property
    def prices(self) -> Prices:
        """The price of every device."""
        return Prices(self.price_per_hour or 0.0)

    @property
    def budget(self) -> LanguageBudget | None:
        """The budget; None where nothing is limited."""
        limits = (self.min_tokens_per_s, self.max_first_ms, self.max_joules, self.max_cost)
        return LanguageBudget(*limits) if any(limits) else None


@dataclass(frozen=True, slots=True, eq=False)
class LanguageChosen:
    """Devices for a language model as the view shows them.

    Attributes:
        options: the best first.
        front: those that no other beats in tokens, joules and cost at once.
        sentence: the answer.
    """

    options: Sequence[LanguageOption]
    front: Sequence[LanguageOption]
    sentence: str


def chosen_language(
    work: Callable[[], Sequence[Generation]],
    budget: LanguageBudget,
    prices: Prices,
    min_chance: float,
) -> LanguageChosen:
    """Return the devices for a language model, ranked.

    Args:
        work: predicts its run on the devices.
        budget: what they have to keep.
        prices: an hour of them.
        min_chance: from which a device keeps them.

    Raises:
        InputError: no device has a number.
    """
    options = choose_language(work(), budget, prices)
    return LanguageChosen(options, front(options), language_sentence(options, min_chance))
