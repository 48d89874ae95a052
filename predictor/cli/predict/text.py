"""The text of ``ctm predict``: a table a model, the fastest target first."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from predictor.cli.model_text import NAME_COLUMNS, describe, dims_text
from predictor.cli.tables import render_table
from predictor.core.records import Basis, Device, Prediction, Target
from predictor.core.text import printable, shortened
from predictor.core.units import LatencyUnit, format_bytes, format_count, significant
from predictor.core.wording import adaptation_name, percent
from predictor.services.models.inspection import Model
from predictor.services.prediction.assumptions import assumptions
from predictor.services.prediction.attention import operators_peak, token_label
from predictor.services.prediction.fastest import fastest_sentence
from predictor.services.prediction.predict import KnownTargets, OperatorTable, explain

_NOTHING = "—"
_OPERATOR_HEADERS = ("Operator", "Type", "Output", "MACs", "Bytes", "ms", "Share", "Sum", "Bound")
_OPERATOR_RIGHT = "   rrrrr"
_LOOKS = "Looks mostly at"


def model_text(
    options: argparse.Namespace,
    model: Model,
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    known: KnownTargets,
) -> str:
    """Return what is printed about one model.

    Args:
        options: budget_ms, operators and engine.
        model: the model.
        targets: the targets.
        predictions: one a target.
        known: the user's measurements on the targets.
    """
    pairs = sorted(zip(targets, predictions, strict=True), key=_by_latency)
    blocks = [describe(model), _comparison(pairs, options.budget_ms)]
    blocks += dict.fromkeys(note for p in predictions for note in assumptions(model, p))
    if options.operators:
        blocks += list(_operator_tables(model, pairs, options.engine, known))
    return "\n\n".join(blocks)


def fastest_text(
    names: Sequence[str],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    budget_ms: float | None,
) -> str:
    """Return for each target the fastest model that meets the budget, as a table.

    Args:
        names: of the models.
        targets: the targets.
        predictions: one a pair, all targets of the first model first.
        budget_ms: None for no budget.
    """
    rows = [
        (
            shortened(target.device.name, NAME_COLUMNS),
            fastest_sentence(predictions[column :: len(targets)], names, budget_ms),
        )
        for column, target in enumerate(targets)
    ]
    return render_table(("Device", "Fastest"), rows)


def _by_latency(pair: tuple[Target, Prediction]) -> float:
    latency = pair[1].latency_ms
    return float("inf") if latency is None else latency


def _comparison(pairs: Sequence[tuple[Target, Prediction]], budget_ms: float | None) -> str:
    columns = [column for column in _COLUMNS if column.name != _INTERVAL or _has_interval(pairs)]
    rows = [
        [
            *(column.cell(target, prediction) for column in columns),
            _remarks(prediction, budget_ms),
        ]
        for target, prediction in pairs
    ]
    right = "".join("r" if column.is_number else " " for column in columns)
    return render_table([*(column.name for column in columns), ""], rows, right)


def _has_interval(pairs: Sequence[tuple[Target, Prediction]]) -> bool:
    return any(prediction.low80_ms is not None for _, prediction in pairs)


def _runtime(_: Target, prediction: Prediction) -> str:
    runtime = prediction.configuration.runtime
    return _NOTHING if runtime == "unknown" else runtime


def _threads(_: Target, prediction: Prediction) -> str:
    threads = prediction.configuration.threads
    return str(threads) if threads else _NOTHING


def _rate(_: Target, prediction: Prediction) -> str:
    if prediction.latency_ms is None:
        return _NOTHING
    batch = max(prediction.configuration.batch, 1)
    return _number(LatencyUnit.FPS.from_ms(prediction.latency_ms, batch))


def _interval(_: Target, prediction: Prediction) -> str:
    if prediction.low80_ms is None:
        return _NOTHING
    return f"{_number(prediction.low80_ms)} – {_number(prediction.high80_ms)}"


def _basis(_: Target, prediction: Prediction) -> str:
    return _NOTHING if prediction.basis is None else prediction.basis.value


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    is_number: bool
    cell: Callable[[Target, Prediction], str]


_INTERVAL = "80 % interval"
_COLUMNS = (
    _Column("Device", False, lambda target, _: shortened(target.device.name, NAME_COLUMNS)),
    _Column("Runtime", False, _runtime),
    _Column("Precision", False, lambda _, prediction: prediction.configuration.precision.value),
    _Column("Threads", True, _threads),
    _Column("P50 ms", True, lambda _, prediction: _number(prediction.latency_ms)),
    _Column(_INTERVAL, True, _interval),
    _Column("FPS", True, _rate),
    _Column("Bound ms", True, lambda _, prediction: _number(prediction.bound_ms)),
    _Column("Basis", False, _basis),
)


def _number(value: float | None) -> str:
    return _NOTHING if value is None else significant(value)


def _remarks(prediction: Prediction, budget_ms: float | None) -> str:
    """Say in words what the numbers do not: the budget, a problem, the memory, odd operators."""
    remarks = [prediction.problem, prediction.out_of_distribution]
    if prediction.basis is Basis.MEASURED and prediction.predicted_ms is not None:
        remarks.append(f"predicted {significant(prediction.predicted_ms)} ms")
    if prediction.adaptation:
        remarks.append(f"adapted by {adaptation_name(prediction.adaptation)}")
    if budget_ms is not None and prediction.latency_ms is not None:
        meets = prediction.latency_ms <= budget_ms
        remarks.append(f"{'meets' if meets else 'over'} {significant(budget_ms)} ms")
    if prediction.fits_memory is False:
        remarks.append("does not fit in the device's memory")
    if prediction.flagged_operators:
        remarks.append(f"{len(prediction.flagged_operators)} operators not counted in full")
    return printable("; ".join(filter(None, remarks)))


def _operator_tables(
    model: Model, pairs: Sequence[tuple[Target, Prediction]], engine: str, known: KnownTargets
) -> Iterator[str]:
    for target, prediction in pairs:
        if prediction.latency_ms is None:
            continue
        title = (
            f"{shortened(target.device.name, NAME_COLUMNS)}, {_number(prediction.latency_ms)} ms"
        )
        table = explain(model, target, engine, known)
        yield f"{title}\n{_operator_table(table, target.device)}"


def _operator_table(table: OperatorTable, device: Device) -> str:
    """Write the operators that take time, the slowest first, with their cumulative share."""
    order = np.argsort(-table.latency_ms, kind="stable")
    order = order[table.latency_ms[order] > 0]
    cumulative = np.cumsum(table.share[order])
    looks = _looks(table, device)
    rows = [
        (
            shortened(table.names[i], NAME_COLUMNS),
            shortened(table.op_types[i], NAME_COLUMNS),
            dims_text(table.output_shapes[i]),
            format_count(float(table.macs[i])) if table.macs[i] else "",
            format_bytes(float(table.bytes_moved[i])),
            significant(float(table.latency_ms[i])),
            percent(float(table.share[i])),
            percent(float(reached)),
            table.bound_type[i],
            *looks[i : i + 1],
        )
        for i, reached in zip(order.tolist(), cumulative.tolist(), strict=True)
    ]
    headers = (*_OPERATOR_HEADERS, *([_LOOKS] if looks else []))
    return render_table(headers, rows, _OPERATOR_RIGHT)


def _looks(table: OperatorTable, device: Device) -> list[str]:
    """Return what each operator looks mostly at in words; empty without attention."""
    peak = operators_peak(table.attention)
    if peak is None or table.attention is None:
        return []
    labels = [token_label(name, device) for name in table.attention.metrics]
    return [
        f"{labels[at]} ({percent(share)})"
        for at, share in zip(peak.at.tolist(), peak.share.tolist(), strict=True)
    ]
