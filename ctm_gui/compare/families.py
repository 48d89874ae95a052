"""Whether models are variants of one network, so that their operators can be set side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations

from predictor.graph.model import Model

# Of the operators of the larger model by name and type, and of the products of the smaller one.
_NAMES_SHARE, _MACS_SHARE = 0.6, 0.5
_MIN_PART = 0.25  # of the larger one's products; fewer are alike by chance
_MODELS = 12  # more than these are not looked through
_OPERATORS = 20_000


def first_variants(models: Sequence[Model]) -> tuple[int, int] | None:
    """Return the first two of one family: fine-tuned, pruned, quantised, resized; None for none.

    Large models are taken for one: to look would stall the window.
    """
    first = models[:_MODELS]
    pairs = combinations(range(len(first)), 2)
    if any(len(model.graph) > _OPERATORS for model in first):
        return next(pairs, None)
    names: list[Counter[Hashable]] = [
        Counter(zip(m.graph.names, m.graph.op_types, strict=True)) for m in first
    ]
    macs: list[Counter[Hashable]] = [
        Counter(m.graph.macs[m.graph.macs > 0].tolist()) for m in first
    ]
    alike = (
        (a, b)
        for a, b in pairs
        if _common(names[a], names[b], max) >= _NAMES_SHARE
        or _common(macs[a], macs[b], min) >= _MACS_SHARE
    )
    return next(alike, None)


def _common(
    first: Counter[Hashable], second: Counter[Hashable], of: Callable[[int, int], int]
) -> float:
    """Return the share of entries that two multisets have in common, where it can be enough."""
    fewer, more = sorted((first, second), key=Counter.total)
    count = of(fewer.total(), more.total())
    # All of the smaller one are not enough of a much larger one: not looked through.
    if not count or fewer.total() < max(_MACS_SHARE * count, _MIN_PART * more.total()):
        return 0.0
    return (fewer & more).total() / count
