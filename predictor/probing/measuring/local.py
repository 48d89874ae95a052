"""Measures on this machine: the runner in a child process, its blocks in children of that."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

from predictor.core.errors import HostError, InputError
from predictor.core.progress import CancelToken
from predictor.core.text import shortened
from predictor.probing.measuring.documents import PLAN_FILE, event_of, plan_bytes
from predictor.probing.measuring.interface import (
    Command,
    MeasuringPlan,
    ProbeEvent,
    RunFinished,
)
from predictor.probing.runner.bundle import RUNNER_FILE, runner_bytes
from predictor.probing.runner.messages import parse_line
from predictor.probing.runner.process import FROZEN_FLAG

_log = logging.getLogger(__name__)

_POLL_S = 0.05  # how late a cancel is noticed
_SUBJECT = "the runner of this machine"


class LocalRunner:
    """Measures plans on this machine; see :class:`ProbeRunner`.

    The runner and its blocks end when this process does, however it ends: they see their standard
    input close. What they need is written beside the networks of the plan: whoever made that folder
    clears it, also where this process was killed before it could.
    """

    def __init__(self) -> None:
        self._child: _Child | None = None

    def run(self, plan: MeasuringPlan, cancel: CancelToken | None = None) -> Iterator[ProbeEvent]:
        """Measure; see :class:`ProbeRunner`."""
        with _folder(plan) as folder:
            child = self._child = _Child(_prepared(Path(folder), plan))
            try:
                yield from _events(child, cancel or CancelToken())
            finally:
                self._child = None
                child.close()

    def send(self, command: Command) -> None:
        """Send a command to the run under way; see :class:`ProbeRunner`."""
        child = self._child
        if child is not None:
            child.send({"command": command.value})


def _folder(plan: MeasuringPlan) -> tempfile.TemporaryDirectory[str]:
    beside = plan.networks[0].path.parent
    try:
        return tempfile.TemporaryDirectory(prefix="ctm-probe-", dir=beside)
    except OSError as error:
        raise _not_written(beside, error) from error


def _not_written(folder: Path, error: OSError) -> HostError:
    return HostError(str(folder), f"it cannot be written ({error.strerror})", "free some space")


def _prepared(folder: Path, plan: MeasuringPlan) -> list[str]:
    """Write what the runner needs and return its command line."""
    try:
        (folder / PLAN_FILE).write_bytes(plan_bytes(plan, in_place=True))
        program = [sys.executable, FROZEN_FLAG]
        if not getattr(sys, "frozen", False):
            (folder / RUNNER_FILE).write_bytes(runner_bytes())
            program = [sys.executable, str(folder / RUNNER_FILE)]
    except OSError as error:
        raise _not_written(folder, error) from error
    return [*program, "run", "--plan", str(folder / PLAN_FILE), "--lines", "--attached"]


def _events(child: _Child, cancel: CancelToken) -> Iterator[ProbeEvent]:
    while True:
        cancel.check()
        try:
            message = child.messages.get(timeout=_POLL_S)
        except Empty:
            continue
        if message is None:
            raise HostError(_SUBJECT, child.describe_end(), "try again")
        _raise_refusal(message)
        event = event_of(message)
        if event is not None:
            yield event
        if isinstance(event, RunFinished):
            return


def _raise_refusal(message: dict[str, Any]) -> None:
    """Raise what keeps the whole run from being started."""
    payload = message["payload"]
    if message["kind"] != "error" or payload.get("event") != "run":
        return
    refusal = InputError if payload["code"] == InputError.exit_code else HostError
    raise refusal(_SUBJECT, str(payload["reason"]), "install what is missing, or plan again")


class _Child:
    """The runner's process and the threads that read its pipes."""

    def __init__(self, command: list[str]) -> None:
        self.messages: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._last_words = ""
        self._sending = threading.Lock()
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, **_apart_from_terminal()
            )
        except OSError as error:
            raise HostError(
                _SUBJECT, f"it cannot be started ({error.strerror})", "install the program again"
            ) from error
        self._threads = [
            threading.Thread(target=read, args=(source,), daemon=True)
            for read, source in (
                (self._read, self._process.stdout),
                (self._hear, self._process.stderr),
            )
        ]
        for thread in self._threads:
            thread.start()

    def send(self, command: dict[str, str]) -> None:
        """Send one command; that the child has ended shows in ``messages``."""
        pipe = self._process.stdin
        with self._sending, suppress(OSError, ValueError):
            if pipe is not None:
                pipe.write(json.dumps(command).encode("ascii") + b"\n")
                pipe.flush()

    def describe_end(self) -> str:
        """Return the child's end in words."""
        code = self._process.wait()
        self._threads[1].join()
        words = shortened(self._last_words, 200)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"it ended with {how}{': ' if words else ''}{words}"

    def close(self) -> None:
        """End the child and its blocks at once."""
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        with self._sending, suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                message = parse_line(line)
                if message is None:
                    _log.info(
                        "the runner printed: %s", shortened(line.decode("utf-8", "replace"), 500)
                    )
                else:
                    self.messages.put(message)
        self.messages.put(None)

    def _hear(self, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                self._last_words = line.decode("utf-8", "replace").strip() or self._last_words
                _log.info("the runner reported: %s", shortened(self._last_words, 500))


def _apart_from_terminal() -> dict[str, Any]:
    """Keep Ctrl+C, which is for this process, from the child; open no console window."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
