"""Rows of tables of predictions, and how their runs are worded."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from predictor.core.prediction import Prediction
from predictor.core.runtimes import UNKNOWN
from predictor.core.units import LatencyUnit
from predictor.presentation import wording


class Place(StrEnum):
    """Places that predictions are shown in."""

    COMPARE = "compare"
    DETAILS = "details"
    HISTORY = "history"
    TEXT = "text"
    REPORT = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRates:
    """How fast a language model answers on a device, where other models have a latency.

    Attributes:
        weights: format of the weights.
        per_s: new tokens a second of all sequences; None without a number.
        low_per_s, high_per_s: 80 % interval of it.
        first_ms: from the prompt to the first token; None without a number.
        first_low_ms, first_high_ms: 80 % interval of it.
        prompt: tokens of the prompt.
    """

    weights: str
    per_s: float | None = None
    low_per_s: float | None = None
    high_per_s: float | None = None
    first_ms: float | None = None
    first_low_ms: float | None = None
    first_high_ms: float | None = None
    prompt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionRow:
    """One prediction with the words that the prediction itself does not carry.

    Attributes:
        prediction: latency of one model on one target, or why there is none.
        device_name: the device's name for people.
        model_label: the model's name, unique among those shown.
        vendor: maker of the device.
        family: kind of compute unit, as in ``Family``.
        notes: assumptions about the model, in whole sentences.
        batch: that its target asks for; 0 for the model's own.
        tokens: of a language model, whose prediction has no latency; None of any other.
    """

    prediction: Prediction
    device_name: str
    model_label: str
    vendor: str = ""
    family: str = ""
    notes: tuple[str, ...] = ()
    batch: int = 0
    tokens: TokenRates | None = None

    @property
    def has_number(self) -> bool:
        """Whether it has a latency, or a rate of tokens."""
        value = self.prediction.latency_ms if self.tokens is None else self.tokens.per_s
        return value is not None

    @property
    def precision(self) -> str:
        """Precision of the run, of a language model the format of its weights."""
        precision = self.prediction.configuration.precision.value
        return precision if self.tokens is None else self.tokens.weights


@dataclass(frozen=True, slots=True)
class TableContext:
    """Place of a table, unit of its latencies, and the budget that they are compared with.

    A budget is in milliseconds, None without one.
    """

    place: Place
    unit: LatencyUnit = LatencyUnit.MS
    budget_ms: float | None = None


def run_text(row: PredictionRow) -> str:
    """Return runtime and precision as they stand beside a device: ``llama.cpp q4_k_m``."""
    if row.tokens is None:
        return wording.runtime_text(row.prediction.configuration)
    runtime = row.prediction.configuration.runtime
    return row.tokens.weights if runtime == UNKNOWN else f"{runtime} {row.tokens.weights}"


def configuration_words(row: PredictionRow) -> str:
    """Return how a row runs in a few words: ``llama.cpp, q4_k_m, batch 8``."""
    configuration = row.prediction.configuration
    if row.tokens is None:
        return wording.configuration_text(configuration)
    runtime = "" if configuration.runtime == UNKNOWN else configuration.runtime
    words = (runtime, row.tokens.weights, wording.rest_text(configuration))
    return ", ".join(filter(None, words))


def tokens_text(tokens: TokenRates, unit: LatencyUnit) -> str:
    """Return the rate and the first token in words: ``547 tokens/s, first token 13.9 ms``."""
    of_time = LatencyUnit.MS if unit is LatencyUnit.FPS else unit
    first = wording.number(wording.in_unit(tokens.first_ms, of_time, 1))
    return f"{wording.number(tokens.per_s)} tokens/s, first token {first} {of_time}"
