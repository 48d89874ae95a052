"""The sentence over the comparison: who meets the budget, and who is the fastest."""

from __future__ import annotations

import numpy as np

from ctm_gui.presenters.comparison_columns import ComparisonColumns
from ctm_gui.presenters.comparison_groups import target_groups
from predictor.core.text import plural
from predictor.core.units import LatencyUnit
from predictor.core.wording import batch_of, latency_text, number, shown

# More models than this are summed up instead of named one by one.
_MODELS_NAMED = 3


def summary(columns: ComparisonColumns, budget_ms: float | None, unit: LatencyUnit) -> str:
    """Say in one line how many targets meet the budget and which is the fastest.

    For example ``3 of 12 targets meet 30 ms; fastest: RTX 4090 (1.2 ms)``. What numbers assume
    follows, a sentence a line.
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
    return f"{missing} without a number" if missing else ""


def _targets(count: int) -> str:
    return plural(count, "target")
