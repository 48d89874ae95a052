"""``ctm predict``: the latency of models on devices, printed and then stored."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.model_text import dimension_lines
from predictor.cli.predict.document import prediction_document
from predictor.cli.predict.text import fastest_text, model_text
from predictor.cli.predicting import (
    BUDGET_MISSED,
    PredictionStore,
    budget_error,
    choose_targets,
    models_as_read,
)
from predictor.core.errors import InputError
from predictor.core.records import Prediction, Target
from predictor.core.text import printable
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.devices.this_machine import THIS_MACHINE_ID
from predictor.services.devices.user_devices import user_devices_of
from predictor.services.models.inspection import Model
from predictor.services.prediction.node_data import write_node_data
from predictor.services.prediction.predict import KnownTargets, explain, predict
from predictor.services.report.request import labelled

_MEASURE_THIS = (
    "What this machine's system does not tell can be measured: run `ctm devices detect --measure "
    "--json > this.json`, then give --device this.json."
)


def run(options: argparse.Namespace, console: Console, readings: Sequence[Future[Model]]) -> int:
    """Predict every model on every target, print the result, store it.

    In text each model is printed as soon as it is predicted. A model that cannot be read does not
    keep the others from their numbers, nor does a store that fails; both are said on stderr and
    decide the exit code.
    """
    targets = choose_targets(options, load_catalogue(user_devices_of(options.store)))
    _check_node_data(options, len(readings), targets)
    failed: list[InputError] = []
    models: list[Model] = []
    predictions: list[Prediction] = []
    with closing(PredictionStore(options.store)) as store:
        known = store.signatures(targets)
        for model in models_as_read(readings, console, failed):
            row = predict([model], targets, options.engine, store.measured([model]), known)
            if not options.json:
                text = model_text(options, model, targets, row, known)
                console.result(("\n" if models else "") + text)
            models.append(model)
            predictions += row
        code = failed[-1].exit_code if failed else 0
        if not models:
            return code
        store.record(models, predictions)
        _print(options, console, models, targets, predictions, store.not_stored, known)
        stored = store.exit_code(console, "the predictions were not stored")
        _write_node_data(options, console, models, targets, known)
        return stored or code or _budget_code(predictions, options.budget_ms)


def _print(
    options: argparse.Namespace,
    console: Console,
    models: Sequence[Model],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    not_stored: dict[str, object],
    known: KnownTargets,
) -> None:
    """Print what is about all models together."""
    if options.json:
        for model in models:
            for line in (*dimension_lines(model), *model.notes):
                console.note(f"{printable(Path(model.path).name)}: {printable(line)}")
        document = prediction_document(options, models, targets, predictions, known)
        console.document(document | not_stored)
    elif options.budget_ms is not None and len(models) > 1:
        names = [each.label for each in labelled(models)]
        console.result("\n" + fastest_text(names, targets, predictions, options.budget_ms))
    if any(p.device_id == THIS_MACHINE_ID and p.problem for p in predictions):
        console.note(_MEASURE_THIS)


def _check_node_data(options: argparse.Namespace, models: int, targets: Sequence[Target]) -> None:
    """Refuse node data of several pairs before anything is predicted.

    Raises:
        InputError: there is not one model and one device.
    """
    pairs = models * len(targets)
    if options.node_data is not None and pairs != 1:
        raise InputError(
            "--node-data",
            f"a file holds one model on one device, and {pairs} pairs were asked for",
            "give one MODEL.onnx and one --device",
        )


def _write_node_data(
    options: argparse.Namespace,
    console: Console,
    models: Sequence[Model],
    targets: Sequence[Target],
    known: KnownTargets,
) -> None:
    if options.node_data is not None:
        table = explain(models[0], targets[0], options.engine, known)
        files = write_node_data(table, Path(options.node_data))
        console.note(f"Wrote {' and '.join(str(file) for file in files)}.")


def _budget_code(predictions: Sequence[Prediction], budget_ms: float | None) -> int:
    """Return 1 where a P50 is over the budget.

    Raises:
        InputError: there is a budget and no number to hold against it, which must not pass.
    """
    if budget_ms is None:
        return 0
    latencies = [p.latency_ms for p in predictions if p.latency_ms is not None]
    if not latencies:
        raise budget_error(predictions[0])
    return BUDGET_MISSED if max(latencies) > budget_ms else 0
