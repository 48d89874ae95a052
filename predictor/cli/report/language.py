"""Language models in ``ctm report``: configurations that were named, decoders among ONNX files."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from predictor.cli.catalogue import open_catalogue
from predictor.cli.console import Console
from predictor.cli.generate.command import UserRates, requested_run, user_rates
from predictor.cli.predicting import choose_targets
from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.core.text import printable
from predictor.graph.model import Model
from predictor.services.devices.catalogue import Catalogue
from predictor.services.generation.generate import generate
from predictor.services.models import language
from predictor.services.report.build import report_alone
from predictor.services.report.files import save_report
from predictor.services.report.pdf import report_pdf
from predictor.services.serving.records import LanguageRun


def run_alone(options: argparse.Namespace, console: Console, configurations: Sequence[str]) -> int:
    """Write the report of language models where no ONNX file is named.

    Raises:
        InputError: a configuration is wrong, or its run is not one of the model.
    """
    models = [language.read_language_model(path) for path in configurations]
    catalogue = open_catalogue(options, console)
    devices = [target.device for target in choose_targets(options, catalogue, console)]
    runs = language_runs(options, console, models, devices, catalogue)
    report = report_alone(runs, (), datetime.now(UTC).astimezone(), options.title)
    save_report(report, Path(options.output), partial(report_pdf, page=options.page))
    console.result(f"{printable(options.output)}: {printable(report.title)}")
    return 0


def decoders(models: Iterable[Model]) -> Iterator[language.LanguageModel]:
    """Yield the language models among ONNX files; those of no known architecture are none."""
    for model in models:
        try:
            decoder = language.language_model_of(model)
        except InputError:
            continue  # the report has it as a graph of fixed lengths
        if decoder is not None:
            yield decoder


def language_runs(
    options: argparse.Namespace,
    console: Console,
    models: Sequence[language.LanguageModel],
    devices: Sequence[Device],
    catalogue: Catalogue,
) -> tuple[LanguageRun, ...]:
    """Predict language models on devices, each in the run that was requested.

    Raises:
        InputError: the run is not one of a model.
    """
    if not models:
        return ()
    stored_rates = user_rates(options, console, devices, catalogue)
    return tuple(_run(options, model, devices, stored_rates) for model in models)


def _run(
    options: argparse.Namespace,
    model: language.LanguageModel,
    devices: Sequence[Device],
    stored_rates: UserRates,
) -> LanguageRun:
    request = requested_run(options, model)
    measured = tuple(stored_rates.measured.values())
    results = generate(
        model.architecture, devices, request, measured, stored_rates.probes, model.stored
    )
    return LanguageRun(model.architecture, request, results)
