"""``ctm predict``: the latency of models on devices, printed and then stored."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.model_text import dimension_lines
from predictor.cli.prediction_json import prediction_document
from predictor.cli.prediction_text import fastest_text, model_text
from predictor.cli.progress_line import progress_on
from predictor.core.errors import CtmError, InputError
from predictor.core.progress import Progress, no_progress
from predictor.core.records import Device, Measurement, Precision, Prediction, Target
from predictor.core.text import printable
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.devices.this_machine import THIS_MACHINE_ID
from predictor.services.devices.user_devices import user_devices_of
from predictor.services.history.history import History, open_history
from predictor.services.models.inspection import Model
from predictor.services.prediction.comparison import default_devices
from predictor.services.prediction.node_data import write_node_data
from predictor.services.prediction.predict import explain, predict, resolve_targets
from predictor.services.report.request import labelled
from predictor.services.signatures.own import KnownTargets

_DONE = 0
_BUDGET_MISSED = 1
_HOST_FAILED = 3
_MANY = 8  # from so many models on, the progress of reading is told
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
    store = PredictionStore(options.store)
    failed: list[InputError] = []
    models: list[Model] = []
    predictions: list[Prediction] = []
    try:
        known = store.signatures(targets)
        for model in models_as_read(readings, console, failed):
            row = predict([model], targets, options.engine, store.measured(model), known)
            if not options.json:
                text = model_text(options, model, targets, row, known)
                console.result(("\n" if models else "") + text)
            models.append(model)
            predictions += row
        code = failed[-1].exit_code if failed else _DONE
        if not models:
            return code
        _print(options, console, models, targets, predictions, known)
        stored = store.record(models, predictions, console)
        _write_node_data(options, console, models, targets, known)
        return stored or code or _budget_code(predictions, options.budget_ms)
    finally:
        store.close()


def choose_targets(options: argparse.Namespace, catalogue: Catalogue) -> tuple[Target, ...]:
    """Return a target for each device that was asked for, each device once, in that order.

    Raises:
        InputError: a --device names no device or several.
    """
    devices = [catalogue.find(text) for text in options.device]
    if options.all:
        devices += catalogue.devices
    if not devices:
        devices += default_devices(catalogue)
    return resolve_targets(
        _each_once(devices),
        runtime=options.runtime,
        precision=Precision(options.precision) if options.precision else None,
        threads=options.threads,
    )


def _each_once(devices: Sequence[Device]) -> list[Device]:
    chosen: dict[str, Device] = {}
    for device in devices:
        chosen.setdefault(device.id, device)
    return list(chosen.values())


def read_models(readings: Sequence[Future[Model]], console: Console) -> tuple[list[Model], int]:
    """Wait for the models; return those that could be read, and 0 or the exit code of the rest.

    Those that could not are named on stderr.
    """
    failed: list[InputError] = []
    models = list(models_as_read(readings, console, failed))
    return models, failed[-1].exit_code if failed else _DONE


def models_as_read(
    readings: Sequence[Future[Model]], console: Console, failed: list[InputError]
) -> Iterator[Model]:
    """Give the models as they are read; those that cannot be are named on stderr.

    Args:
        readings: one a model.
        console: where many readings tell how far they are.
        failed: gets the error of each model that could not be read.
    """
    tell = progress_on(console) if len(readings) >= _MANY else no_progress
    for place, reading in enumerate(readings):
        tell(Progress(place, len(readings), "models read"))
        try:
            yield reading.result()
        except InputError as error:
            console.error(f"ctm: {error}")
            failed.append(error)
    tell(Progress(len(readings), max(len(readings), 1), "models read"))


def _print(
    options: argparse.Namespace,
    console: Console,
    models: Sequence[Model],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    known: KnownTargets,
) -> None:
    """Print what is about all models together."""
    if options.json:
        for model in models:
            for line in (*dimension_lines(model), *model.notes):
                console.note(f"{printable(Path(model.path).name)}: {printable(line)}")
        console.document(prediction_document(options, models, targets, predictions, known))
    elif options.budget_ms is not None and len(models) > 1:
        names = [found.label for found in labelled(models)]
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
        return _DONE
    latencies = [p.latency_ms for p in predictions if p.latency_ms is not None]
    if not latencies:
        raise InputError(
            "--budget-ms",
            f"no target has a number to hold against it ({predictions[0].problem})",
            "choose another device or configuration",
        )
    return _BUDGET_MISSED if max(latencies) > budget_ms else _DONE


class PredictionStore:
    """The store, opened while the models are read; its failure costs no prediction."""

    def __init__(self, path: str | None) -> None:
        self._history: History | None = None
        self._failure: CtmError | None = None
        try:
            self._history = open_history(Path(path) if path else None)
        except CtmError as error:
            self._failure = error

    def measured(self, model: Model) -> list[Measurement]:
        """Return what the user measured of a model; nothing where the store fails."""
        try:
            return self._history.measured([model]) if self._history else []
        except CtmError as error:
            self._failure = error
            return []

    def signatures(self, targets: Sequence[Target]) -> KnownTargets:
        """Return what the user measured on targets; nothing where the store fails."""
        try:
            return self._history.own_signatures().of(targets) if self._history else {}
        except CtmError as error:
            self._failure = error
            return {}

    def record(
        self, models: Sequence[Model], predictions: Sequence[Prediction], console: Console
    ) -> int:
        """Store the predictions; return 0, or 3 where they are printed and not stored."""
        try:
            if self._history is not None:
                self._history.record(models, predictions)
        except CtmError as error:
            self._failure = error
        if self._failure is None:
            return _DONE
        console.error(f"ctm: the predictions were not stored: {self._failure}")
        return _HOST_FAILED

    def close(self) -> None:
        """Close the store."""
        if self._history is not None:
            self._history.close()
