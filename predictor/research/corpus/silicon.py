"""Silicon of the devices of the catalogue: one of them held out holds out all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from predictor.devices.architectures import silicon
from predictor.devices.catalogue import load_device_files


def silicon_key(device_id: str) -> str:
    """Return the silicon of a device of the catalogue; of any other its id."""
    return _of_catalogue().get(device_id, device_id)


@cache
def _of_catalogue() -> Mapping[str, str]:
    return {entry.device.id: silicon(entry.device) for entry in load_device_files()}
