"""Targets from the options of a user: a runtime, a precision, a number of threads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from predictor.core.errors import InputError
from predictor.core.records import Configuration, Device, Precision, Target
from predictor.core.runtimes import RUNTIMES, usual_name
from predictor.cost.capability import check_supported
from predictor.devices.default_configurations import usual_configuration
from predictor.services.devices.catalogue import Catalogue

_THREADS: Final = re.compile(r"t(\d{1,4})")


def resolve_targets(
    devices: Sequence[Device],
    runtime: str | None = None,
    precision: Precision | None = None,
    threads: int | None = None,
) -> tuple[Target, ...]:
    """Return one target a device, None standing for what is usual of it (``usual_configuration``).

    The problem of the prediction may be that the device does not support the configuration.
    """
    return tuple(
        Target(device, _configuration(device, runtime, precision, threads)) for device in devices
    )


def named_target(
    name: str,
    catalogue: Catalogue,
    runtime: str | None = None,
    precision: Precision | None = None,
    threads: int | None = None,
) -> Target:
    """Return the target that DEVICE/RUNTIME/PRECISION/tTHREADS names, each part but DEVICE free.

    Args:
        name: the text.
        catalogue: of devices.
        runtime: where the text has none; None for the usual one.
        precision: the same.
        threads: the same.

    Raises:
        InputError: no device or several have the name.
    """
    head, _, last = name.rpartition("/")
    if head and (counted := _THREADS.fullmatch(last)):
        threads, name = int(counted[1]), head
    head, _, last = name.rpartition("/")
    if head and last in list(Precision):
        precision, name = Precision(last), head
    head, _, last = name.rpartition("/")
    if head and last in RUNTIMES:
        runtime, name = usual_name(last), head
    (target,) = resolve_targets([catalogue.find(name)], runtime, precision, threads)
    return target


def distinct(targets: Iterable[Target]) -> tuple[Target, ...]:
    """Return targets without repeats: devices asked for in one configuration may be one."""
    return tuple({target.run_id: target for target in targets}.values())


def supports(device: Device, configuration: Configuration) -> bool:
    """Return whether a device can run a configuration, one that it lists or another."""
    try:
        check_supported(device, configuration)
    except InputError:
        return False
    return True


def _configuration(
    device: Device, runtime: str | None, precision: Precision | None, threads: int | None
) -> Configuration:
    usual = usual_configuration(device, runtime, precision)
    return usual if threads is None else replace(usual, threads=threads)
