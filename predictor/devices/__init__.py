"""Devices: their file form, the shipped catalogue, and the detection of this machine.

The module can be called: ``predictor.devices()`` is the function of the Python API, which has the
name of this room.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Room(ModuleType):
    """This module, as the function of the Python API too."""

    def __call__(self, words: str = "") -> Any:
        """Return the shipped devices; see ``predictor.api.targets.devices``."""
        return import_module("predictor.api.targets").devices(words)


sys.modules[__name__].__class__ = _Room
