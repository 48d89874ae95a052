"""Verdicts on a prediction by a latency budget: in words, by tone, as a probability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from predictor.core.percentiles import Z80
from predictor.core.prediction import Prediction
from predictor.presentation.report import Tone
from predictor.presentation.wording import interval_ms, number, percent


class Verdict(StrEnum):
    """Verdict on a prediction by its budget."""

    NONE = "—"
    MEETS = "meets"
    MEETS_MAYBE = "meets, may miss"
    OPEN = "not known"
    OVER_MAYBE = "over, may meet"
    OVER = "over"


VERDICT_TONES: Final[Mapping[Verdict, Tone]] = {
    Verdict.NONE: Tone.PLAIN,
    Verdict.MEETS: Tone.GOOD,
    Verdict.MEETS_MAYBE: Tone.WARN,
    Verdict.OPEN: Tone.WARN,
    Verdict.OVER_MAYBE: Tone.WARN,
    Verdict.OVER: Tone.BAD,
}


def verdict(prediction: Prediction, budget_ms: float | None) -> Verdict:
    """Return the verdict on ``prediction``; its P50 decides, its interval qualifies.

    A lower limit within the budget decides nothing; one over it does.
    """
    latency = prediction.latency_ms
    if latency is None or budget_ms is None:
        return Verdict.NONE
    if prediction.is_lower_limit:
        return Verdict.OPEN if latency <= budget_ms else Verdict.OVER
    if latency <= budget_ms:
        high = prediction.high80_ms
        return Verdict.MEETS if high is None or high <= budget_ms else Verdict.MEETS_MAYBE
    low = prediction.low80_ms
    return Verdict.OVER if low is None or low > budget_ms else Verdict.OVER_MAYBE


def is_over(prediction: Prediction, budget_ms: float | None) -> bool:
    """Return whether the P50 is over the budget."""
    return verdict(prediction, budget_ms) in {Verdict.OVER, Verdict.OVER_MAYBE}


def meets(prediction: Prediction, budget_ms: float | None) -> bool:
    """Return whether the P50 is within the budget; False for a lower limit, which is no P50."""
    return verdict(prediction, budget_ms) in {Verdict.MEETS, Verdict.MEETS_MAYBE}


def verdict_text(prediction: Prediction, budget_ms: float | None) -> str:
    """Write the verdict; a latency over the budget with its multiple of the budget."""
    stands = verdict(prediction, budget_ms).value
    if prediction.latency_ms is None or not budget_ms or not is_over(prediction, budget_ms):
        return stands
    return f"{stands} ({number(prediction.latency_ms / budget_ms)}×)"


def verdict_tone(prediction: Prediction, budget_ms: float | None) -> Tone:
    """Return the tone of the verdict's words, muted where there is no number."""
    if prediction.latency_ms is None:
        return Tone.MUTED
    return VERDICT_TONES[verdict(prediction, budget_ms)]


def budget_probability(prediction: Prediction, budget_ms: float) -> float | None:
    """Return the probability of a latency within ``budget_ms``.

    None without an interval, and for a lower limit, of which only the counted part is known.

    The latency is taken as log-normal around P50, with the width of its 80 % interval on the
    side of the budget.
    """
    p50, (low, high) = prediction.latency_ms, interval_ms(prediction)
    if p50 is None or low is None or high is None:
        return None
    # Intervals need not be symmetric in the logarithm: the bound may cut the lower end.
    edge = high if budget_ms >= p50 else low
    deviation = abs(math.log(edge / p50)) / Z80
    if budget_ms <= 0 or deviation == 0:
        return float(budget_ms >= p50)
    z = math.log(budget_ms / p50) / deviation
    # The normal distribution function at z.
    return 0.5 * math.erfc(-z / math.sqrt(2))


def likelihood(part: float) -> str:
    """Write a probability, 0 to 1, never as certain: a prediction is not."""
    if part > 0.99:
        return "> 99 %"
    return "< 1 %" if part < 0.01 else percent(part, 2)
