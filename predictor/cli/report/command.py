"""``ctm report``: predictions and all that explains them, as a document."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from predictor.cli.catalogue import open_catalogue
from predictor.cli.console import Console
from predictor.cli.measured import measured_of, stated_latencies
from predictor.cli.predicting import PredictionStore, choose_targets, read_models
from predictor.cli.progress import progress_on
from predictor.cli.report.language import decoders, language_runs
from predictor.core.prediction import Prediction
from predictor.core.progress import Progress, ProgressCallback, no_progress
from predictor.core.records import Measurement, Precision, Target
from predictor.core.text import printable
from predictor.graph.model import Model
from predictor.presentation.report import USUAL_SECTIONS, Report
from predictor.services.models.language import read_language_model
from predictor.services.prediction.explain import explain
from predictor.services.prediction.predict import KnownTargets, predict
from predictor.services.prediction.sensitivity import sensitivity_of
from predictor.services.report.build import build_report
from predictor.services.report.files import save_report
from predictor.services.report.pdf import report_pdf
from predictor.services.report.probing import measured_signatures
from predictor.services.report.request import (
    ReportRequest,
    RequestedSettings,
    labelled,
)
from predictor.services.report.versions import command_line


def run(
    options: argparse.Namespace,
    console: Console,
    readings: Sequence[Future[Model]],
    configurations: Sequence[str],
) -> int:
    """Predict every model on every target and write the report.

    A model that cannot be read is named and left out; a store that fails costs the record of the
    report and not the report. Both decide the exit code.
    """
    language = [read_language_model(path) for path in configurations]
    catalogue = open_catalogue(options, console, networks=True)
    targets = choose_targets(options, catalogue, console)
    latencies = stated_latencies(options, catalogue, len(readings))
    models, code = read_models(readings, console)
    if not models:
        return code
    with closing(PredictionStore(options.store)) as store:
        measured = store.signatures([*targets, *(latency.target for latency in latencies)])
        measurements, devices = measured_of(options, store, models, latencies, measured)
        predictions = predict(models, targets, options.engine, measurements, measured, devices)
        of_devices = [target.device for target in targets]
        language += decoders(models)
        runs = language_runs(options, console, language, of_devices, catalogue)
        request = _request(options, models, targets, predictions, store, measured, measurements)
        request = replace(request, language=runs)
        report = _write(options, request, _progress(console))
        path = Path(options.output).absolute()

        store.record(models, predictions)
        store.ask(lambda h: h.record_report(report.title, path, models, predictions), None)
        stored = store.exit_code(console, "the report is not in the store")
    console.result(f"{printable(options.output)}: {printable(report.title)}")
    return code or stored


def _progress(console: Console) -> ProgressCallback:
    """Return the progress callback: silent off a terminal: it takes seconds."""
    return progress_on(console) if sys.stderr.isatty() else no_progress


def _request(
    options: argparse.Namespace,
    models: Sequence[Model],
    targets: Sequence[Target],
    predictions: Sequence[Prediction],
    store: PredictionStore,
    measured: KnownTargets,
    measurements: Sequence[Measurement],
) -> ReportRequest:
    precision = Precision(options.precision) if options.precision else None
    requested = RequestedSettings(options.runtime, precision, options.threads, options.batch)
    devices = [target.device.id for target in targets]
    used = [p.signature for p in predictions if p.signature is not None]
    return ReportRequest(
        models=labelled(models),
        targets=tuple(targets),
        predictions=tuple(predictions),
        explain=partial(explain, engine=options.engine, measured=measured),
        sensitivity=partial(
            sensitivity_of, engine=options.engine, measured=measured, measurements=measurements
        ),
        created=datetime.now(UTC).astimezone(),
        budget_ms=options.budget_ms,
        requested=requested,
        signatures=store.ask(lambda h: measured_signatures(h.signatures, devices, used), ()),
        commands=(_command(options, targets, requested),),
        title=options.title,
        operators=options.top,
    )


def _command(
    options: argparse.Namespace, targets: Sequence[Target], requested: RequestedSettings
) -> str:
    """Return the command that makes the report again, with every device named by its id."""
    files = [text for text in options.device if text.casefold().endswith(".json")]
    ids = [target.device.id for target in targets]
    further = [("--engine", options.engine)] if options.engine else []
    further += [("--measured", text) for text in options.measured]
    if options.sections != USUAL_SECTIONS:
        further.append(("--sections", ",".join(options.sections)))
    if options.appendices:
        further.append(("--with", ",".join(options.appendices)))
    return command_line(
        options.models,
        ids if not files else [*options.device, *(["--all"] if options.all else [])],
        requested,
        budget_ms=options.budget_ms,
        dimensions=options.dim,
        shapes=options.shape,
        further=further,
        output=options.output,
    )


def _write(
    options: argparse.Namespace, request: ReportRequest, progress: ProgressCallback
) -> Report:
    report = build_report(request, {*options.sections, *options.appendices}, report=progress)
    save_report(
        report, Path(options.output), partial(report_pdf, page=options.page, progress=progress)
    )
    progress(Progress(1, 1, ""))
    return report
