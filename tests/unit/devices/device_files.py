"""Reads devices from the bytes of a file."""

from __future__ import annotations

from predictor.devices.schema import DeviceFile, device_from_object
from predictor.devices.strict_json import parse_object


def parse_device(data: bytes, subject: str) -> DeviceFile:
    return device_from_object(parse_object(data, subject), subject)
