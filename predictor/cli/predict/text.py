"""The text of ``ctm predict``: a table a model, the fastest target first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from predictor.cli.model_text import NAME_COLUMNS, describe
from predictor.cli.predict.sensitivity import MOVES, sensitivity_blocks, strongest
from predictor.cli.tables import render_table
from predictor.core.prediction import Prediction
from predictor.core.records import Device, Target
from predictor.core.text import shortened
from predictor.graph.model import Model
from predictor.presentation.columns import columns_of
from predictor.presentation.prediction_rows import Place, PredictionRow, TableContext
from predictor.presentation.wording import configuration_text, p50_text, percent
from predictor.services.prediction.assumptions import assumptions
from predictor.services.prediction.attention import operators_peak, token_label
from predictor.services.prediction.explain import OperatorTable, explain
from predictor.services.prediction.fastest import UNRELATED, fastest_sentence, rank
from predictor.services.prediction.predict import KnownTargets
from predictor.services.prediction.related import are_related
from predictor.services.prediction.sensitivity import Sensitivity
from predictor.services.report.operators import operator_fields, slowest

_LOOKS = "Most sensitive to"


def model_text(
    options: argparse.Namespace,
    model: Model,
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    measured: KnownTargets,
    sensitivities: Sequence[Sensitivity | None] = (),
) -> str:
    """Return the text about one model.

    Args:
        options: budget_ms, operators, sensitivity and engine.
        model: the model.
        targets: the targets.
        predictions: one a target.
        measured: the user's measurements on the targets.
        sensitivities: sensitivity of each prediction where it was requested; None without a number.
    """
    pairs = sorted(zip(targets, predictions, strict=True), key=lambda pair: rank(pair[1]))
    of_target = dict(zip((target.id for target in targets), sensitivities, strict=False))
    blocks = [describe(model), _comparison(pairs, options.budget_ms)]
    blocks += dict.fromkeys(note for p in predictions for note in assumptions(model, p))
    for target, prediction in pairs:
        if prediction.latency_ms is None:
            continue
        sensitivity = of_target.get(target.id)
        parts = [] if sensitivity is None else sensitivity_blocks(sensitivity)
        if options.operators:
            table = explain(model, target, options.engine, measured).scaled(prediction.scale)
            parts.append(_operator_table(table, target.device, sensitivity))
        if parts:
            name = shortened(target.device.name, NAME_COLUMNS)
            blocks += [f"{name}, {p50_text(prediction)}\n{parts[0]}", *parts[1:]]
    return "\n\n".join(blocks)


def fastest_text(
    models: Sequence[Model],
    names: Sequence[str],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    budget_ms: float | None,
) -> str:
    """Return for each target the fastest model that meets the budget, as a table.

    Args:
        models: the models; of those that cannot stand in for one another none is named.
        names: of the models.
        targets: the targets.
        predictions: one a pair, all targets of the first model first.
        budget_ms: None for no budget.
    """
    related = are_related(models)
    if not related and budget_ms is None:
        return f"The models are {UNRELATED}."
    rows = [
        (
            shortened(target.device.name, NAME_COLUMNS),
            configuration_text(predictions[column].configuration),
            fastest_sentence(
                predictions[column :: len(targets)], names, budget_ms, are_related=related
            ),
        )
        for column, target in enumerate(targets)
    ]
    return render_table(("Device", "Configuration", "Fastest"), rows)


def _comparison(pairs: Sequence[tuple[Target, Prediction]], budget_ms: float | None) -> str:
    context = TableContext(Place.TEXT, budget_ms=budget_ms)
    rows = [
        PredictionRow(
            prediction=prediction,
            device_name=shortened(target.device.name, NAME_COLUMNS),
            model_label=prediction.model,
        )
        for target, prediction in pairs
    ]
    columns = [c for c in columns_of(Place.TEXT) if c.is_needed(rows, context)]
    cells = [[column.text(row, context) for column in columns] for row in rows]
    right = "".join("r" if column.is_number else " " for column in columns)
    return render_table([column.title(context) for column in columns], cells, right)


def _operator_table(table: OperatorTable, device: Device, sensitivity: Sensitivity | None) -> str:
    """Write the operators that take time, the slowest first, with their cumulative share."""
    order = slowest(table, len(table.names))
    fields, looks = operator_fields(table, order), _looks(table, device)
    rows = [
        [
            *(shortened(field.cell(index).text, NAME_COLUMNS) for field in fields),
            *looks[index : index + 1],
            *([] if sensitivity is None else [strongest(sensitivity, index)]),
        ]
        for index in order
    ]
    headers = [*(field.column.title for field in fields), *([_LOOKS] if looks else [])]
    headers += [] if sensitivity is None else [MOVES]
    right = "".join("r" if field.column.is_number else " " for field in fields)
    return render_table(headers, rows, right)


def _looks(table: OperatorTable, device: Device) -> list[str]:
    """Return each operator's most attended metric in words; empty without attention."""
    peak = operators_peak(table.attention)
    if peak is None or table.attention is None:
        return []
    labels = [token_label(name, device) for name in table.attention.metrics]
    return [
        f"{labels[at]} ({percent(share)})"
        for at, share in zip(peak.at.tolist(), peak.share.tolist(), strict=True)
    ]
