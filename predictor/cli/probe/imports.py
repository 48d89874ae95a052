"""``ctm probe import``: a kit's results, or latencies from another tool's file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from predictor.cli.catalogue import open_catalogue
from predictor.cli.console import Console
from predictor.cli.parser import Parser, RuntimeNames, json_option, thread_count
from predictor.cli.probe.sessions import print_session, use_option, with_store
from predictor.cli.reading import unique
from predictor.cli.tables import render_table
from predictor.core.records import Configuration, Measurement, Precision
from predictor.core.runtimes import UNKNOWN, usual_name
from predictor.core.text import printable
from predictor.core.units import significant
from predictor.graph.model import Model
from predictor.probing.importers.registry import FORMATS, import_file
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.probing.imports import ImportedMeasurements, take_over
from predictor.services.probing.kits import import_results
from predictor.services.probing.open import Probing

_DIGITS = 12


def add_import(parser: Parser) -> None:
    """Add the options of the action."""
    parser.description = (
        "Take over the results of a kit of this store. With --device: take over the "
        "latencies in a file of another benchmark tool."
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    made = "".join(f"  {kind.title}\n      {kind.made_by}\n" for kind in FORMATS)
    parser.epilog = f"files of other tools, known by their content:\n{made}"
    parser.set_defaults(run=with_store(_import))
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--device", metavar="ID|DEVICE.json", help="that the file was measured on")
    parser.add_argument(
        "--runtime", type=usual_name, choices=RuntimeNames(UNKNOWN), default=UNKNOWN
    )
    parser.add_argument(
        "--precision",
        choices=[str(p) for p in Precision],
        help="default: that of the file, else what the runtime runs floats in on the device",
    )
    parser.add_argument("--threads", type=thread_count, default=0, metavar="N")
    parser.add_argument("--batch", type=thread_count, default=0, metavar="N")
    parser.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="MODEL",
        help="a model that a name in the file means; may be repeated",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        type=_meaning,
        metavar="NAME=MODEL",
        help="which model or probe a name in the file means, nothing to leave it out",
    )
    use_option(parser)
    json_option(parser)


def _meaning(text: str) -> tuple[str, str | None]:
    name, separator, model = text.rpartition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=MODEL")
    return name, model or None


def _import(options: argparse.Namespace, console: Console, probing: Probing) -> int:
    if options.device:
        return _take_over(options, console)
    path = Path(options.file)
    session = import_results(probing.sessions, path, use_anyway=options.use_anyway)
    return print_session(probing, session.id, options, console)


def _take_over(options: argparse.Namespace, console: Console) -> int:
    """Store a file's measurements on a target, and print them."""
    file = import_file(Path(options.file))
    device = open_catalogue(options, console).find(options.device)
    precision = Precision(options.precision or Precision.FP32)
    configuration = Configuration(options.runtime, precision, options.threads, options.batch)
    names = unique(options.name, "--name")
    models = _read(options.model)
    imported = take_over(
        file,
        device,
        configuration,
        models,
        names,
        options.store,
        states_precision=bool(options.precision),
    )
    for note in imported.notes:
        console.note(printable(note))
    if options.json:
        console.document(_document(imported))
    else:
        console.result(_table(imported.measurements))
    return 0


def _read(paths: Sequence[str]) -> list[Model]:
    if not paths:
        return []
    with IngestionWorker() as worker:
        return [worker.ingest(path) for path in paths]


def _document(imported: ImportedMeasurements) -> dict[str, object]:
    return {
        "schema": "ctm-import/1",
        "signatures": list(imported.signatures),
        "measurements": [
            {
                "measurement": measurement.id,
                "fingerprint": measurement.fingerprint,
                "device": measurement.device_id,
                "configuration": asdict(measurement.configuration),
                "latency_ms": measurement.value_ms,
                "statistic": measurement.statistic,
                "runs": len(measurement.samples_ns),
            }
            for measurement in imported.measurements
        ],
        "notes": list(imported.notes),
    }


def _table(measurements: Sequence[Measurement]) -> str:
    rows = [
        (
            measurement.fingerprint[:_DIGITS],
            significant(measurement.value_ms, 4),
            measurement.statistic,
            measurement.device_id,
            measurement.configuration.runtime,
            measurement.configuration.precision,
        )
        for measurement in measurements
    ]
    titles = ("Fingerprint", "ms", "What it is", "Device", "Runtime", "Precision")
    return render_table(titles, rows, " r")
