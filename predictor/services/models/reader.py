"""The process that reads model files: its command line, and one started ahead of its use.

It imports onnx, which takes as long as the rest of a command, so a command that will read a model
starts it first. This module imports next to nothing for the same reason.
"""

from __future__ import annotations

import math
import subprocess

from predictor.core.child_start import child_command, started

MAX_SECONDS = 60.0
"""That reading one file may take."""
MAX_BYTES = 4 * 2**30
"""Of the process, while it reads one."""

_ahead: list[subprocess.Popen[bytes]] = []


def reader_command(memory_bytes: int = MAX_BYTES, seconds: float = MAX_SECONDS) -> list[str]:
    """Return the command line of the process, also in a frozen program."""
    numbers = [str(memory_bytes), str(math.ceil(seconds))]
    return child_command("--ingestion-worker", *numbers)


def start_ahead() -> None:
    """Start the process; :func:`take_ahead` hands it on."""
    try:
        _ahead.append(started(reader_command()))
    except OSError:
        return  # the command that needs it will say so


def take_ahead() -> subprocess.Popen[bytes] | None:
    """Return the started process, to the first caller; None without one."""
    return _ahead.pop() if _ahead else None


def end_ahead() -> None:
    """End the started process where nothing took it over."""
    process = take_ahead()
    if process is not None:
        with process:  # closes its pipes and waits for its end
            process.kill()
