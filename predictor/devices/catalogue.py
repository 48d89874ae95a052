"""The shipped devices: one JSON file each under ``resources/devices``, named after its id."""

from __future__ import annotations

import os
from pathlib import Path

from predictor.core.errors import InputError
from predictor.core.resources import resources_dir
from predictor.devices.schema import DeviceFile, read_device


def devices_dir() -> Path:
    """Return the folder of the shipped device files."""
    return resources_dir() / "devices"


def load_device_files(folder: Path | None = None) -> tuple[DeviceFile, ...]:
    """Read every device file of a folder, sorted by id.

    Args:
        folder: where the ``*.json`` files are; the shipped devices by default.

    Raises:
        InputError: when the folder cannot be read, a file is wrong, or its name is not its id.
    """
    folder = folder or devices_dir()
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]  # noqa: PTH208
    except OSError as error:
        raise InputError(
            str(folder), f"cannot be read ({error.strerror})", "install the program again"
        ) from error
    # Without the suffix, so that "rpi3b" stands before "rpi3b-plus".
    names.sort(key=lambda name: name.removesuffix(".json"))
    return tuple(_read_named(folder, name) for name in names)


def _read_named(folder: Path, name: str) -> DeviceFile:
    path = os.path.join(folder, name)  # noqa: PTH118
    entry = read_device(path)
    if name != f"{entry.device.id}.json":
        raise InputError(
            path, f'describes the device "{entry.device.id}"', "name the file after its device"
        )
    return entry
