"""``ctm predict --rows``: many models, read side by side, a row for each pair as it comes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from itertools import islice
from queue import SimpleQueue
from typing import Final

from predictor.cli.catalogue import open_catalogue
from predictor.cli.console import Console
from predictor.cli.measured import measured_of
from predictor.cli.predict.row_files import ENDINGS, NUMBERS, Finished, Row, finished, writing
from predictor.cli.predicting import PredictionStore, choose_targets
from predictor.cli.progress import progress_on
from predictor.cli.reading import unique
from predictor.core.errors import CtmError, InputError
from predictor.core.progress import CancelToken, Progress, no_progress
from predictor.core.records import Prediction, Target
from predictor.services.cluster import Cluster, Request, predict_on_cluster
from predictor.services.models.files import find_model_files
from predictor.services.models.ingestion import IngestionWorker, Model
from predictor.services.prediction.engines import open_engine
from predictor.services.prediction.predict import KnownTargets, predict

_MOST_FILES: Final = 1_000_000


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
    targets = choose_targets(options, open_catalogue(options, console))
    files = find_model_files(options.models, CancelToken(), any_name=True, most=_MOST_FILES)
    part, parts = options.shard
    paths = files.paths[part - 1 :: parts]
    for problem in files.problems:
        console.error(f"ctm: {problem}")
    kept = _kept(options, targets)
    failed = len(files.problems) + kept.failed
    left = [path for path in paths if path not in kept.models]
    # A line a model would fill a log.
    progress = progress_on(console) if sys.stderr.isatty() else no_progress
    with closing(PredictionStore(options.store)) as store, writing(options.rows, kept) as write:
        signatures = store.signatures(targets)
        where = _predicted_here if options.cluster is None else _predicted_on_cluster
        before = len(paths) - len(left) + 1
        answers = where(left, targets, options, store, signatures)
        for done, (path, row) in enumerate(answers, before):
            if isinstance(row, CtmError):
                failed += 1
                write([{"model": path, "problem": row.reason}])
            else:
                write([_row(path, each) for each in row])
            progress(Progress(done, len(paths), "models predicted"))
        stored = store.exit_code(console, "your measurements were not used")
    return stored or (InputError.exit_code if failed else 0)


def _check_options(options: argparse.Namespace) -> None:
    others = {
        "--json": options.json,
        "--operators": options.operators,
        "--sensitivity": options.sensitivity,
        "--node-data": options.node_data is not None,
        "--trace": options.trace is not None,
        "--budget-ms": options.budget_ms is not None,
        "--measured": bool(options.measured),
        "--mode": bool(options.mode),
        "--clock": bool(options.clock),
        "--measured-at": bool(options.measured_at),
    }
    for name, given in others.items():
        if given:
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


def _kept(options: argparse.Namespace, targets: Sequence[Target]) -> Finished:
    """Return what an interrupted run finished; nothing without ``--resume``."""
    if not options.resume:
        return Finished()
    keys = frozenset(tuple(map(str, target.id)) for target in targets)
    return finished(options.rows, keys, open_engine(options.engine).name)


def _predicted_here(
    paths: Sequence[str],
    targets: Sequence[Target],
    options: argparse.Namespace,
    store: PredictionStore,
    signatures: KnownTargets,
) -> Iterator[tuple[str, Sequence[Prediction] | CtmError]]:
    """Yield the predictions of each file as it is read, or why it cannot be."""
    for path, model in _read_side_by_side(paths, options):
        if isinstance(model, InputError):
            yield path, model
        else:
            own, devices = measured_of(options, store, [model], (), signatures)
            yield path, predict([model], targets, options.engine, own, signatures, devices)


def _cluster(options: argparse.Namespace) -> Cluster:
    certificates = (options.cluster_ca, options.cluster_cert, options.cluster_key)
    return Cluster(options.cluster, *certificates)


def _predicted_on_cluster(
    paths: Sequence[str],
    targets: Sequence[Target],
    options: argparse.Namespace,
    store: PredictionStore,
    signatures: KnownTargets,
) -> Iterator[tuple[str, Sequence[Prediction] | CtmError]]:
    """Yield the predictions of each file as workers of the cluster have them."""
    bindings, shapes = unique(options.dim, "--dim"), unique(options.shape, "--shape")
    cluster = _cluster(options)
    request = Request(tuple(targets), options.engine, signatures, bindings, options.batch, shapes)
    with closing(predict_on_cluster(cluster, request, paths)) as answers:
        for path, answer in answers:
            if not isinstance(answer, CtmError) and store.is_measured(answer[0].fingerprint):
                # What the user measured of a model stays here, and is counted in here.
                yield from _predicted_here([path], targets, options, store, signatures)
            else:
                yield path, answer


def _read_side_by_side(
    paths: Sequence[str], options: argparse.Namespace
) -> Iterator[tuple[str, Model | InputError]]:
    """Yield models as they are read by ``options.jobs`` processes, or the errors of their files."""
    bindings, shapes = unique(options.dim, "--dim"), unique(options.shape, "--shape")
    count = max(1, min(options.jobs, len(paths)))
    idle: SimpleQueue[IngestionWorker] = SimpleQueue()

    def read(path: str) -> tuple[str, Model | InputError]:
        worker = idle.get()
        try:
            return path, worker.ingest(path, bindings, options.batch, shapes)
        except InputError as error:
            return path, error
        finally:
            idle.put(worker)

    # The workers end before the pool: its threads do not wait for a file that is being read.
    with ThreadPoolExecutor(count) as pool, ExitStack() as workers:
        for _ in range(count):
            idle.put(workers.enter_context(IngestionWorker()))
        left = iter(paths)
        # No more than these are in memory at once.
        reading: set[Future[tuple[str, Model | InputError]]] = {
            pool.submit(read, path) for path in islice(left, 2 * count)
        }
        while reading:
            done, reading = wait(reading, return_when=FIRST_COMPLETED)
            reading |= {pool.submit(read, path) for path in islice(left, len(done))}
            for each in done:
                yield each.result()


def _row(path: str, prediction: Prediction) -> Row:
    configuration, memory = prediction.configuration, prediction.memory
    return {
        "model": path,
        "fingerprint": prediction.fingerprint,
        "device": prediction.device_id,
        "runtime": configuration.runtime,
        "precision": str(configuration.precision),
        "threads": configuration.threads,
        "batch": configuration.batch,
        **{name: getattr(prediction, name) for name in NUMBERS},
        "memory_bytes": None if memory is None else memory.peak_bytes,
        "engine": prediction.engine,
        "problem": prediction.problem or None,
    }
