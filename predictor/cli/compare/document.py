"""The JSON document of ``ctm compare``: a contract that scripts depend on."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from predictor.services.models.inspection import Model
from predictor.services.prediction.assumptions import assumptions
from predictor.services.prediction.comparison import ERROR_CORRELATION
from predictor.services.prediction.fastest import fastest_sentence, fastest_within
from predictor.services.prediction.operator_difference import (
    Change,
    OperatorDifference,
    TimesMoved,
    operator_difference,
    times_moved_on,
)
from predictor.services.prediction.predict import KnownTargets
from predictor.services.prediction.variants import Variants

SCHEMA = "ctm-comparison/1"


def comparison_document(
    options: argparse.Namespace,
    models: Sequence[Model],
    variants: Variants,
    known: KnownTargets,
) -> dict[str, object]:
    """Return the document: every key is always there, null where there is no number.

    Args:
        options: budget_ms, operators and engine.
        models: the models, in the order of ``variants``.
        variants: how they differ.
        known: what was measured on the targets.
    """
    count = len(variants.targets)
    document: dict[str, object] = {
        "schema": SCHEMA,
        "baseline": variants.labels[variants.baseline],
        "error_correlation": ERROR_CORRELATION,
        "differences": [
            _difference(models[place // count], variants, place // count, place % count)
            for place in range(len(variants.predictions))
        ],
        "fastest": [_fastest(options, variants, target) for target in range(count)],
    }
    if options.operators:
        document["operators"] = [
            _operators(options, models, variants, place, known)
            for place in range(len(models))
            if place != variants.baseline
        ]
    return document


def _difference(model: Model, variants: Variants, place: int, target: int) -> dict[str, object]:
    prediction, cell = variants.prediction(place, target), variants.cell(place, target)
    found = variants.differences
    return {
        "model": variants.labels[place],
        "fingerprint": prediction.fingerprint,
        "device": prediction.device_id,
        "configuration": asdict(prediction.configuration),
        "latency_ms": prediction.latency_ms,
        "basis": None if prediction.basis is None else prediction.basis.value,
        "signature": prediction.signature,
        "adaptation": prediction.adaptation,
        "baseline_ms": variants.prediction(variants.baseline, target).latency_ms,
        "difference_ms": _number(found.difference_ms, cell),
        "low80_ms": _number(found.low80_ms, cell),
        "high80_ms": _number(found.high80_ms, cell),
        "ratio": _number(found.ratio, cell),
        "low80_ratio": _number(found.low80_ratio, cell),
        "high80_ratio": _number(found.high80_ratio, cell),
        "problem": prediction.problem or None,
        "notes": list(assumptions(model, prediction)),
    }


def _fastest(options: argparse.Namespace, variants: Variants, target: int) -> dict[str, object]:
    row = variants.on_target(target)
    index = fastest_within(row, options.budget_ms)
    return {
        "device": variants.targets[target].device.id,
        "budget_ms": options.budget_ms,
        "model": None if index is None else variants.labels[index],
        "sentence": fastest_sentence(row, variants.labels, options.budget_ms),
    }


def _operators(
    options: argparse.Namespace,
    models: Sequence[Model],
    variants: Variants,
    place: int,
    known: KnownTargets,
) -> dict[str, object]:
    first, second = models[variants.baseline], models[place]
    difference = operator_difference(first, second)
    times: dict[str, TimesMoved] = {}
    for column, target in enumerate(variants.targets):
        pair = variants.prediction(variants.baseline, column), variants.prediction(place, column)
        found = times_moved_on(difference, target, (first, second), pair, options.engine, known)
        if found is not None:
            times[target.device.id] = found
    return {
        "model": variants.labels[place],
        "counts": {change.value: len(difference.rows_of(change)) for change in Change},
        "moved_ms": {
            device: {change.value: found.moved_by(change) for change in Change}
            for device, found in times.items()
        },
        "rows": [_row(difference, row, times) for row in range(len(difference))],
    }


def _row(
    difference: OperatorDifference, row: int, times: dict[str, TimesMoved]
) -> dict[str, object]:
    first, second = int(difference.first[row]), int(difference.second[row])
    facts, index = (difference.after, second) if second >= 0 else (difference.before, first)
    return {
        "change": difference.change[row].value,
        "what": difference.what[row].split(", ") if difference.what[row] else [],
        "name": facts.names[index],
        "op_type": facts.op_types[index],
        "output_shape": list(facts.output_shapes[index]),
        "baseline_name": difference.before.names[first] if first >= 0 else None,
        "moved_ms": {device: float(found.moved_ms[row]) for device, found in times.items()},
    }


def _number(values: np.ndarray, cell: int) -> float | None:
    value = float(values[cell])
    return None if math.isnan(value) else value
