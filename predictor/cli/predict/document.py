"""The JSON document of ``ctm predict``: a contract that scripts depend on."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from predictor.core.fields import PREDICTION_DOCUMENT, Kind
from predictor.core.records import Prediction, Target
from predictor.core.verdict import budget_probability
from predictor.services.models.inspection import Model
from predictor.services.prediction.assumptions import assumptions
from predictor.services.prediction.attention import operators_peak
from predictor.services.prediction.predict import KnownTargets, OperatorTable, explain

SCHEMA = "ctm-prediction/1"
_WRITTEN: Mapping[Kind, Callable[[Any], object]] = {
    Kind.CONFIGURATION: asdict,
    Kind.NAMES: list,
    Kind.REMARK: lambda words: words or None,
}


def prediction_document(
    options: argparse.Namespace,
    models: Sequence[Model],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    known: KnownTargets,
) -> dict[str, object]:
    """Return the document: every key is always there, null where there is no number.

    Args:
        options: budget_ms, operators and engine.
        models: the models.
        targets: the targets.
        predictions: one a pair, all targets of the first model first.
        known: the user's measurements on the targets.
    """
    entries = []
    for index, prediction in enumerate(predictions):
        model, target = models[index // len(targets)], targets[index % len(targets)]
        entry = {**_entry(prediction), "notes": list(assumptions(model, prediction))}
        if options.budget_ms is not None:
            entry["budget_probability"] = budget_probability(prediction, options.budget_ms)
        if options.operators:
            entry["operators"] = operator_entries(model, target, prediction, options.engine, known)
        entries.append(entry)
    return {"schema": SCHEMA, "predictions": entries}


def operator_entries(
    model: Model, target: Target, prediction: Prediction, engine: str, known: KnownTargets
) -> list[dict[str, object]]:
    """Return where the time goes, an entry an operator; empty where there is no number."""
    if prediction.latency_ms is None:
        return []
    return _operators(explain(model, target, engine, known))


def _entry(prediction: Prediction) -> dict[str, object]:
    return {
        field.key: _WRITTEN.get(field.kind, _as_it_is)(field.of(prediction))
        for field in PREDICTION_DOCUMENT
    }


def _as_it_is(value: object) -> object:
    return value


def _operators(table: OperatorTable) -> list[dict[str, object]]:
    columns: dict[str, Sequence[object]] = {
        "name": table.names,
        "op_type": table.op_types,
        "output_shape": table.output_shapes,
        "macs": table.macs.tolist(),
        "bytes_moved": table.bytes_moved.tolist(),
        "weight_bytes": table.weight_bytes.tolist(),
        "latency_ms": table.latency_ms.tolist(),
        "share": table.share.tolist(),
        "compute_ms": table.compute_ms.tolist(),
        "memory_ms": table.memory_ms.tolist(),
        "launch_ms": table.launch_ms.tolist(),
        "bound_type": table.bound_type,
        "flags": table.flags,
        **_top_metrics(table),
    }
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _top_metrics(table: OperatorTable) -> dict[str, Sequence[object]]:
    """Return the metric that each operator attended to most; null without attention."""
    peak = operators_peak(table.attention)
    if peak is None or table.attention is None:
        nothing = [None] * len(table.names)
        return {"top_metric": nothing, "top_metric_share": nothing}
    names = [table.attention.metrics[at] for at in peak.at.tolist()]
    return {"top_metric": names, "top_metric_share": peak.share.tolist()}
