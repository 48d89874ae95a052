"""How a prediction stands to a latency budget."""

from __future__ import annotations

from enum import StrEnum

from predictor.core.records import Prediction
from predictor.core.wording import number


class Verdict(StrEnum):
    """How a prediction stands to the budget."""

    NONE = "—"
    MEETS = "meets"
    MEETS_MAYBE = "meets, may miss"
    OVER_MAYBE = "over, may meet"
    OVER = "over"


def verdict(prediction: Prediction, budget_ms: float | None) -> Verdict:
    """Return how ``prediction`` stands to the budget; its P50 decides, its interval qualifies."""
    latency = prediction.latency_ms
    if latency is None or budget_ms is None:
        return Verdict.NONE
    if latency <= budget_ms:
        high = prediction.high80_ms
        return Verdict.MEETS if high is None or high <= budget_ms else Verdict.MEETS_MAYBE
    low = prediction.low80_ms
    return Verdict.OVER if low is None or low > budget_ms else Verdict.OVER_MAYBE


def is_over(prediction: Prediction, budget_ms: float | None) -> bool:
    """Return whether the P50 is over the budget."""
    return verdict(prediction, budget_ms) in {Verdict.OVER, Verdict.OVER_MAYBE}


def verdict_text(prediction: Prediction, budget_ms: float | None) -> str:
    """Write the verdict, with how many times the budget a latency over it takes."""
    found = verdict(prediction, budget_ms)
    if prediction.latency_ms is None or not budget_ms or not is_over(prediction, budget_ms):
        return found.value
    return f"{found.value} ({number(prediction.latency_ms / budget_ms)}×)"
