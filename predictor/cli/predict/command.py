"""``ctm predict``: the latency of models on devices, printed as text or JSON and then stored."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predictor.cli import predicting
from predictor.cli.catalogue import open_catalogue
from predictor.cli.console import Console
from predictor.cli.measured import measured_of, stated_latencies
from predictor.cli.model_text import dimension_lines
from predictor.cli.predict.clocks import add_points, clocks_of_options
from predictor.cli.predict.supplements import add_supplements, supplements_of
from predictor.core.errors import InputError
from predictor.core.fields import PREDICTION_DOCUMENT, Kind
from predictor.core.prediction import Prediction
from predictor.core.records import Target
from predictor.core.text import capitalised, printable
from predictor.devices.catalogue import THIS_MACHINE_ID
from predictor.graph.model import Model
from predictor.services.devices.inferred import inferred_sentences
from predictor.services.prediction.assumptions import assumptions
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.explain import OperatorTable, explain
from predictor.services.prediction.hosts import host_sentences
from predictor.services.prediction.predict import KnownTargets, predict
from predictor.services.prediction.threads import threads_sentences

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from predictor.services.prediction.sensitivity import Sensitivity

# What an option or the text alone needs is imported with it: most commands of scripts want none.
# ruff: noqa: PLC0415

_MEASURE_THIS = (
    "What this machine's system does not report is measured in 2 s: leave --no-measure out."
)


def run(options: argparse.Namespace, console: Console, readings: Sequence[Future[Model]]) -> int:
    """Predict every model on every target, print the result, store it.

    In text each model is printed as soon as it is predicted. A model that cannot be read does not
    keep the others from their numbers, nor does a store that fails; both are said on stderr and
    decide the exit code.
    """
    catalogue = open_catalogue(options, console, networks=True)
    targets = predicting.choose_targets(options, catalogue, console)
    latencies = stated_latencies(options, catalogue, len(readings))
    _check_files(options, len(readings) * len(targets))
    clocks = clocks_of_options(options, targets, len(readings))
    failed: list[InputError] = []
    models: list[Model] = []
    predictions: list[Prediction] = []
    sensitivity_rows: list[Sensitivity | None] = []
    points: list[dict[str, object]] = []
    added: list[dict[str, object]] = []
    with closing(predicting.PredictionStore(options.store)) as store:
        measured = store.signatures([*targets, *(latency.target for latency in latencies)])
        open_engine(options.engine)  # while the models are read
        for model in predicting.models_as_read(readings, console, failed):
            measurements, devices = measured_of(options, store, [model], latencies, measured)
            row = predict([model], targets, options.engine, measurements, measured, devices)
            clocked = clocks.predicted(options, model, targets, row, measured)
            row = clocked.predictions
            of_row: list[Sensitivity | None] = [None] * len(row)
            if options.sensitivity:
                from predictor.cli.predict.sensitivity import sensitivities

                of_row = sensitivities(options, model, targets, row, measured, measurements)
            supplements = supplements_of(options, model, targets, row, measured)
            if not options.json:
                from predictor.cli.predict.text import model_text

                text = model_text(options, model, targets, row, measured, of_row)
                text = "\n\n".join([text, *supplements.blocks(targets), *clocked.sentences])
                console.result(("\n" if models else "") + text)
            models.append(model)
            predictions += row
            sensitivity_rows += of_row
            points += clocked.entries
            added += supplements.entries(len(row))
        code = failed[-1].exit_code if failed else 0
        if not models:
            return code
        # A stored prediction is of its target's usual clocks.
        if not clocks:
            store.record(models, predictions)
        if options.json:
            document = prediction_document(
                options, models, targets, predictions, measured, sensitivity_rows
            )
            add_points(document, points)
            add_supplements(document, added)
            _print_document(console, models, document | store.not_stored)
        _print_rest(options, console, models, targets, predictions)
        stored = store.exit_code(console, "the predictions were not stored")
        if not stored and all(prediction.latency_ms is None for prediction in predictions):
            raise _without_number(options, models, predictions[0])
        _write_files(options, console, models[0], targets[0], measured, predictions[0])
        return stored or code or _budget_code(predictions, options.budget_ms)


def _print_document(console: Console, models: Sequence[Model], document: dict[str, object]) -> None:
    """Print the document; what the text has about the models goes to stderr."""
    for model in models:
        for line in (*dimension_lines(model), *model.notes):
            console.note(f"{printable(Path(model.path).name)}: {printable(line)}")
    console.document(document)


def _print_rest(
    options: argparse.Namespace,
    console: Console,
    models: Sequence[Model],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
) -> None:
    """Print the part of the text that is about all models together."""
    if not options.json and options.budget_ms is not None and len(models) > 1:
        from predictor.cli.predict.text import fastest_text
        from predictor.services.report.request import labelled

        names = [entry.label for entry in labelled(models)]
        console.result("\n" + fastest_text(models, names, targets, predictions, options.budget_ms))
    unknown = any(p.device_id == THIS_MACHINE_ID and p.problem for p in predictions)
    if unknown and options.measure is False:
        console.note(_MEASURE_THIS)


def _check_files(options: argparse.Namespace, pairs: int) -> None:
    """Refuse files of several pairs before anything is predicted.

    Raises:
        InputError: there is not one model and one device.
    """
    for name, file in (("--node-data", options.node_data), ("--trace", options.trace)):
        if file is not None and pairs != 1:
            raise InputError(
                name,
                f"a file holds one model on one device, and {pairs} pairs were requested",
                "give one model and one --device",
            )


def _write_files(
    options: argparse.Namespace,
    console: Console,
    model: Model,
    target: Target,
    measured: KnownTargets,
    prediction: Prediction,
) -> None:
    """Write the operators' times as the files that were requested."""
    if options.node_data is None and options.trace is None:
        return
    from predictor.services.prediction.node_data import write_node_data
    from predictor.services.prediction.timeline import pair_title, write_trace

    table = explain(model, target, options.engine, measured).scaled(prediction.scale)
    files: tuple[Path, ...] = ()
    if options.node_data is not None:
        files += write_node_data(table, Path(options.node_data))
    if options.trace is not None:
        title = pair_title(prediction.model, target)
        files += (write_trace(table, Path(options.trace), title),)
    console.note(f"Wrote {' and '.join(str(file) for file in files)}.")


