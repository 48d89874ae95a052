"""Devices for a language model and a budget: rates, first token, joules and cost of its tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from statistics import NormalDist
from typing import Final

from predictor.core.errors import InputError
from predictor.core.text import plural
from predictor.language.deviations import Z80
from predictor.language.power import Power
from predictor.presentation.wording import number
from predictor.services.generation.records import Generation
from predictor.services.serving.prices import Prices

CERTAIN: Final = 0.99  # chances from which options are ranked by an axis


@dataclass(frozen=True, slots=True)
class LanguageBudget:
    """Limits of a run of a language model; None for no limit.

    Attributes:
        min_tokens_per_s: new tokens a second of all sequences.
        max_first_ms: to the first token of all sequences.
        max_joules: of a new token, its share of the prompt with it.
        max_cost: of a million new tokens.
    """

    min_tokens_per_s: float | None = None
    max_first_ms: float | None = None
    max_joules: float | None = None
    max_cost: float | None = None

    def __post_init__(self) -> None:
        limits = {item.name: getattr(self, item.name) for item in fields(self)}
        if all(limit is None for limit in limits.values()):
            raise InputError(
                "the budget", "it has no limit of a language model", "add --min-tokens-per-s 20"
            )
        for name, limit in limits.items():
            if limit is not None and not 0 < limit < math.inf:
                raise InputError(name, f"{limit} is not a number over 0", "state one")


@dataclass(frozen=True)
class LanguageOption:
    """A run on a device, held against a budget.

    Attributes:
        generation: the run; it has a number.
        budget: the limits.
        price_per_hour: of one card; 0 where none is stated.
    """

    generation: Generation
    budget: LanguageBudget
    price_per_hour: float = 0.0

    @property
    def joules(self) -> Power | None:
        """Joules of a new token with the interval; None where the power is not known."""
        return self.generation.joules_per_token

    @cached_property
    def cost(self) -> Power | None:
        """Price of a million new tokens with the interval; None without a price."""
        total, request = self.generation.end_to_end, self.generation.request
        if not self.price_per_hour or total is None:
            return None
        a_ms = 1e6 * self.price_per_hour * request.cards / 3.6e6 / (request.new * request.batch)
        return Power(a_ms * total.median, a_ms * total.low, a_ms * total.high)

    @cached_property
    def chances(self) -> Mapping[str, float]:
        """Chance of each limit by its name, 0 where nothing is known of the quantity."""
        budget, token, first = self.budget, self.generation.token, self.generation.first_token
        of_rate = budget.min_tokens_per_s
        a_token = None if of_rate is None else 1000 * self.generation.request.batch / of_rate
        rows = (
            ("tokens a second", a_token, token),
            ("first token", budget.max_first_ms, first),
            ("joules a token", budget.max_joules, self.joules),
            ("cost", budget.max_cost, self.cost),
        )
        return {
            name: 0.0 if value is None else _chance(limit, value.median, value.low, value.high)
            for name, limit, value in rows
            if limit is not None
        }

    @property
    def chance(self) -> float:
        """Chance that all limits are kept: the least one, for a device errs alike in all."""
        return 0.0 if self.generation.fits is False else min(self.chances.values())

    @property
    def remark(self) -> str:
        """The limits that it breaks or that nothing is known of, in words."""
        words = ["does not fit"] if self.generation.fits is False else []
        if self.budget.max_joules is not None and self.joules is None:
            words.append("its power is not known")
        if self.budget.max_cost is not None and self.cost is None:
            words.append("no price is stated")
        return "; ".join(words)


def _chance(limit: float, median: float, low: float, high: float) -> float:
    """Return the chance that a log-normal quantity is at most a limit."""
    distance = math.log(limit / median)
    width = math.log(high / median) if distance > 0 else math.log(median / low)
    if width <= 0:
        return float(distance >= 0)
    return NormalDist().cdf(Z80 * distance / width)


AXES: Final = ("tokens", "first", "joules", "cost")


def choose_language(
    results: Sequence[Generation], budget: LanguageBudget, prices: Prices, axis: str = ""
) -> list[LanguageOption]:
    """Return the options with a number, the best first.

    Chances over 99 % count as equal; among these, and everywhere where it is stated, the axis
    ranks.

    Args:
        results: runs on devices.
        budget: the limits.
        prices: of a card.
        axis: one of ``AXES``; empty for joules where they are limited, cost, then tokens.

    Raises:
        InputError: no device has a number.
    """
    options = [
        LanguageOption(result, budget, prices.of(result.device.id))
        for result in results
        if result.token is not None
    ]
    if not options:
        problem = results[0].problem if results else "no device is named"
        raise InputError("the devices", problem, "choose others")
    usual = "joules" if budget.max_joules else "cost" if budget.max_cost else "tokens"
    value = axis or usual

    def key(option: LanguageOption) -> tuple[float, float]:
        certain = min(option.chance, CERTAIN) if not axis else float(option.chance >= 1 / 2)
        return -certain, quantity(option, value)

    return sorted(options, key=key)


def quantity(option: LanguageOption, axis: str) -> float:
    """Return what an option has on an axis, less for better, infinite where it is not known."""
    one = option.generation
    if axis == "tokens":
        return -(one.decode_tokens_per_s or 0.0)
    value = {"first": one.first_token, "joules": option.joules, "cost": option.cost}[axis]
    return math.inf if value is None else value.median


def language_sentence(options: Sequence[LanguageOption], min_chance: float) -> str:
    """Return on how many devices a model keeps the budget, and the first of the options.

    Args:
        options: ranked, at least one.
        min_chance: from which one keeps it.
    """
    keeping = sum(option.chance >= min_chance for option in options)
    of = plural(len(options), "device")
    sentence = f"{options[0].generation.model}: {keeping} of {of} keep the budget"
    first = options[0].generation
    rate = f"{number(first.decode_tokens_per_s)} tokens/s"
    if not keeping:
        return f"{sentence}; nearest {first.device.name}, {rate}."
    joules = options[0].joules
    energy = "" if joules is None else f", {number(joules.median)} J a token"
    return f"{sentence}; first {first.device.name}, {rate}{energy}."


def option_entry(option: LanguageOption) -> dict[str, object]:
    """Return an option as plain values, None where nothing is known."""
    one = option.generation
    return {
        "device": one.device.id,
        "runtime": one.runtime,
        "weights": one.weights,
        "cards": one.request.cards,
        "chance": option.chance,
        "chances": dict(option.chances),
        "first_token_ms": one.first_token and one.first_token.median,
        "tokens_per_s": one.decode_tokens_per_s,
        "fits": one.fits,
        "watts": one.power and one.power.median,
        **_entry_of("joules_per_token", option.joules),
        **_entry_of("cost_per_million_tokens", option.cost),
        "price_per_hour": option.price_per_hour or None,
        "remark": option.remark or None,
    }


def _entry_of(name: str, value: Power | None) -> dict[str, float | None]:
    values = (None, None, None) if value is None else value
    return dict(zip((name, f"{name}_low80", f"{name}_high80"), values, strict=True))


def front(options: Sequence[LanguageOption]) -> list[LanguageOption]:
    """Return the options that fit and that no other beats in tokens, joules and cost at once.

    Joules or cost that no option knows are left out; an option that does not know one is not on it.
    """
    fitting = [option for option in options if option.generation.fits is not False]
    axes = [
        axis
        for axis in ("tokens", "joules", "cost")
        if any(math.isfinite(quantity(option, axis)) for option in fitting)
    ]
    goods = [[quantity(option, axis) for axis in axes] for option in fitting]
    return [
        option
        for option, good in zip(fitting, goods, strict=True)
        if all(map(math.isfinite, good))
        and not any(
            other != good and all(a <= b for a, b in zip(other, good, strict=True))
            for other in goods
        )
    ]
