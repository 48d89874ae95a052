"""Devices as sources state them, and what they are in the catalogue.

The tables are data to be reviewed: ``aliases/<folder>.csv`` with the columns device, unit, runtime,
device_id and note, and any file whose name begins so. ``*`` stands for any unit or
any runtime; the row that names more is taken. A row without an id says why its device is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from ctm_research.sources.tables import Row, read_rows
from predictor.core.errors import InputError
from predictor.devices.catalogue import devices_dir

FOLDER: Final = Path(__file__).parent / "aliases"
_COLUMNS: Final = ("device", "unit", "runtime", "device_id", "note")
_ACTION: Final = "correct the table of aliases"
_ANY: Final = "*"


@dataclass(frozen=True, slots=True)
class Alias:
    """What a stated device is.

    Attributes:
        device_id: in the catalogue; empty where it is none of it.
        note: why its rows are left out, or how the device is known.
    """

    device_id: str = ""
    note: str = ""

    @property
    def left_out(self) -> str:
        """Why rows of the device are left out, else empty."""
        return "" if self.device_id else self.note


UNKNOWN: Final = Alias()
"""Of a device that no table names: its rows count, but nothing is known of it."""


class Aliases:
    """The aliases of one source."""

    def __init__(self, rows: Mapping[tuple[str, str, str], Alias]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, device: str, unit: str = _ANY, runtime: str = _ANY) -> Alias:
        """Return the alias of a device as stated, :data:`UNKNOWN` where no row is about it.

        ``soc`` is a unit that the source does not tell apart: a row for any unit does not tell
        either, so that only a row for ``soc`` counts.
        """
        units = (unit,) if unit == "soc" else (unit, _ANY)
        for key in ((device, u, r) for u in units for r in (runtime, _ANY)):
            if key in self._rows:
                return self._rows[key]
        return UNKNOWN


def read_aliases(source: str, folder: Path = FOLDER) -> Aliases:
    """Return the aliases of a source; none where it has no table.

    Args:
        source: its name.
        folder: of the tables.

    Raises:
        InputError: a table cannot be read, has other columns, states a device twice, or names one
            that the catalogue lacks.
    """
    rows: dict[tuple[str, str, str], Alias] = {}
    for path in alias_files(source, folder):
        for row in read_rows(path, _COLUMNS, only=True, action=_ACTION):
            key = (row["device"], row["unit"], row["runtime"])
            if key in rows:
                raise _refused(row, f"{', '.join(key)} stands in it twice")
            rows[key] = _alias(row)
    return Aliases(rows)


def alias_files(source: str = "", folder: Path = FOLDER) -> list[Path]:
    """Return the tables of a source, of all sources where none is named."""
    paths = sorted(folder.glob("*.csv"))
    return [path for path in paths if path.stem.startswith(source)]


def _alias(row: Row) -> Alias:
    for name in ("device", "unit", "runtime"):
        if not row[name]:
            raise _refused(row, f"{name} is empty")
    if not row["device_id"] and not row["note"]:
        raise _refused(row, "it has neither a device nor a reason")
    if row["device_id"] and row["device_id"] not in _catalogue():
        raise _refused(row, f"the catalogue lacks the device {row['device_id']!r}")
    return Alias(row["device_id"], row["note"])


@cache
def _catalogue() -> frozenset[str]:
    """Return the ids of the shipped devices, which are the names of their files."""
    return frozenset(path.stem for path in devices_dir().glob("*.json"))


def _refused(row: Row, reason: str) -> InputError:
    return InputError(f"{row.path}, line {row.line}", reason, _ACTION)
