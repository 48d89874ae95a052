"""The work of ``ctm compare``: predictions against a baseline's, as text and as JSON."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import asdict

import numpy as np

from predictor.cli import predicting
from predictor.cli.catalogue import open_catalogue
from predictor.cli.console import Console
from predictor.cli.measured import measured_of
from predictor.cli.model_text import NAME_COLUMNS, headline
from predictor.cli.predict.text import fastest_text
from predictor.cli.tables import render_table
from predictor.core.errors import InputError
from predictor.core.records import Target
from predictor.core.text import printable, shortened
from predictor.graph.model import Model
from predictor.presentation import wording
from predictor.services.devices.inferred import inferred_sentences
from predictor.services.prediction.assumptions import assumptions
from predictor.services.prediction.fastest import fastest_sentence, fastest_within
from predictor.services.prediction.operator_difference import (
    Change,
    OperatorDifference,
    TimeChanges,
    operator_difference,
    time_changes_on,
)
from predictor.services.prediction.predict import KnownTargets, predict
from predictor.services.prediction.related import are_related
from predictor.services.prediction.variants import ERROR_CORRELATION, Variants, compare_variants
from predictor.services.report.request import labelled

_SCHEMA = "ctm-comparison/1"  # scripts depend on it
_ROWS = 15  # operators listed of each pair in text

_Changes = Sequence[tuple[str, OperatorDifference, Sequence[tuple[Target, TimeChanges]]]]
"""Of each model but the baseline: its label, its operators against the baseline's, and the times
moved on each target where both have a number."""


def run(options: argparse.Namespace, console: Console, readings: Sequence[Future[Model]]) -> int:
    """Predict every model on every target, print their differences, store the predictions."""
    catalogue = open_catalogue(options, console, networks=True)
    targets = predicting.choose_targets(options, catalogue, console)
    with closing(predicting.PredictionStore(options.store)) as store:
        models, code = predicting.read_models(readings, console)
        if len(models) < 2:
            if code:
                return code
            raise InputError(
                models[0].path if models else "ctm compare",
                "one model has nothing to be compared with",
                "name two or more",
            )
        measured = store.signatures(targets)
        measurements, devices = measured_of(options, store, models, (), measured)
        predictions = predict(models, targets, options.engine, measurements, measured, devices)
        labels = [entry.label for entry in labelled(models)]
        baseline = _baseline(options.baseline, models, labels)
        variants = compare_variants(labels, targets, predictions, baseline)
        changes: _Changes = ()
        if options.operators:
            changes = list(_operator_changes(models, variants, options.engine, measured))
        store.record(models, predictions)
        if options.json:
            console.document(_document(options, models, variants, changes) | store.not_stored)
        else:
            console.result(_text(options, models, variants, changes))
        stored = store.exit_code(console, "the predictions were not stored")
        return stored or code or _budget_code(variants, options.budget_ms)


def _baseline(name: str | None, models: Sequence[Model], labels: Sequence[str]) -> int:
    """Return the index of the baseline; the first model where none is named.

    Raises:
        InputError: no model or several have this name.
    """
    if name is None:
        return 0
    named = [i for i, label in enumerate(labels) if label == name]
    # Models of one file name have numbered labels, so the end of a path is taken too.
    named = named or [i for i, model in enumerate(models) if model.path.endswith(name)]
    if len(named) != 1:
        count = "several" if named else "none"
        raise InputError(
            name, f"{count} of the models has this name", f"name one of {', '.join(labels)}"
        )
    return named[0]


def _budget_code(variants: Variants, budget_ms: float | None) -> int:
    """Return 1 where on a target that has numbers no model meets the budget."""
    if budget_ms is None:
        return 0
    columns = [variants.on_target(target) for target in range(len(variants.targets))]
    with_numbers = [row for row in columns if any(p.latency_ms is not None for p in row)]
    if not with_numbers:
        raise predicting.budget_error(columns[0][0])
    # One model per target is enough: the variants are alternatives to choose from.
    missed = any(fastest_within(row, budget_ms) is None for row in with_numbers)
    return predicting.BUDGET_MISSED if missed else 0


def _operator_changes(
    models: Sequence[Model], variants: Variants, engine: str, measured: KnownTargets
) -> Iterator[tuple[str, OperatorDifference, Sequence[tuple[Target, TimeChanges]]]]:
    first = variants.baseline
    for second in range(len(models)):
        if second == first:
            continue
        pair_of_models = models[first], models[second]
        difference = operator_difference(*pair_of_models)
        times = []
        for column, target in enumerate(variants.targets):
            pair = variants.prediction(first, column), variants.prediction(second, column)
            time_change = time_changes_on(
                difference, target, pair_of_models, pair, engine, measured
            )
            if time_change is not None:
                times.append((target, time_change))
        yield variants.labels[second], difference, times


def _text(
    options: argparse.Namespace,
    models: Sequence[Model],
    variants: Variants,
    changes: _Changes,
) -> str:
    """Return a table a target, the fastest on each, and the changes of the operators."""
    count = len(variants.targets)
    blocks = ["\n".join(headline(model) for model in models)]
    blocks += [_target_table(variants, target) for target in range(count)]
    blocks.append(
        fastest_text(
            models, variants.labels, variants.targets, variants.predictions, options.budget_ms
        )
    )
    blocks += dict.fromkeys(
        note
        for place, prediction in enumerate(variants.predictions)
        for note in assumptions(models[place // count], prediction)
    )
    baseline = shortened(variants.labels[variants.baseline], NAME_COLUMNS)
    for label, difference, times in changes:
        counts = ", ".join(f"{len(difference.rows_of(c))} {c.value}" for c in Change)
        blocks.append(f"From {baseline} to {shortened(label, NAME_COLUMNS)}: {counts}")
        blocks += [_change_table(difference, target, time_change) for target, time_change in times]
    return "\n\n".join(blocks)


def _target_table(variants: Variants, target: int) -> str:
    interval = ["80 % interval"] if variants.has_intervals else []
    headers = ["Model", "P50 ms", "Change", *interval, "Difference ms", *interval, ""]
    rows = [_row(variants, model, target) for model in range(len(variants.labels))]
    name = shortened(variants.targets[target].device.name, NAME_COLUMNS)
    configuration = variants.prediction(variants.baseline, target).configuration
    title = f"{name}, {wording.configuration_text(configuration)}"
    return f"{title}\n{render_table(headers, rows, ' ' + 'r' * (len(headers) - 2))}"


def _row(variants: Variants, model: int, target: int) -> list[str]:
    prediction, cell = variants.prediction(model, target), variants.cell(model, target)
    d = variants.differences
    ratios = [wording.change_text(_at(end, cell)) for end in (d.low80_ratio, d.high80_ratio)]
    times = [wording.signed(_at(end, cell)) for end in (d.low80_ms, d.high80_ms)]
    cells = [wording.change_text(_at(d.ratio, cell)), wording.signed(_at(d.difference_ms, cell))]
    if variants.has_intervals:
        cells = [cells[0], _interval(ratios), cells[1], _interval(times)]
    is_baseline = model == variants.baseline
    return [
        shortened(variants.labels[model], NAME_COLUMNS),
        wording.p50_number(prediction),
        *([""] * len(cells) if is_baseline else cells),
        "baseline" if is_baseline else printable(prediction.problem),
    ]


def _interval(ends: Sequence[str]) -> str:
    return wording.NOTHING if wording.NOTHING in ends else " … ".join(ends)


def _change_table(difference: OperatorDifference, target: Target, times: TimeChanges) -> str:
    """Return the operators that move most time on a target, and the sums by change."""
    change_ms = times.change_ms
    # Stable: operators that move equal times stay in the graph's order from run to run.
    order = np.argsort(-np.abs(change_ms), kind="stable")
    order = order[change_ms[order] != 0][:_ROWS]
    rows = [
        (
            difference.change[row].value,
            difference.what[row] or wording.NOTHING,
            shortened(_operator(difference, row)[0], NAME_COLUMNS),
            wording.number(float(times.before_ms[row]) if difference.first[row] >= 0 else None),
            wording.number(float(times.after_ms[row]) if difference.second[row] >= 0 else None),
            wording.signed(float(change_ms[row])),
        )
        for row in order.tolist()
    ]
    sums = ", ".join(
        f"{change.value} {wording.signed(times.change_of(change))}" for change in Change
    )
    before, after = (wording.number(float(t.sum())) for t in (times.before_ms, times.after_ms))
    total = f"{before} → {after} ms"
    title = f"{shortened(target.device.name, NAME_COLUMNS)}: {total} ({sums})"
    headers = ("Change", "What", "Operator", "First ms", "Second ms", "Moved ms")
    return f"{title}\n{render_table(headers, rows, '   rrr')}"


def _operator(difference: OperatorDifference, row: int) -> tuple[str, str, tuple[int, ...]]:
    """Return name, type and output of a row's operator, in the second model where it is there."""
    first, second = int(difference.first[row]), int(difference.second[row])
    facts, index = (difference.after, second) if second >= 0 else (difference.before, first)
    return facts.names[index], facts.op_types[index], facts.output_shapes[index]


