"""Boxes: the units of a product or computer together, one JSON file each under ``resources/boxes``.

A box names devices of the catalogue; memory, bandwidth and cores are those of its devices, so that
no fact stands twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from predictor.core.errors import InputError
from predictor.core.files import read_bytes
from predictor.core.resources import resources_dir
from predictor.devices.strict_json import parse_object

SCHEMA: Final = "ctm-box/1"
MAX_SERVERS: Final = 64
"""Units of one kind in a box."""
_UNIT: Final = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_MAX_BYTES: Final = 100_000
_KEYS: Final = (
    "schema",
    "id",
    "name",
    "units",
    "mode",
    "power_w",
    "host_cores",
    "price",
    "sources",
)
_UNIT_KEYS: Final = ("device", "count")
_FIX: Final = "correct the file; docs/loads.md has an example"


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """A unit by its device's id, and how many of it there are."""

    device: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxFile:
    """A box as its file states it.

    Attributes:
        id: short lower-case slug.
        name: for people.
        units: by their names in a load, such as "gpu".
        mode: power mode that its devices run in; empty for their usual clocks.
        power_w: budget of the whole box in watts; None where nothing is stated.
        host_cores: cores of the host; None for those of its processor.
        price: in whatever currency the loads state theirs; None where none is stated.
        sources: of these facts, by field.
    """

    id: str
    name: str
    units: Mapping[str, UnitEntry]
    mode: str = ""
    power_w: float | None = None
    host_cores: int | None = None
    price: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict)


def boxes_dir() -> Path:
    """Return the folder of the shipped boxes."""
    return resources_dir() / "boxes"


def shipped_boxes() -> tuple[BoxFile, ...]:
    """Return the boxes that ship, sorted by id.

    Raises:
        InputError: a file is damaged.
    """
    return tuple(read_box(path) for path in sorted(boxes_dir().glob("*.json")))


def read_box(path: str | os.PathLike[str]) -> BoxFile:
    """Read a box from its file.

    Raises:
        InputError: it cannot be read, or a field is wrong; with its name.
    """
    subject = os.fspath(path)
    content = parse_object(
        read_bytes(path, _MAX_BYTES, "choose a box file that exists"), subject, "box file"
    )
    return _Fields(subject, content).box()


class _Fields:
    """The fields of a box file, each checked."""

    def __init__(self, subject: str, content: Mapping[str, object]) -> None:
        self._subject, self._content = subject, content

    def box(self) -> BoxFile:
        """Return the box."""
        self._only(self._content, _KEYS, "")
        if self._content.get("schema") != SCHEMA:
            raise self._wrong("schema", f'it is not "{SCHEMA}"')
        cores = self._number("host_cores")
        return BoxFile(
            id=self._text("id", _ID),
            name=self._text("name"),
            units=self._units(),
            mode=self._text("mode") if self._content.get("mode", "") != "" else "",
            power_w=self._number("power_w"),
            host_cores=None if cores is None else round(cores),
            price=self._number("price"),
            sources=self._sources(),
        )

    def _units(self) -> dict[str, UnitEntry]:
        units = self._content.get("units")
        if not isinstance(units, dict) or not units:
            raise self._wrong("units", "it is not an object of units by name")
        return {name: self._unit(name, entry) for name, entry in units.items()}

    def _unit(self, name: str, entry: object) -> UnitEntry:
        if not _UNIT.fullmatch(name):
            raise self._wrong(f"units.{name}", "a unit has a short name in lower case")
        if not isinstance(entry, dict):
            raise self._wrong(f"units.{name}", "it is not an object with a device")
        self._only(entry, _UNIT_KEYS, f"units.{name}.")
        device, count = entry.get("device"), entry.get("count", 1)
        if not isinstance(device, str) or not device:
            raise self._wrong(f"units.{name}.device", "it is not the id of a device")
        if type(count) is not int or not 1 <= count <= MAX_SERVERS:
            raise self._wrong(f"units.{name}.count", f"it is not from 1 to {MAX_SERVERS}")
        return UnitEntry(device, count)

    def _sources(self) -> dict[str, str]:
        sources = self._content.get("sources", {})
        if isinstance(sources, dict) and all(isinstance(s, str) for s in sources.values()):
            return dict(sources)
        raise self._wrong("sources", "it is not an object of texts")

    def _only(self, entry: Mapping[str, object], keys: tuple[str, ...], where: str) -> None:
        for key in entry:
            if key not in keys:
                raise self._wrong(f"{where}{key}", f"no such field; there are {', '.join(keys)}")

    def _text(self, key: str, form: re.Pattern[str] | None = None) -> str:
        value = self._content.get(key)
        if not isinstance(value, str) or not value or (form and not form.fullmatch(value)):
            raise self._wrong(key, "it is not a text" if form is None else "it is no short slug")
        return value

    def _number(self, key: str) -> float | None:
        value = self._content.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
            raise self._wrong(key, "it is not a number over 0")
        return float(value)

    def _wrong(self, key: str, reason: str) -> InputError:
        return InputError(f"{self._subject}, {key}", reason, _FIX)
