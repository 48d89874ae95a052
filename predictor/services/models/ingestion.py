"""Reads model files in a child process, which may crash, hang or run out of memory alone."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from queue import Empty
from typing import Any, Self

from predictor.core import errors
from predictor.core.child_process import ChildProcess
from predictor.core.progress import CancelToken
from predictor.formats.worker import out_of_memory
from predictor.graph.model import Model
from predictor.probing.networks.reference import is_reference
from predictor.services.models import reader

_POLL_S = 0.05  # how late a cancel, the clock or the memory is noticed
_WATCH_AFTER_S = 0.5  # psutil is not loaded for files that are read sooner


@dataclass(frozen=True, slots=True)
class IngestionLimits:
    """Limits of reading one file, beside those of its size in ``reader.READ_LIMITS``.

    Attributes:
        seconds: time, from the request on.
        memory_bytes: address space of the child on Linux, and its resident memory on every system.
    """

    seconds: float = reader.MAX_SECONDS
    memory_bytes: int = reader.MAX_BYTES


class IngestionWorker:
    """A warm child process that turns model files into models.

    One request runs at a time; further threads wait for their turn. A child that crashes, takes
    too long or too much memory is replaced, and so is one whose request is cancelled.

    Args:
        limits: of time and memory for one file.
        command: command line of the child; that of ``predictor.formats.worker`` if None.
    """

    def __init__(
        self, limits: IngestionLimits | None = None, command: Sequence[str] | None = None
    ) -> None:
        self._limits = limits or IngestionLimits()
        usual = reader.reader_command(self._limits.memory_bytes, self._limits.seconds)
        self._command = list(command) if command else usual
        self._turn = threading.Lock()
        # One that was started ahead has the usual command line.
        ahead = reader.take_ahead() if self._command == reader.reader_command() else None
        self._child = None if ahead is None else ChildProcess(self._command, process=ahead)
        self._closed = False
        self._requests = 0

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the child if none runs, and return at once while it loads its libraries.

        Raises:
            HostError: the child cannot be started.
        """
        if self._turn.acquire(blocking=False):  # else a request has the child
            try:
                self._running_child()
            finally:
                self._turn.release()

    def close(self) -> None:
        """End the child; a request that runs in another thread is cancelled."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()

    def ingest(
        self,
        path: str | os.PathLike[str],
        bindings: Mapping[str, int] | None = None,
        batch: int | None = None,
        shapes: Mapping[str, tuple[int, ...]] | None = None,
        cancel: CancelToken | None = None,
    ) -> Model:
        """Read a model file, infer its shapes and count its operators.

        Args:
            path: of the model file, of any format.
            bindings: values of dynamic dimensions by name.
            batch: value of the batch dimension.
            shapes: shapes of inputs by name.
            cancel: ends the request within half a second.

        Returns:
            The model with its operator graph.

        Raises:
            InputError: the file or a binding is wrong, or reading it crashed or passed a limit.
            HostError: the child cannot be started.
            CancelledError: the request was cancelled.
        """
        written_path = os.fspath(path)
        # The child keeps the folder it was started in, which may be another by now.
        absolute = _absolute(written_path)
        request = {
            "path": absolute,
            "bindings": dict(bindings or {}),
            "batch": batch,
            "shapes": {name: list(dims) for name, dims in (shapes or {}).items()},
        }
        with self._exclusive(cancel):
            child = self._running_child()
            try:
                answer = self._answer(child, written_path, request, cancel)
            except BaseException:
                # The child may still be reading: its answer would come to the next request.
                self._replace(child)
                raise
        if answer["kind"] == "error":
            raise _naming_file(errors.error_from_dict(answer["payload"]), absolute, written_path)
        model = Model.from_payload(answer["payload"])
        if not is_reference(model.graph.former_fingerprint):
            return model
        return replace(model, graph=model.graph.as_formerly())

    @contextmanager
    def _exclusive(self, cancel: CancelToken | None) -> Iterator[None]:
        # Not an endless wait: a request must be cancellable while another has the child.
        while not self._turn.acquire(timeout=_POLL_S):
            self._check_cancelled(cancel)
        try:
            yield
        finally:
            self._turn.release()

    def _check_cancelled(self, cancel: CancelToken | None) -> None:
        if self._closed:
            raise errors.CancelledError
        if cancel is not None:
            cancel.check()

    def _running_child(self) -> ChildProcess:
        """Return the child, started anew where it has ended; the caller has the turn."""
        if self._child is None or not self._child.running:
            self._replace(self._child)
        if self._child is None:
            raise errors.CancelledError
        return self._child

    def _replace(self, child: ChildProcess | None) -> None:
        """End a child and start another, which warms up until it is needed."""
        if child is not None:
            child.kill()
        self._child = None if self._closed else ChildProcess(self._command)
        if self._closed and self._child is not None:  # closed while it was started
            self._child.kill()

    def _answer(
        self,
        child: ChildProcess,
        path: str,
        request: Mapping[str, object],
        cancel: CancelToken | None,
    ) -> dict[str, Any]:
        """Send a request and return its result or error."""
        self._requests += 1
        number, started = self._requests, time.monotonic()
        child.send({"id": number, **request})
        while True:
            self._check_cancelled(cancel)
            self._check_limits(child, path, time.monotonic() - started)
            try:
                # Polled: one wait cannot watch queue, token, clock and memory together.
                answer = child.answers.get(timeout=_POLL_S)
            except Empty:
                continue
            if answer is None:
                self._check_cancelled(cancel)
                raise _death(child, path, self._limits)
            if answer["id"] == number and answer["kind"] != "progress":
                return answer

    def _check_limits(self, child: ChildProcess, path: str, elapsed_s: float) -> None:
        if elapsed_s > self._limits.seconds:
            raise errors.InputError(
                path,
                f"reading it took more than the {self._limits.seconds:g} s that it may take",
                "check that the file is sound, or give a smaller model",
            )
        # Resident memory too: only Linux enforces the limit of the address space.
        if elapsed_s > _WATCH_AFTER_S and child.resident_bytes() > self._limits.memory_bytes:
            raise out_of_memory(path, self._limits.memory_bytes)


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path)  # noqa: PTH100  # keeps ".." and links as given
    except FileNotFoundError as error:
        raise errors.InputError(
            path, "the current folder no longer exists", "change to a folder that exists"
        ) from error


def _death(child: ChildProcess, path: str, limits: IngestionLimits) -> errors.CtmError:
    """Return the error of a child that ended without an answer."""
    end = child.describe_end()
    # It never began, so no file is to blame.
    if not child.ready:
        return errors.HostError(
            "the reader of model files", f"it cannot start ({end})", "install the program again"
        )
    return errors.InputError(
        path,
        f"reading it crashed the reader ({end}), which may take "
        f"{limits.memory_bytes / 2**30:.3g} GiB of memory",
        "check that the file is sound; if it is, report it with the file",
    )


def _naming_file(error: errors.CtmError, absolute: str, written: str) -> errors.CtmError:
    """Return a child's error with the file in its subject, as the user wrote it."""
    subject = written if error.subject == absolute else f"{written}, {error.subject}"
    return type(error)(subject, error.reason, error.action)
