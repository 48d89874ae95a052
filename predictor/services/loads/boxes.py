"""The box that a load runs on: a shipped one, a file, devices by name, or a table of the load."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.core.text import printable
from predictor.core.toml_tables import KeyedError, Readers, integer, number, one_text
from predictor.cost.rates.power import rated_watts
from predictor.devices.boxes import MAX_SERVERS, BoxFile, UnitEntry, read_box, shipped_boxes
from predictor.devices.operating import clock_ranges, parsed_clocks, power_modes
from predictor.services.devices.catalogue import Catalogue
from predictor.services.loads.records import Box, Load, Unit

_NONE: Final = "name one with --box ID, or write a table [box] with id or units"
_SHORT: Final = {"mobile_cpu": "cpu", "mobile_gpu": "gpu"}


def all_boxes(catalogue: Catalogue) -> tuple[Box, ...]:
    """Return the boxes that ship.

    Raises:
        InputError: a file is damaged, or names no device of the catalogue.
    """
    return tuple(_of_file(entry, catalogue) for entry in shipped_boxes())


def named_box(text: str, catalogue: Catalogue) -> Box:
    """Return the box of an id or of a file's path.

    Raises:
        InputError: there is none of this id, or the file is wrong.
    """
    if text.casefold().endswith(".json"):
        return _of_file(read_box(text), catalogue)
    boxes = {entry.id: entry for entry in shipped_boxes()}
    if text not in boxes:
        raise InputError(text, "is no box", f"choose one of {', '.join(boxes)}, or a file")
    return _of_file(boxes[text], catalogue)


def box_of_devices(devices: Sequence[Device]) -> Box:
    """Return devices as a box; a unit is called by its family, or by its id where two are alike."""
    families = [_SHORT.get(device.family.value, device.family.value) for device in devices]
    units = {}
    for device, family in zip(devices, families, strict=True):
        name = family if families.count(family) == 1 else device.id
        units[name] = Unit(name, device)
    name = " and ".join(device.name for device in devices)
    return Box(id="+".join(device.id for device in devices), name=name, units=units)


def box_of_load(load: Load, catalogue: Catalogue) -> Box:
    """Return the box of the table ``[box]`` of a load.

    Raises:
        InputError: the table names none, or a fact of it is wrong; with its line.
    """
    if not load.box:
        raise InputError(str(load.file.path), "it names no box", _NONE)
    values = load.file.values(load.box_line, load.box, _BOX)
    sources = [key for key in ("id", "file", "units") if key in values]
    if len(sources) != 1:
        raise load.wrong(load.box_line, "box", "it needs one of id, file and units")
    source = sources[0]
    try:
        box = _of_table(values, load, catalogue)
    except InputError as error:
        where = load.file.line_of(source, load.box_line)
        key = f"{source}: {error.subject}"
        raise KeyedError(load.file.path, where, key, error.reason, error.action) from error
    keys = "mode", "clock", "power_w", "memory_gb", "host_cores", "price"
    facts = {key: values[key] for key in keys if key in values}
    box = replace(box, limit_w=facts.get("power_w"), **facts)
    check_mode(box, lambda reason: load.wrong(load.box_line, "mode", reason))
    check_clock(box, lambda reason: load.wrong(load.box_line, "clock", reason))
    return box


def check_mode(box: Box, error: Any) -> None:
    """Raise ``error(reason)`` where no unit of a box has its mode."""
    if not box.mode or any(box.point(unit) for unit in box.units.values()):
        return
    units = box.units.values()
    modes = dict.fromkeys(point.name for unit in units for point in power_modes(unit.device))
    names = ", ".join(map(printable, modes))
    raise error(f"no unit of {box.id} has a mode {printable(box.mode)}; there is {names or 'none'}")


def check_clock(box: Box, error: Callable[[str], InputError]) -> None:
    """Raise ``error(reason)`` where no unit of a box has one of its clocks in its range."""
    ranges: dict[str, tuple[float, float]] = {}
    for unit in box.units.values():
        ranges = {**clock_ranges(unit.device), **ranges}
    there = [f"{name}={low:.5g} to {high:.5g}" for name, (low, high) in ranges.items()]
    for name, mhz in box.clock.items():
        low, high = ranges.get(name, (math.inf, 0.0))
        if not low <= mhz <= high:
            reason = f"no unit of {box.id} runs at {name}={mhz:g} MHz"
            raise error(f"{reason}; there is {', '.join(there) or 'none'}")


def budget_watts(box: Box) -> float | None:
    """Return the watts of a box: as its load states, of its mode, else its own, of its device."""
    if box.limit_w is not None:
        return box.limit_w
    modes = [point.power_w for unit in box.units.values() if (point := box.point(unit))]
    stated = [watts for watts in modes if watts is not None]
    if stated:
        return max(stated)
    if box.power_w is not None:
        return box.power_w
    rated = [rated_watts(unit.device) for unit in box.units.values()]
    return rated[0] if len(rated) == 1 else None


def box_entry(box: Box) -> dict[str, object]:
    """Return a box as plain values, with the facts that follow from its devices."""
    return {
        "id": box.id,
        "name": box.name,
        "mode": box.mode or None,
        "clock_mhz": dict(box.clock),
        "units": {
            unit.name: {"device": unit.device.id, "count": unit.count}
            for unit in box.units.values()
        },
        "shared_memory_bytes": box.memory_bytes,
        "shared_bandwidth_bytes_per_s": box.bandwidth_bytes_per_s,
        "host_cores": box.cores,
        "power_w": box.power_w,
        "price": box.price,
        "sources": dict(box.sources),
    }


def _of_table(values: Mapping[str, Any], load: Load, catalogue: Catalogue) -> Box:
    if "id" in values:
        return named_box(values["id"], catalogue)
    if "file" in values:
        return _of_file(read_box(load.file.path.parent / values["file"]), catalogue)
    name = values.get("name", Path(load.file.path).stem)
    return Box(id="box", name=name, units=_units_of(values["units"], catalogue))


def _of_file(entry: BoxFile, catalogue: Catalogue) -> Box:
    return Box(
        id=entry.id,
        name=entry.name,
        units=_units_of(entry.units, catalogue),
        mode=entry.mode,
        power_w=entry.power_w,
        host_cores=entry.host_cores,
        price=entry.price,
        sources=entry.sources,
    )


def _units_of(entries: Mapping[str, UnitEntry], catalogue: Catalogue) -> dict[str, Unit]:
    """Return units with their devices."""
    return {
        name: Unit(name, catalogue.find(entry.device), entry.count)
        for name, entry in entries.items()
    }


def _clock(value: object) -> dict[str, float]:
    try:
        return parsed_clocks(one_text(value))
    except InputError as error:
        raise ValueError(value) from error


def _units(value: object) -> dict[str, UnitEntry]:
    if not isinstance(value, dict) or not value:
        raise ValueError
    return {name: _unit(entry) for name, entry in value.items()}


def _unit(value: object) -> UnitEntry:
    if isinstance(value, dict):
        if not value.keys() <= {"device", "count"}:
            raise ValueError
        return UnitEntry(
            one_text(value.get("device")), integer(value.get("count", 1), 1, MAX_SERVERS)
        )
    return UnitEntry(one_text(value))


_BOX: Final[Readers] = {
    "id": (one_text, "the id of a box"),
    "file": (one_text, "the path of a box file"),
    "units": (_units, "a table of units: NAME = DEVICE or NAME = {device = ID, count = N}"),
    "name": (one_text, "a text"),
    "mode": (one_text, "the name of a power mode"),
    "clock": (_clock, "clocks in MHz, as gpu=612,mem=1600"),
    "power_w": (lambda value: number(value, 0.0, 1e6), "a number of watts over 0"),
    "memory_gb": (lambda value: number(value, 0.0, 1e6), "a number over 0"),
    "price": (lambda value: number(value, 0.0, 1e9), "a price over 0"),
    "host_cores": (lambda value: integer(value, 1, 4096), "a whole number from 1"),
}
