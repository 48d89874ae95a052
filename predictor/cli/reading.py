"""Models read in the worker process while this process imports and prepares the rest.

A worker needs about as long to import onnx as this process needs for numpy and the store; one
after the other they would take most of the command's time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from predictor.core.errors import CtmError, InputError
from predictor.core.progress import CancelToken
from predictor.services.models.files import find_model_files
from predictor.services.models.ingestion import IngestionWorker

if TYPE_CHECKING:  # numpy is imported while the worker starts
    from predictor.graph.model import Model

_V = TypeVar("_V")


@contextmanager
def reading(paths: Sequence[str], options: argparse.Namespace) -> Iterator[list[Future[Model]]]:
    """Read models one after the other; leaving the block early stops the reading.

    Args:
        paths: the files.
        options: batch, dim and shape, as the user gave them.

    Yields:
        One future a path, in order.
    """
    bindings = unique(options.dim, "--dim")
    shapes = unique(options.shape, "--shape")
    cancel = CancelToken()
    # One thread, for the worker answers one request at a time.
    with IngestionWorker() as worker, ThreadPoolExecutor(1) as pool:
        try:
            yield [
                pool.submit(worker.ingest, path, bindings, options.batch, shapes, cancel)
                for path in paths
            ]
        finally:
            cancel.cancel()
            # Models that wait are dropped; the one being read ends with its cancel.
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def readings_of(named: Sequence[str], options: argparse.Namespace) -> Iterator[list[Future[Model]]]:
    """Read the files, those in folders, and those that patterns match.

    Args:
        named: files, folders and patterns.
        options: batch, dim and shape, as the user gave them.

    Yields:
        A future that fails for each wrong one of ``named``, then one a file.
    """
    files = find_model_files(named, CancelToken())
    with reading(files.paths, options) as models:
        yield [*map(_failed, files.problems), *models]


def _failed(problem: CtmError) -> Future[Model]:
    future: Future[Model] = Future()
    future.set_exception(problem)
    return future


def unique(pairs: Sequence[tuple[str, _V]], option: str) -> dict[str, _V]:
    """Return the pairs of a repeated option by name.

    Raises:
        InputError: a name is given twice with different values.
    """
    values: dict[str, _V] = {}
    for name, value in pairs:
        if values.setdefault(name, value) != value:
            raise InputError(option, f"{name} is given twice with different values", "give one")
    return values
