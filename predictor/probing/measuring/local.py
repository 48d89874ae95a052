"""Measures on this machine: the runner in a child process, its blocks in children of that."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Empty
from typing import Any

from predictor.core.child_process import ChildProcess
from predictor.core.errors import HostError, InputError
from predictor.core.left_over import work_folder
from predictor.core.progress import CancelToken
from predictor.core.text import shortened
from predictor.probing.measuring import interface
from predictor.probing.measuring.documents import PLAN_FILE, event_of, plan_bytes
from predictor.probing.runner.bundle import RUNNER_FILE, runner_bytes
from predictor.probing.runner.process import FROZEN_FLAG

_POLL_S = 0.05  # how late a cancel is noticed
_SUBJECT = "the runner of this machine"


class LocalRunner:
    """Measures plans on this machine; see :class:`ProbeRunner`.

    The runner and its blocks end when this process does, however it ends: they see their standard
    input close. Their files are written next to the networks of the plan, in a folder that the next
    run there removes where this process was killed before it could.
    """

    def __init__(self) -> None:
        self._child: _RunnerProcess | None = None

    def run(
        self, plan: interface.MeasuringPlan, cancel: CancelToken | None = None
    ) -> Iterator[interface.ProbeEvent]:
        """Measure; see :class:`ProbeRunner`."""
        with _folder(plan) as folder:
            child = self._child = _RunnerProcess(_prepared(folder, plan), _SUBJECT, foreign=True)
            try:
                yield from _events(child, cancel or CancelToken())
            finally:
                self._child = None
                child.kill()

    def send(self, command: interface.Command) -> None:
        """Send a command to the run under way; see :class:`ProbeRunner`."""
        child = self._child
        if child is not None:
            child.send({"command": command.value})


@contextmanager
def _folder(plan: interface.MeasuringPlan) -> Iterator[Path]:
    parent = plan.networks[0].path.parent
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(work_folder(parent, "ctm-probe-"))
        except OSError as error:
            raise _not_written(parent, error) from error
        yield folder


def _not_written(folder: Path, error: OSError) -> HostError:
    return HostError(str(folder), f"it cannot be written ({error.strerror})", "free some space")


def _prepared(folder: Path, plan: interface.MeasuringPlan) -> list[str]:
    """Write the runner and its plan, and return the command line."""
    try:
        (folder / PLAN_FILE).write_bytes(plan_bytes(plan, in_place=True))
        program = [sys.executable, FROZEN_FLAG]
        # A frozen program has no Python to run the file with, and acts as the runner itself.
        if not getattr(sys, "frozen", False):
            (folder / RUNNER_FILE).write_bytes(runner_bytes())
            program = [sys.executable, str(folder / RUNNER_FILE)]
    except OSError as error:
        raise _not_written(folder, error) from error
    return [*program, "run", "--plan", str(folder / PLAN_FILE), "--lines", "--attached"]


def _events(child: _RunnerProcess, cancel: CancelToken) -> Iterator[interface.ProbeEvent]:
    while True:
        cancel.check()
        try:
            message = child.answers.get(timeout=_POLL_S)
        except Empty:
            continue
        if message is None:
            raise HostError(_SUBJECT, child.describe_end(), "try again")
        _raise_refusal(message)
        event = event_of(message)
        if event is not None:
            yield event
        if isinstance(event, interface.RunFinished):
            return


def _raise_refusal(message: dict[str, Any]) -> None:
    """Raise the runner's reason not to start the run."""
    payload = message["payload"]
    if message["kind"] != "error" or payload.get("event") != "run":
        return
    refusal = InputError if payload["code"] == InputError.exit_code else HostError
    raise refusal(_SUBJECT, str(payload["reason"]), "install what is missing, or plan again")


class _RunnerProcess(ChildProcess):
    """The runner, leader of a process group with its blocks in it."""

    def kill(self) -> None:
        """End the runner and its blocks at once."""
        # Windows has no process groups of this kind; blocks end there when their input closes.
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        super().kill()

    def describe_end(self) -> str:
        """Return the runner's end in words."""
        code = self._process.wait()
        # The thread that reads the standard error, so that the last words are complete.
        self._threads[1].join()
        words = shortened(self._last_words, 200)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"it ended with {how}{': ' if words else ''}{words}"