def _document(
    options: argparse.Namespace,
    models: Sequence[Model],
    variants: Variants,
    changes: _Changes,
) -> dict[str, object]:
    """Return the JSON document: every key is always there, null where there is no number."""
    count = len(variants.targets)
    document: dict[str, object] = {
        "schema": _SCHEMA,
        "baseline": variants.labels[variants.baseline],
        "error_correlation": ERROR_CORRELATION,
        "differences": [
            _difference(models[place // count], variants, place // count, place % count)
            for place in range(len(variants.predictions))
        ],
        "fastest": [
            _fastest(options, variants, target, related=are_related(models))
            for target in range(count)
        ],
    }
    if options.operators:
        document["operators"] = [_changed_operators(*change) for change in changes]
    return document


def _difference(model: Model, variants: Variants, place: int, target: int) -> dict[str, object]:
    prediction, cell = variants.prediction(place, target), variants.cell(place, target)
    names = ("difference_ms", "low80_ms", "high80_ms", "ratio", "low80_ratio", "high80_ratio")
    numbers = {name: _at(getattr(variants.differences, name), cell) for name in names}
    return {
        "model": variants.labels[place],
        "fingerprint": prediction.fingerprint,
        "device": prediction.device_id,
        "configuration": asdict(prediction.configuration),
        "latency_ms": prediction.latency_ms,
        "lower_limit": prediction.is_lower_limit,
        "basis": prediction.basis,
        "signature": prediction.signature,
        "adaptation": prediction.adaptation,
        "baseline_ms": variants.prediction(variants.baseline, target).latency_ms,
        **{name: None if math.isnan(value) else value for name, value in numbers.items()},
        "problem": prediction.problem or None,
        "notes": [
            *assumptions(model, prediction),
            *inferred_sentences([variants.targets[target].device]),
        ],
    }


def _at(values: np.ndarray, cell: int) -> float:
    return float(values[cell])


def _fastest(
    options: argparse.Namespace, variants: Variants, target: int, *, related: bool
) -> dict[str, object]:
    row = variants.on_target(target)
    index = fastest_within(row, options.budget_ms)
    return {
        "device": variants.targets[target].device.id,
        "budget_ms": options.budget_ms,
        "model": None if index is None else variants.labels[index],
        "sentence": fastest_sentence(row, variants.labels, options.budget_ms, are_related=related),
    }


def _changed_operators(
    label: str, difference: OperatorDifference, times: Sequence[tuple[Target, TimeChanges]]
) -> dict[str, object]:
    by_device = {target.device.id: time_change for target, time_change in times}
    return {
        "model": label,
        "counts": {change.value: len(difference.rows_of(change)) for change in Change},
        "moved_ms": {
            device: {change.value: time_change.change_of(change) for change in Change}
            for device, time_change in by_device.items()
        },
        "rows": [_changed_operator(difference, row, by_device) for row in range(len(difference))],
    }


def _changed_operator(
    difference: OperatorDifference, row: int, by_device: dict[str, TimeChanges]
) -> dict[str, object]:
    first = int(difference.first[row])
    name, op_type, output_shape = _operator(difference, row)
    return {
        "change": difference.change[row].value,
        "what": difference.what[row].split(", ") if difference.what[row] else [],
        "name": name,
        "op_type": op_type,
        "output_shape": list(output_shape),
        "baseline_name": difference.before.names[first] if first >= 0 else None,
        "moved_ms": {
            device: float(time_change.change_ms[row]) for device, time_change in by_device.items()
        },
    }
