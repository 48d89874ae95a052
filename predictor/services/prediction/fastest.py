"""The fastest model on a target that meets a budget, also as a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from predictor.core.prediction import Prediction
from predictor.presentation.verdict import is_over, meets
from predictor.presentation.wording import interval_ms, number, p50_text, shown

UNRELATED: Final = "not ranked, since their inputs or outputs differ"


def is_rankable(prediction: Prediction) -> bool:
    """Whether a target may be named the fastest by its prediction.

    A lower limit may not: what it leaves out may take any time. Nor may a number of a class that
    was checked on few chips.
    """
    return rank(prediction)[0] == 0 and not prediction.few_chips


def rank(prediction: Prediction) -> tuple[int, float]:
    """Return a key that sorts predictions: the fastest first, lower limits, then those without."""
    if prediction.latency_ms is None:
        return 2, math.inf
    return int(prediction.is_lower_limit), prediction.latency_ms


def fastest_within(predictions: Sequence[Prediction], budget_ms: float | None) -> int | None:
    """Return the index of the fastest prediction of one target, if its P50 meets the budget.

    A lower limit is no answer: None where there is nothing else.

    Args:
        predictions: of several models on one target.
        budget_ms: None for no budget.
    """
    index = _fastest(predictions)
    if index is None or predictions[index].is_lower_limit:
        return None
    return None if is_over(predictions[index], budget_ms) else index


def fastest_sentence(
    predictions: Sequence[Prediction],
    names: Sequence[str],
    budget_ms: float | None,
    *,
    are_related: bool = True,
) -> str:
    """Name the fastest of several models that meets the budget on one target.

    For example ``int8.onnx is the fastest that meets 30 ms: 12.3 ms (2 of 3 models meet it)``.
    Of models that cannot stand in for one another those that meet it are counted, none is named.

    Args:
        predictions: of several models on one target.
        names: of the models, in the same order.
        budget_ms: None for no budget.
        are_related: whether each model can stand in for the others.
    """
    index = _fastest(predictions)
    if index is None:
        return f"no model has a number: {predictions[0].problem}" if predictions else "no model"
    if not are_related:
        return _counted(predictions, budget_ms)
    fastest, name = predictions[index], shown(names[index])
    if fastest.is_lower_limit:
        return f"not known: {name} takes {p50_text(fastest)}, operators of unknown cost apart"
    if budget_ms is None:
        return f"{name} is the fastest: {p50_text(fastest)}"
    budget = f"{number(budget_ms)} ms"
    if is_over(fastest, budget_ms):
        return (
            f"none of {len(predictions)} models meets {budget}; {name} comes nearest with "
            f"{p50_text(fastest)}{_hope(fastest, budget_ms)}"
        )
    doubt = _doubt(fastest, budget_ms)
    return (
        f"{name} is the fastest that meets {budget}: {p50_text(fastest)}{doubt} "
        f"({_meeting(predictions, budget_ms)} of {len(predictions)} models meet it)"
    )


def _counted(predictions: Sequence[Prediction], budget_ms: float | None) -> str:
    """Return how many unrelated models meet a budget."""
    if budget_ms is None:
        return UNRELATED
    count = _meeting(predictions, budget_ms)
    meeting = f"{count or 'none'} of {len(predictions)} models {'meet' if count > 1 else 'meets'}"
    return f"{meeting} {number(budget_ms)} ms; {UNRELATED}"


def _meeting(predictions: Sequence[Prediction], budget_ms: float) -> int:
    return sum(meets(prediction, budget_ms) for prediction in predictions)


def _fastest(predictions: Sequence[Prediction]) -> int | None:
    answered = [index for index, p in enumerate(predictions) if p.latency_ms is not None]
    return min(answered, key=lambda index: rank(predictions[index]), default=None)


def _doubt(prediction: Prediction, budget_ms: float) -> str:
    _, high = interval_ms(prediction)
    if high is None or high <= budget_ms:
        return ""
    return f", though its 80 % interval reaches {number(high)} ms"


def _hope(prediction: Prediction, budget_ms: float) -> str:
    low, _ = interval_ms(prediction)
    if low is None or low > budget_ms:
        return ""
    return f", whose 80 % interval begins at {number(low)} ms"
