"""The text of ``ctm compare``: a table a target, the fastest, and what changed in the operators."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence

import numpy as np

from predictor.cli.model_text import NAME_COLUMNS, headline
from predictor.cli.predict.text import fastest_text
from predictor.cli.tables import render_table
from predictor.core.records import Target
from predictor.core.text import printable, shortened
from predictor.core.wording import NOTHING, change_text, configuration_text, number, signed
from predictor.services.models.inspection import Model
from predictor.services.prediction.assumptions import assumptions
from predictor.services.prediction.operator_difference import (
    Change,
    OperatorDifference,
    TimesMoved,
    operator_difference,
    times_moved_on,
)
from predictor.services.prediction.predict import KnownTargets
from predictor.services.prediction.variants import Variants

_ROWS = 15  # operators listed of each pair


def comparison_text(
    options: argparse.Namespace,
    models: Sequence[Model],
    variants: Variants,
    known: KnownTargets,
) -> str:
    """Return all that is printed.

    Args:
        options: budget_ms, operators and engine.
        models: the models, in the order of ``variants``.
        variants: how they differ.
        known: what was measured on the targets.
    """
    blocks = ["\n".join(headline(model) for model in models)]
    blocks += [_target_table(variants, target) for target in range(len(variants.targets))]
    blocks.append(
        fastest_text(variants.labels, variants.targets, variants.predictions, options.budget_ms)
    )
    blocks += dict.fromkeys(_notes(models, variants))
    if options.operators:
        blocks += _operator_blocks(options, models, variants, known)
    return "\n\n".join(blocks)


def _target_table(variants: Variants, target: int) -> str:
    interval = ["80 % interval"] if variants.has_intervals else []
    headers = ["Model", "P50 ms", "Change", *interval, "Difference ms", *interval, ""]
    rows = [_row(variants, model, target) for model in range(len(variants.labels))]
    found = variants.targets[target]
    configuration = variants.prediction(variants.baseline, target).configuration
    title = f"{shortened(found.device.name, NAME_COLUMNS)}, {configuration_text(configuration)}"
    return f"{title}\n{render_table(headers, rows, ' ' + 'r' * (len(headers) - 2))}"


def _row(variants: Variants, model: int, target: int) -> list[str]:
    prediction, cell = variants.prediction(model, target), variants.cell(model, target)
    found = variants.differences
    change, moved = change_text(_at(found.ratio, cell)), signed(_at(found.difference_ms, cell))
    ratios = [change_text(_at(end, cell)) for end in (found.low80_ratio, found.high80_ratio)]
    times = [signed(_at(end, cell)) for end in (found.low80_ms, found.high80_ms)]
    is_baseline = model == variants.baseline
    cells = [change, _interval(ratios), moved, _interval(times)]
    if not variants.has_intervals:
        cells = [change, moved]
    return [
        shortened(variants.labels[model], NAME_COLUMNS),
        number(prediction.latency_ms),
        *([""] * len(cells) if is_baseline else cells),
        "baseline" if is_baseline else printable(prediction.problem),
    ]


def _at(values: np.ndarray, cell: int) -> float:
    return float(values[cell])


def _interval(ends: Sequence[str]) -> str:
    return NOTHING if NOTHING in ends else " … ".join(ends)


def _notes(models: Sequence[Model], variants: Variants) -> Iterator[str]:
    count = len(variants.targets)
    for place, prediction in enumerate(variants.predictions):
        yield from assumptions(models[place // count], prediction)


def _operator_blocks(
    options: argparse.Namespace,
    models: Sequence[Model],
    variants: Variants,
    known: KnownTargets,
) -> Iterator[str]:
    """Give what changed from the baseline to each other model."""
    first = models[variants.baseline]
    for place, second in enumerate(models):
        if place == variants.baseline:
            continue
        difference = operator_difference(first, second)
        counts = ", ".join(f"{len(difference.rows_of(c))} {c.value}" for c in Change)
        names = variants.labels[variants.baseline], variants.labels[place]
        first_name, second_name = (shortened(name, NAME_COLUMNS) for name in names)
        yield f"From {first_name} to {second_name}: {counts}"
        for column, target in enumerate(variants.targets):
            pair = (
                variants.prediction(variants.baseline, column),
                variants.prediction(place, column),
            )
            times = times_moved_on(difference, target, (first, second), pair, options.engine, known)
            if times is not None:
                yield _moved_table(difference, target, times)


def _moved_table(difference: OperatorDifference, target: Target, times: TimesMoved) -> str:
    """Write the operators that move most time on a target, and the sums by change."""
    moved = times.moved_ms
    order = np.argsort(-np.abs(moved), kind="stable")
    order = order[moved[order] != 0][:_ROWS]
    rows = [
        (
            difference.change[row].value,
            difference.what[row] or NOTHING,
            shortened(_name(difference, row), NAME_COLUMNS),
            number(_present(times.before_ms, difference.first, row)),
            number(_present(times.after_ms, difference.second, row)),
            signed(float(moved[row])),
        )
        for row in order.tolist()
    ]
    sums = ", ".join(f"{change.value} {signed(times.moved_by(change))}" for change in Change)
    total = f"{number(float(times.before_ms.sum()))} → {number(float(times.after_ms.sum()))} ms"
    title = f"{shortened(target.device.name, NAME_COLUMNS)}: {total} ({sums})"
    headers = ("Change", "What", "Operator", "First ms", "Second ms", "Moved ms")
    return f"{title}\n{render_table(headers, rows, '   rrr')}"


def _name(difference: OperatorDifference, row: int) -> str:
    second = int(difference.second[row])
    if second >= 0:
        return difference.after.names[second]
    return difference.before.names[int(difference.first[row])]


def _present(times_ms: np.ndarray, indices: np.ndarray, row: int) -> float:
    return float(times_ms[row]) if indices[row] >= 0 else math.nan
