"""What the Compare view shows of one prediction: its words, its verdict, its details.

Everything here is free of widgets; latencies are milliseconds unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from predictor.core.records import Prediction
from predictor.core.units import LatencyUnit
from predictor.core.verdict import verdict_text
from predictor.core.wording import (
    adaptation_text,
    basis_text,
    batch_of,
    configuration_text,
    interval_text,
    latency_text,
    memory_text,
    number,
    shown,
)


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One prediction with the words that the prediction itself does not carry.

    Attributes:
        prediction: latency of one model on one target, or why there is none.
        device_name: the device's name for people.
        vendor: maker of the device.
        family: kind of compute unit, as in ``Family``.
        model_label: the model's name in the window, unique among the loaded models.
        notes: what the number assumes about the model, in whole sentences.
    """

    prediction: Prediction
    device_name: str
    vendor: str
    family: str
    model_label: str
    notes: tuple[str, ...] = ()


def details(row: ComparisonRow, unit: LatencyUnit, budget_ms: float | None) -> str:
    """Return the lines that hovering over a bar or a row shows, as plain text."""
    prediction = row.prediction
    batch = batch_of(prediction.configuration)
    lines = [f"{shown(row.model_label)} on {shown(row.device_name)}"]
    if prediction.latency_ms is None:
        lines.append(f"No number: {shown(prediction.problem)}")
    else:
        lines.append(f"Latency: {latency_text(prediction.latency_ms, unit, batch)} (P50)")
    if prediction.low80_ms is not None:
        lines.append(f"80 % interval: {interval_text(prediction, unit)} {unit}")
    if prediction.bound_ms is not None:
        lines.append(f"Bound: {latency_text(prediction.bound_ms, unit, batch)}")
    lines += _standing(prediction, budget_ms)
    lines += row.notes
    lines.append(f"Configuration: {configuration_text(prediction.configuration)}")
    lines.append(f"Basis: {basis_text(prediction)}, engine {shown(prediction.engine)}")
    if adaptation := adaptation_text(prediction):
        lines.append(f"Adapted by: {adaptation}")
    if prediction.provenance:
        lines.append(f"Measured by: {shown(prediction.provenance)}")
    if prediction.predicted_ms is not None:
        own = latency_text(prediction.predicted_ms, unit, batch)
        lines.append(f"The engine alone predicts: {own}")
    return "\n".join(lines)


def _standing(prediction: Prediction, budget_ms: float | None) -> list[str]:
    lines = []
    if budget_ms is not None and prediction.latency_ms is not None:
        lines.append(f"Budget {number(budget_ms)} ms: {verdict_text(prediction, budget_ms)}")
    lines.append(f"Memory: {memory_text(prediction.fits_memory)}")
    if prediction.out_of_distribution:
        lines.append(f"Outside what the engine knows: {shown(prediction.out_of_distribution)}")
    if prediction.flagged_operators:
        first = ", ".join(shown(name) for name in prediction.flagged_operators[:3])
        more = len(prediction.flagged_operators) - 3
        rest = f" and {more} more" if more > 0 else ""
        lines.append(f"Flagged operators: {first}{rest}")
    return lines
