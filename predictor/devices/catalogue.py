"""The shipped devices: one JSON file each under ``resources/devices``, named after its id."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from predictor.core import plugins
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


class ShippedDevices(Mapping[str, Device]):
    """The shipped devices by id, sorted; the file of a device is read where it is first used.

    The fields of their files are not checked again: the checks take more than half of the time
    that ``load_device_files`` needs, and the tests hold the shipped files to them. A look-up
    raises an InputError where the file is damaged.

    Args:
        folder: of the files, in place of the shipped ones.

    Raises:
        InputError: when the folder cannot be read.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = os.fspath(folder or devices_dir())
        self._read = _read_once if folder is None else _read_trusted
        self._devices: dict[str, Device | None] = dict.fromkeys(_names(self._folder))

    def __getitem__(self, device_id: str) -> Device:
        device = self._devices[device_id]
        if device is None:
            device = self._devices[device_id] = self._read(self._folder, device_id)
        return device

    def __contains__(self, device_id: object) -> bool:
        return device_id in self._devices

    def __iter__(self) -> Iterator[str]:
        return iter(self._devices)

    def __len__(self) -> int:
        return len(self._devices)


def shipped_devices(folder: Path | None = None) -> tuple[Device, ...]:
    """Return every shipped device, sorted by id.

    Args:
        folder: of the files, in place of the shipped ones.

    Raises:
        InputError: when the folder cannot be read or a file is damaged.
    """
    return tuple(ShippedDevices(folder).values())


@lru_cache(maxsize=1024)
def device_name(device_id: str) -> str:
    """Return the name of a shipped device, of another one the id itself."""
    try:
        return _read_once(os.fspath(devices_dir()), device_id).name
    except InputError:
        return device_id


@lru_cache(maxsize=1)
def plugin_devices() -> tuple[Device, ...]:
    """Return the devices of plug-ins: the files in the folders of their packages.

    A package with a file that is wrong is left out, with a warning. Of two devices of one id the
    first counts, and a shipped one before both.
    """
    by_id: dict[str, Device] = {}
    for name, package in plugins.plugins(plugins.DEVICES).by_name.items():
        try:
            for entry in load_device_files(Path(next(iter(package.__path__)))):
                by_id.setdefault(entry.device.id, entry.device)
        except (AttributeError, InputError) as error:
            plugins.problem_of(plugins.DEVICES, name, error)
    shipped = set(_names(os.fspath(devices_dir())))
    return tuple(device for key, device in by_id.items() if key not in shipped)


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


@lru_cache(maxsize=4096)
def _read_once(folder: str, name: str) -> Device:
    """Return a shipped device: the same for every catalogue, so that its targets are known again.

    Nothing writes the shipped files while the program runs; a damaged one is read again.
    """
    return _read_trusted(folder, name)


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
