"""Messages between processes, one JSON line each, and the commands of a run."""

from __future__ import annotations

import json
import math
import threading
from typing import Any

from .failures import StoppedError

_POLL_S = 0.05


class Lines:
    """Writes messages, one JSON line each."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._lock = threading.Lock()

    def send(self, number: int, kind: str, payload: dict[str, Any]) -> None:
        """Write a message; ``number`` is the network's place in the plan from 1, else 0."""
        text = json.dumps({"id": number, "kind": kind, "payload": payload}, separators=(",", ":"))
        with self._lock:
            self._file.write(text.encode("ascii") + b"\n")
            self._file.flush()


def _finite(text: str) -> float:
    """Return a number of a message; NaN and Infinity are no JSON, which the store would find."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the message in a line, or None where the line holds none."""
    if not line.startswith(b"{"):
        return None
    try:
        message = json.loads(line, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message.get("id"), int) or not isinstance(message.get("payload"), dict):
        return None
    return message if message.get("kind") in {"progress", "result", "error"} else None


class Controls:
    """Commands for the run from outside: skip, pause, continue, stop."""

    def __init__(self) -> None:
        self.skip = threading.Event()
        self.stop = threading.Event()
        self._going = threading.Event()
        self._going.set()

    def take(self, command: str) -> None:
        """Obey one command; an unknown one has no effect."""
        if command == "skip":
            self.skip.set()
        elif command == "pause":
            self._going.clear()
        elif command == "continue":
            self._going.set()
        elif command == "stop":
            self.stop.set()

    def listen(self, pipe: Any) -> None:
        """Obey commands ``{"command": ...}`` of a pipe; its end means stop."""
        for line in pipe:
            try:
                command = json.loads(line).get("command", "")
            except (ValueError, AttributeError):
                continue
            self.take(command)
        self.stop.set()

    def wait_while_paused(self) -> None:
        """Return when the run may go on.

        Raises:
            StoppedError: a command stopped it.
        """
        while not self._going.wait(_POLL_S):
            self.check()
        self.check()

    def check(self) -> None:
        """Raise StoppedError where a command stopped the run."""
        if self.stop.is_set():
            raise StoppedError
