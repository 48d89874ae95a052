"""Progress and cancellation, shared by every long operation."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from predictor.core.errors import CancelledError


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of an operation: ``done`` of ``total`` steps, and the current one in a few words."""

    done: int
    total: int
    message: str


ProgressCallback = Callable[[Progress], None]


def no_progress(_: Progress) -> None:
    """Ignore the progress."""


class CancelToken:
    """Set by one thread to ask the operation in another to stop."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the operation to stop; it does so at its next check."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether a stop was requested."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise CancelledError when a stop was requested."""
        if self._event.is_set():
            raise CancelledError
