"""The two streams of a command: results on stdout, messages on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TextIO

from predictor.core.errors import HostError


class Console:
    """Writes a command's results and messages.

    A reader that went away (``ctm ... | head``) is no error: the rest is dropped in silence and
    the exit code stays that of the work.
    """

    def __init__(self) -> None:
        self.quiet = False
        for stream in (sys.stdout, sys.stderr):
            # A terminal of a narrow encoding shows a dash as \\u2014 and ends in no traceback.
            getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")

    def result(self, text: str) -> None:
        """Write a line or a table to stdout.

        Raises:
            HostError: stdout cannot be written (closed, a full disk).
        """
        _write(text)

    def document(self, data: Mapping[str, object], indent: int | None = None) -> None:
        """Write one JSON document to stdout; a NaN in it is a defect and raises ValueError."""
        self.result(json.dumps(data, allow_nan=False, indent=indent))

    def note(self, text: str) -> None:
        """Write a message to stderr, unless --quiet."""
        if not self.quiet:
            _say(text)

    def error(self, text: str) -> None:
        """Write a message to stderr, --quiet or not."""
        _say(text)


def _write(text: str) -> None:
    """Write to stdout, which is None where the caller closed it: ``print`` would be silent."""
    stream: TextIO | None = sys.stdout
    if stream is None:
        raise HostError("standard output", "it is closed", "leave it open or name a file for it")
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        _discard(stream)
    except OSError as error:
        _discard(stream)
        raise HostError(
            "standard output", f"it cannot be written ({error.strerror})", "free space and retry"
        ) from error


def _say(text: str) -> None:
    """Write to stderr; where that is closed or full, nothing is written.

    ``print`` takes a stderr of None for stdout, where it would spoil a JSON document.
    """
    stream: TextIO | None = sys.stderr
    if stream is None:
        return
    try:
        print(text, file=stream, flush=True)
    except OSError:
        _discard(stream)


def _discard(stream: TextIO) -> None:
    """Send buffered and further output nowhere: the flush at exit would fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    # The descriptor itself: the interpreter keeps flushing the old stream object at exit.
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
