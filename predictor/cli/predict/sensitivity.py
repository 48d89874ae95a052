"""The sensitivity of predictions, as text and as a part of the document."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

from predictor.cli.tables import render_table
from predictor.core.prediction import Prediction
from predictor.core.records import Basis, Measurement, Target
from predictor.graph.model import Model
from predictor.presentation.wording import NOTHING, memory_text, number, signed
from predictor.services.prediction.predict import KnownTargets
from predictor.services.prediction.sensitivity import (
    Alternative,
    Sensitivity,
    change_words,
    sensitivity_of,
)

MOVES: Final = "Moves with"
_FACTS: Final = ("Fact", "Value", "Elasticity", "+10 %")
_ALTERNATIVES: Final = ("Change", "ms", "Latency", "80 % interval", "Items a second", "Memory")
_DOCUMENTED: Final = (
    "change",
    "latency_ms",
    "latency_factor",
    "low80_factor",
    "high80_factor",
    "throughput_factor",
    "fits_memory",
)
_STRONGEST: Final = 2  # facts of an operator


def sensitivities(
    options: argparse.Namespace,
    model: Model,
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    measured: KnownTargets,
    measurements: Sequence[Measurement],
) -> list[Sensitivity | None]:
    """Return the sensitivity of each prediction of a model; None without a number of the engine.

    Args:
        options: the engine.
        model: the model.
        targets: the targets.
        predictions: one a target.
        measured: the user's measurements on the targets.
        measurements: the user's measurements of the model.
    """
    return [
        sensitivity_of(model, target, options.engine, measured, measurements).scaled(
            prediction.scale
        )
        if _is_predicted(prediction)
        else None
        for target, prediction in zip(targets, predictions, strict=True)
    ]


def _is_predicted(prediction: Prediction) -> bool:
    is_measured = prediction.basis is Basis.MEASURED
    return (prediction.predicted_ms if is_measured else prediction.latency_ms) is not None


def sensitivity_blocks(sensitivity: Sensitivity) -> list[str]:
    """Return a sentence, a table of facts and one of alternatives."""
    facts = [
        (fact.label, f"{number(fact.value, 5)} {fact.unit}", signed(fact.elasticity),
         change_words(fact.more))
        for fact in sensitivity.facts
    ]  # fmt: skip
    alternatives = [
        (
            alternative.change,
            number(alternative.latency_ms),
            change_words(alternative.latency_factor),
            _interval(alternative),
            change_words(alternative.throughput_factor),
            memory_text(alternative.fits_memory),
        )
        for alternative in sensitivity.alternatives
    ]
    blocks = [sensitivity.sentence]
    blocks += [render_table(_FACTS, facts, " rrr")] if facts else []
    blocks += [render_table(_ALTERNATIVES, alternatives, " rrrr")] if alternatives else []
    return [block for block in blocks if block]


def _interval(alternative: Alternative) -> str:
    low, high = alternative.low80_factor, alternative.high80_factor
    if low is None or high is None:
        return NOTHING
    return " to ".join(change_words(end) for end in (low, high))


def strongest(sensitivity: Sensitivity, operator: int) -> str:
    """Return the facts that move one operator's time most, with their elasticities."""
    labels = {fact.fact: fact.label for fact in sensitivity.facts}
    elasticities = sorted(sensitivity.of_operator(operator).items(), key=lambda item: -abs(item[1]))
    return ", ".join(f"{labels[name]} {signed(value)}" for name, value in elasticities[:_STRONGEST])


def add_sensitivity(entry: dict[str, Any], sensitivity: Sensitivity | None) -> None:
    """Add a prediction's sensitivity to its entry in the document, and to those of operators."""
    entry["sensitivity"] = None if sensitivity is None else _entry(sensitivity)
    for place, operator in enumerate(entry.get("operators", ())):
        operator["sensitivity"] = None if sensitivity is None else sensitivity.of_operator(place)


def _entry(sensitivity: Sensitivity) -> dict[str, object]:
    return {
        "facts": [
            {
                "fact": fact.fact,
                "unit": fact.unit,
                "value": fact.value,
                "elasticity": fact.elasticity,
                "factor_at_plus_10_percent": fact.more,
            }
            for fact in sensitivity.facts
        ],
        "alternatives": [
            {name: getattr(alternative, name) for name in _DOCUMENTED}
            for alternative in sensitivity.alternatives
        ],
    }
