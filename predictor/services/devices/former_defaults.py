"""The configurations that devices ran by default before the table of what owners deploy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from predictor.core.records import Configuration, Precision
from predictor.core.resources import resources_dir

DEFAULTS_VERSION: Final = 1
"""Of the defaults that this version has; sessions of versions without one have the former."""


@cache
def former_defaults() -> Mapping[str, Configuration]:
    """Return the former default of each shipped device that has another one now, by its id."""
    content = json.loads((resources_dir() / "former_defaults.json").read_bytes())
    return MappingProxyType(
        {
            device_id: _configuration(text)
            for text, device_ids in content["defaults"].items()
            for device_id in device_ids
        }
    )


def _configuration(text: str) -> Configuration:
    runtime, precision, threads = text.split("/")
    return Configuration(runtime, Precision(precision), int(threads))
