"""The work of ``ctm load``: reads the file and its models, simulates, prints the answer."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from predictor.cli.catalogue import named_devices, open_catalogue
from predictor.cli.console import Console
from predictor.cli.generate.command import user_rates
from predictor.cli.load.text import load_text
from predictor.cli.measured import measured_of
from predictor.cli.predicting import BUDGET_MISSED, PredictionStore
from predictor.core.errors import InputError
from predictor.devices.operating import parsed_clocks
from predictor.services.devices.catalogue import Catalogue
from predictor.services.loads.boxes import (
    box_of_devices,
    box_of_load,
    check_clock,
    check_mode,
    named_box,
)
from predictor.services.loads.carry import check_units
from predictor.services.loads.costs import Evidence
from predictor.services.loads.document import load_document
from predictor.services.loads.load_file import read_load
from predictor.services.loads.models import (
    ModelKey,
    Models,
    StageModel,
    model_paths,
    networks,
    read_models,
)
from predictor.services.loads.placement import targets_of
from predictor.services.loads.records import Box, Load
from predictor.services.loads.settings import carry_in_settings
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.models.language import read_language_model
from predictor.services.report.build import report_alone
from predictor.services.report.files import check_report_path, save_report
from predictor.services.report.pdf import report_pdf


def run(options: argparse.Namespace, console: Console) -> int:
    """Answer what the box does with the load; nothing is stored."""
    if options.report:
        check_report_path(Path(options.report))
    load = read_load(options.load)
    paths = model_paths(load)
    catalogue = open_catalogue(options, console)
    box = _box(options, load, catalogue, console)
    check_units(load, box)
    models = models_of(load, paths)
    with closing(PredictionStore(options.store)) as store:
        evidence = evidence_of(options, load, [box], models, store, catalogue, console)
        answer = carry_in_settings(load, box, models, evidence)
        if options.report:
            report = report_alone((), [answer], datetime.now(UTC).astimezone())
            save_report(report, Path(options.report), report_pdf)
        if options.json:
            console.document(load_document(answer))
        else:
            console.result(load_text(answer))
        stored = store.exit_code(console, "your measurements were not used")
    return stored or (0 if answer.holds else BUDGET_MISSED)


def _box(options: argparse.Namespace, load: Load, catalogue: Catalogue, console: Console) -> Box:
    """Return the box of the options, else of the load."""
    devices = named_devices(options.device, catalogue, console)
    if options.box:
        box = named_box(options.box, catalogue)
    elif devices:
        box = box_of_devices(devices)
    else:
        box = box_of_load(load, catalogue)
    if options.mode:
        box = replace(box, mode=options.mode)
        check_mode(box, lambda reason: InputError("--mode", reason, "name one of them"))
    if options.clock:
        box = replace(box, clock=parsed_clocks(options.clock))
        check_clock(box, lambda reason: InputError("--clock", reason, "name one in its range"))
    return box


def models_of(load: Load, paths: Mapping[ModelKey, Path]) -> Models:
    """Read the models of a load."""
    with IngestionWorker() as worker:

        def read(key: ModelKey, path: Path) -> StageModel:
            if key.generates:
                return read_language_model(path, worker)
            return worker.ingest(str(path), dict(key.dims))

        return read_models(load, paths, read)


def evidence_of(
    options: argparse.Namespace,
    load: Load,
    boxes: Sequence[Box],
    models: Models,
    store: PredictionStore,
    catalogue: Catalogue,
    console: Console,
) -> Evidence:
    """Return what the user measured of the targets and models of a load."""
    measured = store.signatures(targets_of(load, boxes))
    of_networks = networks(models.values())
    measurements, devices = measured_of(options, store, of_networks, (), measured)
    if not any(key.generates for key in models):
        return Evidence(tuple(measurements), measured, devices)
    on = [unit.device for box in boxes for unit in box.units.values()]
    rates, probes = user_rates(options, console, on, catalogue)
    return Evidence(tuple(measurements), measured, devices, tuple(rates.values()), tuple(probes))
