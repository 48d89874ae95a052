"""How a device serves a load, in sentences."""

from __future__ import annotations

import math
from typing import Final

from predictor.core.text import plural
from predictor.presentation.wording import NOTHING, number, shown
from predictor.services.serving.records import Between, Serving, Tail


def answer(result: Serving) -> str:
    """Return the answer on one device in one line."""
    name = shown(result.device.name)
    if result.problem:
        return f"{name}: {result.problem}."
    tails = [
        f"{what} {tail_words(tail)}"
        for what, tail in (("first token", result.first), ("a token", result.token))
        if tail
    ]
    times = [f"{'; '.join(tails)}."] if tails else []
    return " ".join([f"{name}:", *times, *load_sentences(result), *rate_sentences(result)])


def tail_words(tail: Tail) -> str:
    """Return the percentiles of a time with the unit."""
    values = "/".join(number(value.median) for value in (tail.p50, tail.p90, tail.p99))
    return f"{values} ms (P50/P90/P99)"


def load_sentences(result: Serving) -> list[str]:
    """Return what a device does with its load, and by how much it is over its capacity."""
    capacity, overload = result.capacity_per_s, result.overload
    if capacity is None or overload is None:
        return []
    limit = f"{number(capacity.median)} ({between(capacity)}) requests a second"
    if result.first is None:
        return [
            f"the load is {percent(overload - 1)} over what it completes, {limit}.",
            "The queue grows without end, so there is no percentile.",
        ]
    texts = [
        f"{number(result.tokens_per_s)} tokens/s,",
        f"{number(result.mean_batch)} sequences in a batch;",
        f"loaded to {percent(overload)} of {limit}.",
    ]
    if result.load.limits and result.good_share is not None:
        texts += [
            f"{percent(result.good_share, 1)} of the requests are within the limits,",
            f"{number(result.good_per_s)} a second.",
        ]
    if energy := result.joules_per_token:
        joules = f"{number(energy.low)}-{number(energy.high)}"
        texts.append(f"{number(energy.median)} ({joules}) joules a new token.")
    if (cost := result.cost_per_million) is not None:
        texts.append(f"A million new tokens cost {number(cost)}.")
    return texts


def rate_sentences(result: Serving) -> list[str]:
    """Return how many sequences fit, the largest rate within the limits and the cards needed."""
    texts = []
    if result.sequences is not None:
        texts.append(f"{plural(result.sequences, 'sequence')} at once.")
    over = [_EXCESS[name] for name in result.excess]
    if not result.load.limits:
        return texts + [f"No number of cards keeps the limit of {limit}." for limit in over]
    if not result.largest_per_s:
        return [*texts, "No rate keeps the limits: a request alone is over them."]
    cards = plural((result.groups or 1) * result.load.run.cards, "card")
    texts.append(f"Up to {number(result.largest_per_s)} requests a second keep the limits;")
    what = "its latency" if over else "this load"
    texts.append(f"{what} needs {cards}{_of_cards_needed(result)}.")
    return texts + [f"No number of cards keeps the limit of {limit}." for limit in over]


_EXCESS: Final = {"joules": "joules a token", "cost": "cost"}


def _of_cards_needed(result: Serving) -> str:
    """Return energy and cost where the load needs more than one group of cards."""
    texts = []
    if (result.groups or 1) > 1:
        if joules := result.joules_needed:
            texts.append(f"{number(joules.median)} joules a new token")
        if (cost := result.cost_needed) is not None:
            texts.append(f"{number(cost)} for a million of them")
    return f": {', '.join(texts)}" if texts else ""


def between(value: Between) -> str:
    """Return the 80 % interval of a figure."""
    high = number(value.high) if math.isfinite(value.high) else NOTHING
    return f"{number(value.low)}-{high}"


def percent(share: float, digits: int = 0) -> str:
    """Return a share in percent."""
    return f"{100 * share:.{digits}f} %"
