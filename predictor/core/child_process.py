"""A child process that answers in JSON lines; any other output is logged."""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

from predictor.core.child_start import started
from predictor.core.errors import HostError, error_from_dict
from predictor.core.progress import CancelToken
from predictor.core.text import shortened

_log = logging.getLogger(__name__)

_KINDS = frozenset({"progress", "result", "error"})
# A child that never ends its line must not fill this process's memory.
_LONGEST_LINE_BYTES = 2**28
_POLL_S = 0.05  # how late a cancel is noticed
_END_S = 5.0  # how long a child that has closed its output may take to end


class ChildProcess:
    """One running child and the two threads that read its pipes.

    Args:
        command: its command line.
        subject: its name in errors.
        remedy: the user's next step where it fails.
        foreign: a program of its own, which keeps the folder and the environment of this process.
        process: that was started by this command line already.

    Attributes:
        answers: each answer ``{"id", "kind", "payload"}``, and None when the child has ended.
        ready: whether the child has answered anything yet.

    Raises:
        HostError: the command cannot be run.
    """

    def __init__(
        self,
        command: Sequence[str],
        subject: str = "the reader of model files",
        remedy: str = "try again",
        *,
        foreign: bool = False,
        process: subprocess.Popen[bytes] | None = None,
    ) -> None:
        self.subject, self.remedy = subject, remedy
        self.answers: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self.ready = False
        self._last_words = ""
        self._sending = threading.Lock()
        try:
            self._process = started(command, foreign=foreign) if process is None else process
        except OSError as error:
            raise HostError(
                subject,
                f"it cannot be started: {error.strerror}",
                "install the program again",
            ) from error
        # One thread a pipe: a child stops at a full pipe without a reader.
        self._threads = (
            self._thread(self._read_answers, self._process.stdout),
            self._thread(self._log_noise, self._process.stderr),
        )

    def _thread(self, target: Any, pipe: IO[bytes] | None) -> threading.Thread:
        thread = threading.Thread(target=target, args=(pipe,), daemon=True)
        thread.start()
        return thread

    @property
    def running(self) -> bool:
        """Whether the child has not ended."""
        return self._process.poll() is None

    def send(self, request: Mapping[str, object]) -> None:
        """Send one request. That the child has ended shows in ``answers``, not here."""
        pipe = self._process.stdin
        with self._sending:
            if pipe is None or pipe.closed:
                return
            try:
                # json.dumps escapes all but ASCII and every line feed, so a request is one line.
                pipe.write(json.dumps(request).encode("ascii") + b"\n")
                pipe.flush()
            except OSError as error:
                _log.info("the child had ended before a request: %s", error)

    def kill(self) -> None:
        """End the child now; safe to call again and from any thread."""
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(_END_S)
        pipe = self._process.stdin
        with self._sending:  # a request that was being written has failed by now
            if pipe is not None:
                try:
                    pipe.close()
                except OSError as error:
                    _log.info("a request was lost: %s", error)

    def resident_bytes(self) -> int:
        """Return the resident memory of the child in bytes, 0 when it has ended."""
        return resident_bytes(self._process.pid)

    def describe_end(self) -> str:
        """Return in words the child's end, once its output is closed: ``signal 11, SIGSEGV``."""
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            return "it stopped answering"
        # The last words come from another thread, which may still be reading them.
        self._threads[1].join(_END_S)
        if code >= 0:
            words = shortened(self._last_words, 200)
            return f"exit code {code}{': ' if words else ''}{words}"
        try:
            return f"signal {-code}, {signal.Signals(-code).name}"
        except ValueError:
            return f"signal {-code}"

    def _read_answers(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(_LONGEST_LINE_BYTES):
                answer = parse_answer(line)
                if answer is None:
                    _log.info(
                        "a child printed: %s", shortened(line.decode("utf-8", "replace"), 500)
                    )
                else:
                    self.ready = True
                    self.answers.put(answer)
                # A large model's answer would stay in memory until the next one.
                del line, answer
        self.answers.put(None)

    def _log_noise(self, pipe: IO[bytes]) -> None:
        with pipe:
            while line := pipe.readline(_LONGEST_LINE_BYTES):
                text = shortened(line.decode("utf-8", "replace").rstrip(), 500)
                self._last_words = text or self._last_words
                _log.info("a child reported: %s", text)


def resident_bytes(process: int) -> int:
    """Return the resident memory of a process in bytes, 0 when it has ended."""
    if sys.platform == "linux":
        try:
            pages = int(Path(f"/proc/{process}/statm").read_bytes().split()[1])
        except (OSError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")
    import psutil  # noqa: PLC0415  # 10 ms that quick requests do not wait for

    try:
        resident: int = psutil.Process(process).memory_info().rss
    except psutil.Error:
        return 0
    return resident


def result_of(
    child: ChildProcess,
    request: Mapping[str, object],
    cancel: CancelToken | None = None,
    on_progress: Callable[[dict[str, Any]], object] = lambda _: None,
    limit_s: float = math.inf,
) -> dict[str, Any]:
    """Send a child its one request and return the payload of the result; the child is ended.

    Args:
        child: that was started for the request.
        request: as JSON.
        cancel: ends the child within a tenth of a second.
        on_progress: given the payload of each progress.
        limit_s: the result may take so long.

    Raises:
        HostError: the child ends without a result or takes too long.
        CancelledError: it was cancelled.
        CtmError: the error that the child answers with.
    """
    token, begin_s = cancel or CancelToken(), time.monotonic()
    try:
        child.send(request)
        while time.monotonic() - begin_s < limit_s:
            token.check()
            try:
                answer = child.answers.get(timeout=_POLL_S)
            except Empty:
                continue
            if answer is None:
                raise HostError(child.subject, child.describe_end(), child.remedy)
            payload: dict[str, Any] = answer["payload"]
            if answer["kind"] == "result":
                return payload
            if answer["kind"] == "error":
                raise error_from_dict(payload)
            on_progress(payload)
        raise HostError(child.subject, f"it took over {limit_s:.0f} s", child.remedy)
    finally:
        child.kill()


def parse_answer(line: bytes) -> dict[str, Any] | None:
    """Return the answer in a line, or None where the line holds none."""
    if not line.startswith(b"{"):
        return None
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(answer.get("id"), int) or answer.get("kind") not in _KINDS:
        return None
    return answer if isinstance(answer.get("payload"), dict) else None
