"""``ctm predict --rows``: many models, a row for each pair as it comes."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from typing import Final

from predictor.cli.catalogue import open_catalogue
from predictor.cli.console import Console
from predictor.cli.measured import measured_of
from predictor.cli.predict.row_files import (
    ENDINGS,
    Finished,
    check_replaced,
    finished,
    form_of,
    writing,
)
from predictor.cli.predicting import PredictionStore, choose_targets
from predictor.cli.progress import progress_on
from predictor.cli.reading import unique
from predictor.core.csv_style import CsvStyle
from predictor.core.errors import InputError
from predictor.core.progress import CancelToken, Progress, no_progress
from predictor.core.records import Target
from predictor.graph.model import Model
from predictor.services.models.files import find_model_files
from predictor.services.models.ingestion import IngestionWorker
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.predict import KnownTargets
from predictor.services.rows.cluster import Cluster, rows_by_cluster
from predictor.services.rows.processes import rows_by_processes
from predictor.services.rows.request import Answer, ModelRows, RowsRequest, read, rows_of
from predictor.services.rows.text import RowForm, rows_text

_MAX_FILES: Final = 1_000_000
_AHEAD: Final = 2  # files that are read before they are predicted


def write_rows(options: argparse.Namespace, console: Console) -> int:
    """Write a row for each model and device; a file that cannot be read is a row with the reason.

    Rows are in the file as soon as their model is done: whatever ends the command later, they stay,
    and ``--resume`` goes on behind them.

    Raises:
        HostError: the file cannot be written.
        InputError: another option does not go with rows, no model is there, or the file to go on
            with is of another run.
    """
    _check_options(options)
    targets = choose_targets(options, open_catalogue(options, console, networks=True), console)
    files = find_model_files(options.models, CancelToken(), limit=_MAX_FILES)
    part, parts = options.shard
    paths = files.paths[part - 1 :: parts]
    for problem in files.problems:
        console.error(f"ctm: {problem}")
    finished = _finished(options, targets)
    failed = len(files.problems) + finished.failed
    left = [path for path in paths if path not in finished.models]
    # A line a model would fill a log.
    progress = progress_on(console) if sys.stderr.isatty() else no_progress
    with (
        closing(PredictionStore(options.store)) as store,
        writing(options.rows, _form(options), finished) as write,
    ):
        request = _request(options, targets, store.signatures(targets))
        before = len(paths) - len(left) + 1
        for done, (path, answer) in enumerate(_answers(left, request, options, store), before):
            if isinstance(answer, ModelRows):
                write(answer.text)
            else:
                failed += 1
                write(rows_text([{"model": path, "problem": answer.reason}], request.form))
            progress(Progress(done, len(paths), "models predicted"))
        stored = store.exit_code(console, "your measurements were not used")
    return stored or (InputError.exit_code if failed else 0)


def _request(
    options: argparse.Namespace, targets: Sequence[Target], measured: KnownTargets
) -> RowsRequest:
    return RowsRequest(
        targets=tuple(targets),
        engine=options.engine,
        measured=measured,
        bindings=unique(options.dim, "--dim"),
        batch=options.batch,
        shapes=unique(options.shape, "--shape"),
        form=_form(options),
    )


def _form(options: argparse.Namespace) -> RowForm:
    return form_of(options.rows, CsvStyle(options.csv_style))


def _check_options(options: argparse.Namespace) -> None:
    options_without_rows = {
        "--json": options.json,
        "--operators": options.operators,
        "--sensitivity": options.sensitivity,
        "--throughput": options.throughput,
        "--energy": options.energy,
        "--node-data": options.node_data is not None,
        "--trace": options.trace is not None,
        "--budget-ms": options.budget_ms is not None,
        "--measured": bool(options.measured),
        "--mode": bool(options.mode),
        "--clock": bool(options.clock),
        "--measured-at": bool(options.measured_at),
    }
    for name, is_stated in options_without_rows.items():
        if is_stated:
            raise InputError(name, "it does not go with --rows", "leave one of them out")
    if options.cluster is not None and options.jobs != 1:
        raise InputError("--jobs", "it does not go with --cluster", "leave one of them out")
    if options.cluster is not None:
        _cluster(options)  # refused before anything is read
    for name in ("ca", "cert", "key"):
        if options.cluster is None and getattr(options, f"cluster_{name}") is not None:
            raise InputError(f"--cluster-{name}", "it needs --cluster", "name a cluster")
    if options.rows.suffix.lower() not in ENDINGS:
        raise InputError(
            f"--rows {options.rows}",
            "its ending is none of .jsonl, .csv and .parquet",
            "choose one of them",
        )
    if options.csv_style != CsvStyle.POINT and _form(options).style is None:
        raise InputError("--csv-style", "it needs --rows FILE.csv", "name a file .csv")


def _finished(options: argparse.Namespace, targets: Sequence[Target]) -> Finished:
    """Return what an interrupted run finished; nothing without ``--resume``."""
    if not options.resume:
        check_replaced(options.rows)
        return Finished()
    keys = frozenset(tuple(map(str, target.id)) for target in targets)
    return finished(options.rows, _form(options), keys, open_engine(options.engine).name)


def _answers(
    paths: Sequence[str],
    request: RowsRequest,
    options: argparse.Namespace,
    store: PredictionStore,
) -> Iterator[tuple[str, Answer]]:
    """Yield the rows of each file as they come, or why it has none."""
    if options.cluster is not None:
        answers = rows_by_cluster(_cluster(options), request, paths)
    elif min(options.jobs, len(paths)) > 1:
        answers = rows_by_processes(request, paths, options.jobs)
    else:
        yield from _rows_here(paths, request, options, store)
        return
    with closing(answers), closing(IngestionWorker()) as reader:
        for path, answer in answers:
            if isinstance(answer, ModelRows) and store.is_measured(*answer.fingerprints):
                # What the user measured of a model stays here, and is counted in here.
                model = _read(path, request, reader)
                yield path, _measured_rows(path, model, request, options, store)
            else:
                yield path, answer


def _cluster(options: argparse.Namespace) -> Cluster:
    certificates = (options.cluster_ca, options.cluster_cert, options.cluster_key)
    return Cluster(options.cluster, *certificates)


def _rows_here(
    paths: Sequence[str],
    request: RowsRequest,
    options: argparse.Namespace,
    store: PredictionStore,
) -> Iterator[tuple[str, Answer]]:
    """Yield the rows of each file, or why it has none; the next files are read meanwhile."""
    # The reader ends before the pool: its thread does not wait for a file that is being read.
    with ThreadPoolExecutor(1) as pool, IngestionWorker() as reader:
        left = iter(paths)
        reading = deque(
            (path, pool.submit(_read, path, request, reader)) for path in islice(left, _AHEAD)
        )
        while reading:
            path, model = reading.popleft()
            yield path, _measured_rows(path, model.result(), request, options, store)
            reading.extend(
                (path, pool.submit(_read, path, request, reader)) for path in islice(left, 1)
            )


def _read(path: str, request: RowsRequest, reader: IngestionWorker) -> Model | InputError:
    try:
        return read(request, reader, path)
    except InputError as error:
        return error


def _measured_rows(
    path: str,
    model: Model | InputError,
    request: RowsRequest,
    options: argparse.Namespace,
    store: PredictionStore,
) -> Answer:
    """Return the rows of a model, with the user's measurements of it."""
    if isinstance(model, InputError):
        return model
    measurements, devices = measured_of(options, store, [model], (), request.measured)
    return rows_of(request, path, model, measurements, devices)
