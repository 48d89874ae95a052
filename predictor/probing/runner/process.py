"""A block in a fresh process, as its parent sees it."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .failures import MeasuringError
from .messages import Controls, parse_line
from .settings import Settings

_POLL_S = 0.05
_RESULT = frozenset({"samples_ns", "median_ns", "contended"})

FROZEN_FLAG = "--probe-runner"
"""First argument of a frozen program that is to be this runner."""

ARCHIVE = Path(__file__).resolve().parents[1]
"""The file that these modules are packed in."""


def worker_command() -> list[str]:
    """Return the command line of a process for one block, also in a frozen program."""
    if getattr(sys, "frozen", False):
        return [sys.executable, FROZEN_FLAG, "block"]
    return [sys.executable, str(ARCHIVE), "block"]


class Block:
    """A fresh process that measures one block.

    Args:
        command: its command line.
        job: what it is to do.
    """

    def __init__(self, command: Sequence[str], job: dict[str, Any]) -> None:
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._last_words = b""
        environment = {**os.environ, "ORT_DISABLE_TELEMETRY": "1"}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            list(command), stdin=pipe, stdout=pipe, stderr=pipe, env=environment
        )
        self._threads = [
            threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._hear, args=(self._process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self.send(job)

    def send(self, job: dict[str, Any]) -> None:
        """Send a job; each but the first follows one with ``more`` that was answered."""
        self._settings = Settings(**job["settings"])
        with contextlib.suppress(OSError):  # it has ended already: `messages` says so
            self._process.stdin.write(json.dumps(job).encode("ascii") + b"\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]

    def _read(self, pipe: Any) -> None:
        for line in pipe:
            message = parse_line(line)
            if message is not None:
                self._messages.put(message)
        self._messages.put(None)

    def _hear(self, pipe: Any) -> None:
        for line in pipe:
            self._last_words = line.strip() or self._last_words

    def messages(self, controls: Controls) -> Iterator[dict[str, Any]]:
        """Yield the messages up to a result.

        Raises:
            MeasuringError: the process failed, crashed, hangs, or the network is to be skipped.
            StoppedError: a command stopped the run.
        """
        for message in self._heard(controls):
            _check_answer(message["kind"], message["payload"])
            yield message
            if message["kind"] == "result":
                return

    def operators(self, controls: Controls) -> dict[str, Any]:
        """Return what the profiled pass found, which follows the result: never a failure.

        Returns:
            ``operators``, or ``operators_missing``: why there are none.

        Raises:
            MeasuringError: the network is to be skipped.
            StoppedError: a command stopped the run.
        """
        try:
            for message in self._heard(controls):
                payload = message["payload"]
                if payload.pop("event", None) == "operators":
                    return dict(payload)
        except MeasuringError as error:
            if error.code == "skipped":
                raise
            return {"operators_missing": error.reason}
        raise AssertionError("messages end with an error")

    def _heard(self, controls: Controls) -> Iterator[dict[str, Any]]:
        """Yield messages until the process fails in some way; loading comes first."""
        limit_s, since = self._settings.load_limit_s, time.monotonic()
        while True:
            controls.check()
            if controls.skip.is_set():
                controls.skip.clear()
                raise MeasuringError("skipped", "it was skipped")
            if time.monotonic() - since > limit_s:
                raise MeasuringError("time-out", f"nothing was heard of it for {limit_s:g} s")
            try:
                message = self._messages.get(timeout=_POLL_S)
            except queue.Empty:
                continue
            if message is None:
                raise self._death()
            yield message
            limit_s, since = self._settings.silence_limit_s, time.monotonic()

    def _death(self) -> MeasuringError:
        code = self._process.wait()
        self._threads[1].join(_POLL_S * 20)
        words = self._last_words.decode("utf-8", "replace")[:200]
        if code == 0:
            return MeasuringError("no-answer", "its process ended without a result")
        if code == -getattr(signal, "SIGKILL", 9):
            return MeasuringError(
                "out-of-memory", "its process was killed, most likely for its memory"
            )
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return MeasuringError(
            "crashed", f"its process ended with {how}{': ' if words else ''}{words}"
        )

    def close(self) -> None:
        """End the process; safe to call again."""
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            # A job that was never read cannot be flushed.
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


def _check_answer(kind: str, payload: dict[str, Any]) -> None:
    """Raise the error of a message, or one for a malformed result."""
    if kind == "error":
        raise MeasuringError(
            str(payload.get("failure", "no-answer")),
            str(payload.get("reason", "it gave no reason")),
        )
    if kind == "result" and not _RESULT.issubset(payload):
        raise MeasuringError("no-answer", "its process gave a result without samples")
