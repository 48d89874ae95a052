"""The fastest model on a target that meets a budget, also as a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from predictor.core.records import Prediction
from predictor.core.wording import number, shown


def fastest_within(predictions: Sequence[Prediction], budget_ms: float | None) -> int | None:
    """Return the index of the fastest prediction of one target, if its P50 meets the budget.

    Args:
        predictions: of several models on one target.
        budget_ms: None for no budget.
    """
    index = _fastest(predictions)
    if index is None or (budget_ms is not None and _latency_ms(predictions[index]) > budget_ms):
        return None
    return index


def fastest_sentence(
    predictions: Sequence[Prediction], names: Sequence[str], budget_ms: float | None
) -> str:
    """Name the fastest of several models that meets the budget on one target.

    For example ``int8.onnx is the fastest that meets 30 ms: 12.3 ms (2 of 3 models meet it)``.

    Args:
        predictions: of several models on one target.
        names: of the models, in the same order.
        budget_ms: None for no budget.
    """
    index = _fastest(predictions)
    if index is None:
        return f"no model has a number: {predictions[0].problem}" if predictions else "no model"
    name, latency_ms = shown(names[index]), _latency_ms(predictions[index])
    if budget_ms is None:
        return f"{name} is the fastest: {number(latency_ms)} ms"
    budget = f"{number(budget_ms)} ms"
    if latency_ms > budget_ms:
        return (
            f"none of {len(predictions)} models meets {budget}; {name} comes nearest with "
            f"{number(latency_ms)} ms{_hope(predictions[index], budget_ms)}"
        )
    meeting = sum(_latency_ms(prediction) <= budget_ms for prediction in predictions)
    doubt = _doubt(predictions[index], budget_ms)
    return (
        f"{name} is the fastest that meets {budget}: {number(latency_ms)} ms{doubt} "
        f"({meeting} of {len(predictions)} models meet it)"
    )


def _fastest(predictions: Sequence[Prediction]) -> int | None:
    answered = [index for index, p in enumerate(predictions) if p.latency_ms is not None]
    return min(answered, key=lambda index: _rank(predictions[index]), default=None)


def _rank(prediction: Prediction) -> tuple[bool, float]:
    return prediction.is_lower_limit, _latency_ms(prediction)


def _latency_ms(prediction: Prediction) -> float:
    return math.inf if prediction.latency_ms is None else prediction.latency_ms


def _doubt(prediction: Prediction, budget_ms: float) -> str:
    high = prediction.high80_ms
    if high is None or high <= budget_ms:
        return ""
    return f", though its 80 % interval reaches {number(high)} ms"


def _hope(prediction: Prediction, budget_ms: float) -> str:
    low = prediction.low80_ms
    if low is None or low > budget_ms:
        return ""
    return f", whose 80 % interval begins at {number(low)} ms"
