"""The progress of long work on the standard error, and durations in words."""

from __future__ import annotations

import sys
import time

from predictor.cli.console import Console
from predictor.core.progress import Progress, ProgressCallback
from predictor.core.text import shortened

_STEPS = 10  # lines where the terminal cannot rewrite one
_LINE = 100


def progress_on(console: Console) -> ProgressCallback:
    """Return a callback that shows progress on stderr: one line that changes, or a line a tenth.

    The line that changes goes when everything is done.
    """
    last_step = -1  # the tenth that was last written
    rewritable = sys.stderr.isatty() and not console.quiet
    start_s = time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal last_step, start_s
        if not progress.done:
            start_s = time.monotonic()
        left = _time_left(progress, time.monotonic() - start_s)
        text = f"{progress.done} of {progress.total}: {shortened(progress.message, 60)}{left}"
        if rewritable:
            line = text if progress.done < progress.total else ""
            # Padded, so that a short line covers the whole of a longer one before it.
            sys.stderr.write(f"\r{line:{_LINE}}\r")
            sys.stderr.flush()
        elif (step := progress.done * _STEPS // progress.total) != last_step:
            last_step = step
            console.note(text)

    return report


def _time_left(progress: Progress, elapsed_s: float) -> str:
    """Return the time of the rest at the pace so far, in words; nothing in the first second."""
    if not progress.done or elapsed_s < 1:
        return ""
    rest_s = elapsed_s / progress.done * (progress.total - progress.done)
    return f" (about {duration(rest_s)} left)"


def duration(seconds: float) -> str:
    """Return a duration in words: ``1 min 20 s``."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
