"""The shipped devices: one JSON file each under ``resources/devices``, named after its id."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.metrics import METRICS, Family
from predictor.core.records import Cluster, Configuration, Device, MeasuredRate, OperatingPoint
from predictor.core.resources import resources_dir
from predictor.devices.schema import USUAL_CONFIGURATIONS, DeviceFile, read_device

THIS_ID: Final = "this"  # as the user types it
THIS_MACHINE_ID: Final = "this-machine"  # of its device: in the window and on the command line
# Fields of clusters, measured rates and operating points; the others are numbers.
_TYPES: Final[dict[str, Callable[[Any], Any]]] = {
    "name": str,
    "source": str,
    "architecture": str,
    "cores": int,
    "gpu_cores": int,
    "instruction_sets": tuple,
}
# By name, so that an unknown metric or family raises, and every device has the same strings.
_METRICS: Final = {metric.name: metric.name for metric in METRICS}
_FAMILIES: Final = {family.value: family for family in Family}
# Raised where a file does not have the form of a shipped one.
_UNUSUAL: Final = (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError)


def devices_dir() -> Path:
    """Return the folder of the shipped device files."""
    return resources_dir() / "devices"


def shipped_devices(folder: Path | None = None) -> tuple[Device, ...]:
    """Return every shipped device, sorted by id; the fields of their files are not checked again.

    Each start waits for this, and the checks take more than half of the time that
    ``load_device_files`` needs. The tests hold the shipped files to them.

    Args:
        folder: of the files, in place of the shipped ones.

    Raises:
        InputError: when the folder cannot be read or a file is damaged.
    """
    place = os.fspath(folder or devices_dir())
    return tuple([_read_trusted(place, name) for name in _names(place)])


@lru_cache(maxsize=1024)
def device_name(device_id: str) -> str:
    """Return the name of a shipped device, of another one the id itself."""
    try:
        return _read_trusted(os.fspath(devices_dir()), device_id).name
    except InputError:
        return device_id


def load_device_files(folder: Path | None = None) -> tuple[DeviceFile, ...]:
    """Read and check every device file of a folder, sorted by id.

    Args:
        folder: where the ``*.json`` files are; the shipped devices by default.

    Raises:
        InputError: when the folder cannot be read, a file is wrong, or its name is not its id.
    """
    place = os.fspath(folder or devices_dir())
    return tuple(_read_checked(place, name) for name in _names(place))


def _names(folder: str) -> list[str]:
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".json")]  # noqa: PTH208
    except OSError as error:
        raise InputError(
            folder, f"cannot be read ({error.strerror})", "install the program again"
        ) from error
    # Without the suffix, so that "rpi3b" stands before "rpi3b-plus".
    return sorted(name.removesuffix(".json") for name in names)


def _read_checked(folder: str, name: str) -> DeviceFile:
    path = os.path.join(folder, f"{name}.json")  # noqa: PTH118
    entry = read_device(path, as_stated=True)
    if name != entry.device.id:
        raise InputError(
            path, f'describes the device "{entry.device.id}"', "name the file after its device"
        )
    return entry


def _read_trusted(folder: str, name: str) -> Device:
    try:
        with open(f"{folder}/{name}.json", "rb", buffering=0) as file:  # noqa: PTH123
            device = _trusted(json.loads(file.read().decode()))
        if device.id == name:
            return device
    except _UNUSUAL:
        pass
    # The checks accept rare fields, and name the one that is wrong.
    return _read_checked(folder, name).device


def _trusted(content: dict[str, Any]) -> Device:
    """Return the device of a shipped file's content."""
    optional = content.get
    measured = optional("measured", {})
    return Device(
        id=content["id"],
        name=content["name"],
        vendor=content["vendor"],
        family=_FAMILIES[content["family"]],
        metrics={_METRICS[name]: float(value) for name, value in content["metrics"].items()},
        sources=optional("sources", {}),
        configurations=tuple(
            [_configuration(configuration) for configuration in content["configurations"]]
        ),
        clusters=tuple([Cluster(**_typed(cluster)) for cluster in optional("clusters", ())]),
        system=optional("system", ""),
        notes=optional("notes", ""),
        chip=optional("chip", ""),
        architecture=optional("architecture", ""),
        host_architecture=optional("host_architecture", ""),
        instruction_sets=tuple(optional("instruction_sets", ())),
        measured={name: MeasuredRate(**_typed(rate)) for name, rate in measured.items()},
        operating_points=tuple(
            [OperatingPoint(**_typed(point)) for point in optional("operating_points", ())]
        ),
    )


def _configuration(fields: dict[str, Any]) -> Configuration:
    usual = USUAL_CONFIGURATIONS[fields["runtime"], fields["precision"]]
    if len(fields) == 2:
        return usual
    return Configuration(usual.runtime, usual.precision, int(fields["threads"]))


def _typed(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: _TYPES.get(name, float)(value) for name, value in fields.items()}
