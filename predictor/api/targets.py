"""Devices and targets of the Python API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from predictor.api.models import sequence_of
from predictor.api.tables import Table
from predictor.core.records import Device, Precision, Target
from predictor.core.runtimes import usual_name
from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.devices.this_machine import MachineRates, this_machine
from predictor.services.devices.user_devices import user_devices_of
from predictor.services.prediction.defaults import check_names
from predictor.services.prediction.targets import named_target, resolve_targets


@dataclass(frozen=True, slots=True)
class Requested:
    """Parts of a configuration, None for the usual one of the device."""

    runtime: str | None = None
    precision: str | None = None
    threads: int | None = None


class Devices(Table):
    """Devices as a table.

    Attributes:
        devices: the records, one a row.
    """

    def __init__(self, devices: Sequence[Device]) -> None:
        self.devices = tuple(devices)
        super().__init__([_row(device) for device in devices])


def devices(words: str = "") -> Devices:
    """Return the shipped devices.

    Args:
        words: what has to occur in a device's id, name, vendor, family or system; empty for all.
    """
    return Devices(catalogue().search(words))


def _row(device: Device) -> dict[str, object]:
    usual = device.configurations[0]
    return {
        "id": device.id,
        "name": device.name,
        "vendor": device.vendor,
        "family": device.family.value,
        "system": device.system,
        "runtime": usual.runtime,
        "precision": usual.precision.value,
        **{name: device.metric(name) for name in ("fp32_tflops", "dram_bw_gbps", "tdp_w")},
        "memory_bytes": device.memory_bytes,
    }


def catalogue(store: Path | None = None) -> Catalogue:
    """Return the shipped devices, with the user's of a store behind them; nothing is measured."""
    return _catalogue(store)


@cache
def _catalogue(store: Path | None) -> Catalogue:
    return load_catalogue(
        user_devices_of(store), lambda device: this_machine(device, MachineRates(store))
    )


def devices_of(named: Any, store: Path | None) -> list[Device]:
    """Return devices that are named alone or in a sequence; the cross-section where none is.

    Raises:
        InputError: a text names no device, or several.
    """
    if named is None:
        return list(catalogue(store).cross_section)
    matches = [
        device
        for value in sequence_of(named)
        for device in (
            (value,) if isinstance(value, Device) else catalogue(store).match(value).devices
        )
    ]
    return list({device.id: device for device in matches}.values())


def targets_of(named: Any, requested: Requested, store: Path | None) -> tuple[Target, ...]:
    """Return a target a device.

    Args:
        named: devices and targets, alone or in a sequence: records, names as ``--device`` takes
            them, or ``DEVICE/RUNTIME/PRECISION/tTHREADS``; None for the cross-section.
        requested: of the targets whose configuration is not stated.
        store: of the user's devices.

    Raises:
        InputError: a text names no device, a runtime or a precision does not exist.
    """
    values = devices_of(None, store) if named is None else sequence_of(named)
    runtime = None if requested.runtime is None else usual_name(requested.runtime)
    shipped = iter(catalogue(store).by_id.values())
    first = next((value for value in values if isinstance(value, Device)), None) or next(shipped)
    check_names(first, runtime, requested.precision)
    precision = None if requested.precision is None else Precision(requested.precision)
    targets: list[Target] = []
    for value in values:
        if isinstance(value, Target):
            targets.append(value)
        elif isinstance(value, str) and "/" in value:
            targets.append(
                named_target(value, catalogue(store), runtime, precision, requested.threads)
            )
        else:
            chosen = devices_of(value, store)
            targets += resolve_targets(chosen, runtime, precision, requested.threads)
    return tuple({target.id: target for target in targets}.values())
