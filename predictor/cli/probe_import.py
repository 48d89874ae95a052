"""``ctm probe import --device``: latencies from another tool's file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from predictor.cli.console import Console
from predictor.cli.probe_json import configuration_object
from predictor.cli.reading import unique
from predictor.cli.tables import render_table
from predictor.core.records import Configuration, Measurement, Precision
from predictor.core.text import printable
from predictor.core.units import significant
from predictor.services.devices.catalogue import load_catalogue
from predictor.services.devices.user_devices import user_devices_of
from predictor.services.models.ingestion import IngestionWorker, Model
from predictor.services.probing.imports import Taken, import_file, take_over

_SHOWN_DIGITS = 12


def take_over_file(options: argparse.Namespace, console: Console) -> int:
    """Store what a file tells of a target, and print it."""
    file = import_file(Path(options.file))
    device = load_catalogue(user_devices_of(options.store)).find(options.device)
    configuration = Configuration(
        options.runtime, Precision(options.precision), options.threads, options.batch
    )
    store = Path(options.store) if options.store else None
    names = unique(options.name, "--name")
    taken = take_over(file, device.id, configuration, _read(options.model), names, store)
    for note in taken.notes:
        console.note(printable(note))
    if options.json:
        console.document(_document(taken))
    else:
        console.result(_table(taken.measurements))
    return 0


def _read(paths: Sequence[str]) -> list[Model]:
    if not paths:
        return []
    with IngestionWorker() as worker:
        return [worker.ingest(path) for path in paths]


def _document(taken: Taken) -> dict[str, object]:
    return {
        "schema": "ctm-import/1",
        "signatures": list(taken.signatures),
        "measurements": [
            {
                "measurement": measurement.id,
                "fingerprint": measurement.fingerprint,
                "device": measurement.device_id,
                "configuration": configuration_object(measurement.configuration),
                "latency_ms": measurement.value_ms,
                "statistic": measurement.statistic,
                "runs": len(measurement.samples_ns),
            }
            for measurement in taken.measurements
        ],
        "notes": list(taken.notes),
    }


def _table(measurements: Sequence[Measurement]) -> str:
    rows = [
        (
            measurement.fingerprint[:_SHOWN_DIGITS],
            significant(measurement.value_ms, 4),
            measurement.statistic,
            measurement.device_id,
        )
        for measurement in measurements
    ]
    return render_table(("Fingerprint", "ms", "What it is", "Device"), rows, " r")
