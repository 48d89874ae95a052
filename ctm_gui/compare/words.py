"""The words of the Compare view: details of a prediction, its badges, the sentence over all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from textwrap import wrap

import numpy as np

from ctm_gui.compare.columns import ComparisonColumns, target_groups
from predictor.core.columns import Place, PredictionRow, TableContext, remarks
from predictor.core.records import Basis, Prediction
from predictor.core.text import capitalised, plural
from predictor.core.units import LatencyUnit
from predictor.core.verdict import verdict_text
from predictor.core.wording import (
    adaptation_text,
    basis_text,
    batch_of,
    configuration_text,
    interval_text,
    latency_text,
    memory_details,
    number,
    shown,
)

# More models than this are summed up instead of named one by one.
_MODELS_NAMED = 3
_OPERATORS_NAMED = 3
# Hovering shows lines as they are: one with the evidence would be as wide as the window.
_LONGEST_LINE = 90


def details(row: PredictionRow, unit: LatencyUnit, budget_ms: float | None) -> str:
    """Return the lines that hovering over a bar or a row shows, as plain text."""
    prediction = row.prediction
    batch = batch_of(prediction.configuration)
    lines = [f"{shown(row.model_label)} on {shown(row.device_name)}"]
    if prediction.latency_ms is not None:
        lines.append(f"Latency: {latency_text(prediction.latency_ms, unit, batch)} (P50)")
    if prediction.low80_ms is not None:
        lines.append(f"80 % interval: {interval_text(prediction, unit)} {unit}")
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
    lines.append(f"Configuration: {configuration_text(prediction.configuration)}")
    lines.append(f"Basis: {basis_text(prediction)}, engine {shown(prediction.engine)}")
    if adaptation := adaptation_text(prediction):
        lines.append(f"Adapted by: {adaptation}")
    return "\n".join(lines)


def summary(columns: ComparisonColumns, budget_ms: float | None, unit: LatencyUnit) -> str:
    """Return one line: the number of targets within the budget, and the fastest target.

    For example ``3 of 12 targets meet 30 ms; fastest: RTX 4090 (1.2 ms)``. The assumptions of the
    numbers follow, a sentence a line.
    """
    if not len(columns):
        return ""
    parts = [_counts(columns, budget_ms), _fastest(columns, unit), _without_number(columns)]
    said = "; ".join(part for part in parts if part)
    notes = dict.fromkeys(note for row in columns.rows for note in row.notes)
    return "\n".join([said, *notes])


def _counts(columns: ComparisonColumns, budget_ms: float | None) -> str:
    targets, models = len(target_groups(columns)), columns.models
    if budget_ms is None:
        of_models = [plural(len(models), "model")] if len(models) > 1 else []
        return ", ".join([_targets(targets), *of_models])
    meets = columns.latency_ms <= budget_ms
    count = int(meets.sum())
    budget = f"{number(budget_ms)} ms"
    if len(models) == 1:
        return f"{count} of {plural(targets, 'target meets', 'targets meet')} {budget}"
    if len(models) > _MODELS_NAMED:
        return (
            f"{count} of {len(columns)} predictions meet {budget} ({len(models)} models on "
            f"{_targets(targets)})"
        )
    of_model = np.bincount(columns.model[meets], minlength=len(models)).tolist()
    each = ", ".join(
        f"{shown(model)} on {met}" for model, met in zip(models, of_model, strict=True)
    )
    return f"{budget} met by {each} of {_targets(targets)}"


def _fastest(columns: ComparisonColumns, unit: LatencyUnit) -> str:
    if np.isnan(columns.latency_ms).all():
        return ""
    best = columns.rows[int(np.nanargmin(columns.latency_ms))]
    prediction = best.prediction
    text = latency_text(prediction.latency_ms, unit, batch_of(prediction.configuration))
    device = shown(best.device_name)
    if len(columns.models) == 1:
        return f"fastest: {device} ({text})"
    return f"fastest: {shown(best.model_label)} on {device} ({text})"


def _without_number(columns: ComparisonColumns) -> str:
    missing = int(np.isnan(columns.latency_ms).sum())
    return f"{missing} not predictable" if missing else ""


def _targets(count: int) -> str:
    return plural(count, "target")


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
    """Return the badges of a prediction: its basis, and whether it is out of distribution."""
    if prediction.latency_ms is None or prediction.basis is None:
        return ()
    basis = Badge(prediction.basis.words, _BASIS_STYLES[prediction.basis])
    if not prediction.out_of_distribution:
        return (basis,)
    return (basis, Badge("uncertain", BadgeStyle.WARNING))
