"""The clocks at which a device runs: its default ones, its modes, and what a request asks for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.metrics import Family
from predictor.core.records import Device, OperatingPoint
from predictor.core.runtimes import CPUS
from predictor.core.text import printable
from predictor.devices.peaks import highest_clock_mhz
from predictor.presentation.wording import number

DOMAINS: Final[Mapping[str, str]] = {"cpu": "CPU", "gpu": "GPU", "mem": "memory"}
"""Clocks by their names in a request, with their names for people."""

_FIELDS: Final = {"cpu": "cpu_mhz", "gpu": "gpu_mhz", "mem": "memory_mhz"}
_GPUS: Final = frozenset({Family.GPU, Family.MOBILE_GPU})
_FIXED: Final = re.compile(r"GPU [\d.]+ MHz")
_CLOCK_RANGE: Final = 10  # the default clock over the lowest, where no lower one is stated
_ROUNDING: Final = 1.001  # of stated clocks
_DATA_SHEET: Final = 1.01  # of a mode's clock over the default one


@dataclass(frozen=True, slots=True)
class Clocks:
    """Clocks in MHz, and the cores that are on; None where the device does not state one."""

    cpu: float | None = None
    gpu: float | None = None
    mem: float | None = None
    cores: int | None = None
    gpu_cores: int | None = None

    @property
    def stated(self) -> dict[str, float]:
        """Clocks that there are, by domain."""
        values = {name: getattr(self, name) for name in DOMAINS}
        return {name: value for name, value in values.items() if value is not None}

    def text(self) -> str:
        """Write the clocks: ``GPU 612 MHz, memory 1600 MHz``."""
        parts = [f"{DOMAINS[name]} {number(value, 5)} MHz" for name, value in self.stated.items()]
        return ", ".join(parts)


def is_clocked(device: Device) -> bool:
    """Return whether a device has a clock that a prediction can follow."""
    return clock_domain(device) in default_clocks(device).stated


def clock_domain(device: Device) -> str:
    """Return the domain of a device's own clock; empty for accelerators."""
    if device.family in CPUS:
        return "cpu"
    return "gpu" if device.family in _GPUS else ""


def default_clocks(device: Device) -> Clocks:
    """Return the clocks of a device's facts; those of its host and memory from its modes.

    Where several modes state one, the highest counts: predictions are of a device that is not
    throttled.
    """
    points = device.operating_points
    highest: dict[str, Any] = {
        name: max((v for p in points if (v := getattr(p, field)) is not None), default=None)
        for name, field in _FIELDS.items()
    }
    domain = clock_domain(device)
    if domain:
        clusters = [cluster.clock_mhz for cluster in device.clusters]
        fact = highest_clock_mhz(device)
        highest[domain] = max(clusters, default=fact) or highest[domain]
    cores = device.metric("core_count")
    return Clocks(
        **highest,
        cores=device.core_count or max((p.cores for p in points if p.cores), default=None),
        gpu_cores=round(cores) if cores and domain == "gpu" else None,
    )


def clock_ranges(device: Device) -> dict[str, tuple[float, float]]:
    """Return the lowest and the highest clock in MHz of each domain of a device.

    From the lowest that a mode states, at most a tenth of the default, to the highest stated.
    """
    return {
        name: (
            min([value / _CLOCK_RANGE, *(stated := stated_clocks(device, name))]),
            max([value, *stated]),
        )
        for name, value in default_clocks(device).stated.items()
    }


def stated_clocks(device: Device, domain: str) -> list[float]:
    """Return the clocks in MHz that the operating points of a device state of a domain."""
    values = [getattr(point, _FIELDS[domain]) for point in device.operating_points]
    return [value for value in values if value is not None]


def clocks_of(device: Device, point: OperatingPoint) -> Clocks:
    """Return the clocks of a mode; what it leaves as it is stays the default."""
    default = default_clocks(device)
    values: dict[str, Any] = {
        name: value
        for name, field in (*_FIELDS.items(), ("cores", "cores"), ("gpu_cores", "gpu_cores"))
        if (value := getattr(point, field)) is not None
        # Data sheets round: 1100 MHz of a chip whose modes say 1109.25 is the same clock.
        and not 1 < value / (getattr(default, name) or math.inf) < _DATA_SHEET
    }
    return replace(default, **values)


def named_mode(device: Device, name: str) -> OperatingPoint:
    """Return a device's mode of a name, in any case of letters.

    Raises:
        InputError: it has none of this name.
    """
    for point in device.operating_points:
        if point.name.casefold() == name.strip().casefold():
            return point
    modes = power_modes(device)
    fixed_clocks = len(device.operating_points) - len(modes)
    names = ["; ".join(printable(point.name) for point in modes)] if modes else []
    names += [f"{fixed_clocks} fixed clocks (ctm devices show {device.id})"] if fixed_clocks else []
    raise InputError(
        f"--mode {printable(name)}",
        f"{device.id} has no mode of this name",
        f"there is {', and '.join(names)}" if names else "it states no modes, give --clock",
    )


def power_modes(device: Device) -> list[OperatingPoint]:
    """Return the modes that have a name of their own; the others are fixed clocks, named so."""
    return [p for p in device.operating_points if not _FIXED.match(p.name)]


def parsed_clocks(text: str) -> dict[str, float]:
    """Return the clocks of a request such as ``gpu=612,cpu=1190,mem=1600``, by domain.

    Raises:
        InputError: it is not of this form.
    """
    clocks: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        try:
            mhz = float(value)
        except ValueError:
            mhz = 0.0
        if name not in DOMAINS or name in clocks or not 0 < mhz < float("inf"):
            raise InputError(
                f"--clock {printable(text)}",
                f"{printable(part.strip()) or 'an empty part'} is no clock in MHz, given once",
                "write gpu=612,cpu=1190,mem=1600, or some of them",
            )
        clocks[name] = mhz
    return clocks


def requested_clocks(device: Device, text: str, mode: str) -> Clocks:
    """Return the clocks that a request asks of a device.

    Args:
        device: the device.
        text: of ``--clock``, empty for none.
        mode: its name, empty for none; single clocks replace those of the mode.

    Raises:
        InputError: the device has no such mode or clock, or it is out of its range.
    """
    clocks = clocks_of(device, named_mode(device, mode)) if mode else default_clocks(device)
    if not is_clocked(device):
        raise InputError(
            device.id,
            "it states no clock that its latency could follow",
            "choose a CPU or GPU with a clock",
        )
    ranges, requested = clock_ranges(device), parsed_clocks(text) if text else {}
    for name, mhz in requested.items():
        low, high = ranges.get(name, (0.0, 0.0))
        if not low / _ROUNDING <= mhz <= high * _ROUNDING:
            available = ", ".join(
                f"{domain}={number(a, 5)} to {number(b, 5)}" for domain, (a, b) in ranges.items()
            )
            reason = "is out of range" if name in ranges else "is no clock that is known"
            raise InputError(
                f"--clock {name}={number(mhz, 5)}",
                f"it {reason} of {device.id}",
                f"there is {available} MHz",
            )
    return replace(clocks, **dict[str, Any](requested))
