"""The process that reads model files, started before the modules that use it are imported."""

from __future__ import annotations

import atexit

from predictor.core.libraries import settle_libraries
from predictor.services.models.reader import end_ahead, start_ahead

_started: list[bool] = []


def start() -> None:
    """Start it once; the first model that is loaded takes it, and else it ends with this one."""
    if not _started:
        _started.append(True)
        settle_libraries()
        atexit.register(end_ahead)
        start_ahead()
