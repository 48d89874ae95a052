"""The words of the Compare view about one prediction: its details, its badges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from textwrap import wrap

from predictor.core.prediction import Prediction
from predictor.core.records import Basis
from predictor.core.text import capitalised
from predictor.core.units import LatencyUnit
from predictor.presentation.prediction_rows import (
    Place,
    PredictionRow,
    TableContext,
    configuration_words,
    tokens_text,
)
from predictor.presentation.remarks import remarks
from predictor.presentation.verdict import verdict_text
from predictor.presentation.wording import (
    NOTHING,
    UNSTABLE,
    adaptation_text,
    basis_text,
    batch_of,
    interval_text,
    latency_text,
    limit_sign,
    memory_details,
    number,
    p50_text,
    shown,
)

_OPERATORS_NAMED = 3
# Hovering shows lines as they are: one with the evidence would be as wide as the window.
_LONGEST_LINE = 90


def details(row: PredictionRow, unit: LatencyUnit, budget_ms: float | None) -> str:
    """Return the lines that hovering over a bar or a row shows, as plain text."""
    prediction = row.prediction
    batch = batch_of(prediction.configuration)
    lines = [f"{shown(row.model_label)} on {shown(row.device_name)}", *_number_lines(row, unit)]
    if (interval := interval_text(prediction, unit)) != NOTHING:
        lines.append(f"80 % interval: {interval} {unit}")
    if prediction.bound_ms is not None:
        lines.append(f"Bound: {latency_text(prediction.bound_ms, unit, batch)}")
    for remark in remarks(row, TableContext(Place.DETAILS, unit, budget_ms)):
        lines += wrap(capitalised(remark), _LONGEST_LINE, subsequent_indent="    ")
    if budget_ms is not None and prediction.latency_ms is not None:
        lines.append(f"Budget {number(budget_ms)} ms: {verdict_text(prediction, budget_ms)}")
    lines.append(f"Memory: {memory_details(prediction)}")
    if prediction.flagged_operators:
        lines.append(f"Not counted in full: {_flagged(prediction.flagged_operators)}")
    lines += row.notes
    lines.append(f"Configuration: {configuration_words(row)}")
    if (explanation := prediction.configuration.precision.explanation) and row.tokens is None:
        lines.append(explanation)
    by = f", engine {shown(prediction.engine)}" if prediction.engine else ""
    lines.append(f"Basis: {basis_text(prediction)}{by}")
    if adaptation := adaptation_text(prediction):
        lines.append(f"Adapted by: {adaptation}")
    return "\n".join(lines)


def _number_lines(row: PredictionRow, unit: LatencyUnit) -> Iterator[str]:
    """Yield the lines on the latency, or on the rate and the first token of a language model."""
    prediction, tokens = row.prediction, row.tokens
    batch = batch_of(prediction.configuration)
    if tokens is not None and row.has_number:
        yield f"{tokens_text(tokens, unit)} after a prompt of {tokens.prompt:,} tokens"
        rate = f"{number(tokens.low_per_s)} – {number(tokens.high_per_s)} tokens/s"
        first = f"{number(tokens.first_low_ms)} – {number(tokens.first_high_ms)} ms"
        yield f"80 % interval: {rate}, first token {first}"
    if prediction.latency_ms is None:
        return
    limit = ", of what is counted" if limit_sign(prediction) else ""
    yield f"Latency: {p50_text(prediction, unit)} (P50{limit})"
    if batch > 1:
        per_item = f"{limit_sign(prediction)}{number(prediction.latency_ms / batch)} ms each"
        yield f"{batch} items a call: {per_item}, {p50_text(prediction, LatencyUnit.FPS)}"


def _flagged(operators: tuple[str, ...]) -> str:
    """Name the first of the operators that are not counted in full."""
    first = ", ".join(shown(name) for name in operators[:_OPERATORS_NAMED])
    more = len(operators) - _OPERATORS_NAMED
    return f"{first} and {more} more" if more > 0 else first


class BadgeStyle(StrEnum):
    """Outline of a badge: the firmer its statement, the firmer the line."""

    FILLED = "filled"
    OUTLINED = "outlined"
    DASHED = "dashed"
    PLAIN = "plain"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Badge:
    """A word in a frame beside a bar."""

    text: str
    style: BadgeStyle


_BASIS_STYLES = {
    Basis.MEASURED: BadgeStyle.FILLED,
    Basis.PROBED: BadgeStyle.OUTLINED,
    Basis.ZERO_SHOT: BadgeStyle.DASHED,
    Basis.ANALYTIC: BadgeStyle.PLAIN,
}


def badges_of(prediction: Prediction) -> tuple[Badge, ...]:
    """Return the badges of a prediction: its basis, and whether it is unstable or uncertain."""
    if prediction.basis is None:
        return ()
    basis = Badge(prediction.basis.words, _BASIS_STYLES[prediction.basis])
    doubts = [UNSTABLE] if prediction.unstable else []
    doubts += ["uncertain"] if prediction.out_of_distribution else []
    return (basis, *(Badge(word, BadgeStyle.WARNING) for word in doubts))