def _without_number(
    options: argparse.Namespace, models: Sequence[Model], prediction: Prediction
) -> InputError:
    """Return the error of predictions without any number, after what there is was printed."""
    if options.budget_ms is not None:
        return predicting.budget_error(prediction)
    if options.sensitivity:
        subject = "--sensitivity" if options.command == "predict" else "explain"
        return predicting.no_number_error(subject, prediction, use="that could change")
    from predictor.services.report.request import labelled

    return predicting.no_number_error(labelled(models)[0].label, prediction)


def _budget_code(predictions: Sequence[Prediction], budget_ms: float | None) -> int:
    """Return 1 where a P50 is over the budget."""
    if budget_ms is None:
        return 0
    latencies = (p.latency_ms for p in predictions if p.latency_ms is not None)
    return predicting.BUDGET_MISSED if any(latency > budget_ms for latency in latencies) else 0


def _plain(record: DataclassInstance) -> dict[str, object]:
    """Return the fields of a record of plain values; asdict would copy each of them."""
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


SCHEMA = "ctm-prediction/1"
_WRITTEN: Mapping[Kind, Callable[[Any], object]] = {
    Kind.CONFIGURATION: _plain,
    Kind.NAMES: list,
    Kind.REMARK: lambda words: words or None,
}


def prediction_document(
    options: argparse.Namespace,
    models: Sequence[Model],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    measured: KnownTargets,
    sensitivity: Sequence[Sensitivity | None] = (),
) -> dict[str, object]:
    """Return the document: every key is always there, null where there is no number.

    Args:
        options: budget_ms, operators, sensitivity and engine.
        models: the models.
        targets: the targets.
        predictions: one a pair, all targets of the first model first.
        measured: the user's measurements on the targets.
        sensitivity: sensitivity of each prediction where it was requested; None without a number.
    """
    entries: list[dict[str, Any]] = []
    for index, prediction in enumerate(predictions):
        model, target = models[index // len(targets)], targets[index % len(targets)]
        notes = [
            *assumptions(model, prediction),
            *threads_sentences([target]),
            *host_sentences([target]),
            *inferred_sentences([target.device]),
            *([f"{capitalised(prediction.slower)}."] if prediction.slower else []),
        ]
        entry = {**_entry(prediction), "notes": notes}
        if options.budget_ms is not None:
            from predictor.presentation.verdict import budget_probability

            entry["budget_probability"] = budget_probability(prediction, options.budget_ms)
        if options.operators:
            entry["operators"] = operator_entries(
                model, target, prediction, options.engine, measured
            )
            entry["roofs"] = roof_entries(model, target)
        if options.sensitivity:
            from predictor.cli.predict.sensitivity import add_sensitivity

            add_sensitivity(entry, sensitivity[index])
        entries.append(entry)
    return {"schema": SCHEMA, "predictions": entries}


def operator_entries(
    model: Model, target: Target, prediction: Prediction, engine: str, measured: KnownTargets
) -> list[dict[str, object]]:
    """Return where the time goes, an entry an operator; empty where there is no number."""
    if prediction.latency_ms is None:
        return []
    table = explain(model, target, engine, measured).scaled(prediction.scale)
    return _operators(table, _reached(model, target, table))


def roof_entries(model: Model, target: Target) -> list[dict[str, object]]:
    """Return the roofs of a target; none where it does not run the configuration."""
    from predictor.services.prediction.roofline import FLOP, roofs_of

    try:
        return [
            {
                "label": roof.label,
                "rate": roof.rate,
                "is_memory": roof.is_memory,
                "origin": roof.origin,
                "source": roof.source,
                "operation": FLOP if roof.is_memory else roof.counted,
            }
            for roof in roofs_of(model, target)
        ]
    except InputError:
        return []


def _reached(model: Model, target: Target, table: OperatorTable) -> dict[str, Sequence[object]]:
    """Return the bytes and the intensity of operators in the run; null where not known."""
    from predictor.services.prediction.roofline import roofline_of

    nothing: Sequence[object] = [None] * len(table.names)
    try:
        roofline = roofline_of(model, target, table)
    except InputError:
        return {"run_bytes": nothing, "flop_per_byte": nothing}
    intensity = [value if math.isfinite(value) else None for value in roofline.intensity.tolist()]
    return {"run_bytes": roofline.run_bytes.tolist(), "flop_per_byte": intensity}


def _entry(prediction: Prediction) -> dict[str, object]:
    entry: dict[str, object] = {
        field.key: _WRITTEN.get(field.kind, _as_it_is)(field.of(prediction))
        for field in PREDICTION_DOCUMENT
    }
    sources = [
        {
            "device": source.device_id,
            "configuration": _plain(source.configuration),
            "latency_ms": source.latency_ms,
        }
        for source in prediction.scaled_from
    ]
    refused = prediction.unsupported
    return {
        **entry,
        "scaled": {"factor": prediction.scale, "from": sources} if sources else None,
        "memory": None if prediction.memory is None else _plain(prediction.memory),
        "unsupported": None if refused is None else _plain(refused),
    }


def _as_it_is(value: object) -> object:
    return value


def _operators(
    table: OperatorTable, reached: Mapping[str, Sequence[object]]
) -> list[dict[str, object]]:
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
        **reached,
    }
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def _top_metrics(table: OperatorTable) -> dict[str, Sequence[object]]:
    """Return the metric that each operator attended to most; null without attention."""
    from predictor.services.prediction.attention import operators_peak

    peak = operators_peak(table.attention)
    if peak is None or table.attention is None:
        nothing = [None] * len(table.names)
        return {"top_metric": nothing, "top_metric_share": nothing}
    names = [table.attention.metrics[at] for at in peak.at.tolist()]
    return {"top_metric": names, "top_metric_share": peak.share.tolist()}
