"""Rows of many models by child processes of this machine: each reads and predicts files."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from itertools import islice
from queue import SimpleQueue
from typing import Final

from predictor.core.child_process import ChildProcess
from predictor.core.child_start import child_command
from predictor.core.errors import CancelledError, HostError, InputError, error_from_dict
from predictor.services.models.files import absolute
from predictor.services.prediction.engines import open_engine
from predictor.services.rows.request import Answer, ModelRows, RowsRequest

_SUBJECT: Final = "a process that predicts"
_TRIES: Final = 3  # of a file, where the process that has it ends


class RowsProcess:
    """A child process that answers one file at a time; one that ends is replaced.

    Args:
        request: of every file.
    """

    def __init__(self, request: RowsRequest) -> None:
        self._request = base64.b64encode(pickle.dumps(request)).decode("ascii")
        self._closed = False
        self._child = self._started()

    def _started(self) -> ChildProcess:
        child = ChildProcess(child_command("--rows-worker"), _SUBJECT)
        child.send({"request": self._request})
        return child

    def close(self) -> None:
        """End the child, also while another thread waits for its answer."""
        self._closed = True
        self._child.kill()

    def rows(self, path: str) -> Answer:
        """Return the rows of a file, or why it has none.

        Raises:
            HostError: the child cannot be started.
            CancelledError: it was closed.
        """
        for _ in range(_TRIES):
            child = self._child
            child.send({"id": 1, "path": absolute(path), "name": path})
            while (answer := child.answers.get()) is not None:
                if answer["kind"] == "result":
                    payload = answer["payload"]
                    fingerprint, former = payload["fingerprints"]
                    return ModelRows((fingerprint, former), payload["text"].encode())
                if answer["kind"] == "error":
                    error = error_from_dict(answer["payload"])
                    if isinstance(error, InputError):
                        return error
                    raise error
            end = child.describe_end()
            child.kill()
            self._child = self._started()
            if self._closed:  # also while it was started
                self._child.kill()
                raise CancelledError
        if not child.ready:
            raise HostError(_SUBJECT, f"it cannot start ({end})", "install the program again")
        return HostError(path, f"the processes that had it ended ({end})", "try it alone")


def rows_by_processes(
    request: RowsRequest, paths: Sequence[str], count: int
) -> Generator[tuple[str, Answer]]:
    """Yield each file's rows as they come, or why it has none.

    Args:
        request: of every file.
        paths: of the model files, at least one.
        count: of processes.

    Raises:
        HostError: the processes cannot be started.
        InputError: the engine that is named cannot be opened.
    """
    idle: SimpleQueue[RowsProcess] = SimpleQueue()

    def ask(path: str) -> tuple[str, Answer]:
        process = idle.get()
        try:
            return path, process.rows(path)
        finally:
            idle.put(process)

    count = min(count, len(paths))
    # The processes end before the pool: its threads do not wait for a file that is predicted.
    with ThreadPoolExecutor(count) as pool, ExitStack() as processes:
        for _ in range(count):
            idle.put(processes.enter_context(closing(RowsProcess(request))))
        if request.engine:
            open_engine(request.engine)  # a damaged one is reported once, not for every file
        left = iter(paths)
        # No more than these are in memory at once.
        pending: set[Future[tuple[str, Answer]]] = {
            pool.submit(ask, path) for path in islice(left, 2 * count)
        }
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            pending |= {pool.submit(ask, path) for path in islice(left, len(done))}
            for future in done:
                yield future.result()
