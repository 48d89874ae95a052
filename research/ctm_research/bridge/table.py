"""The file of rows: one JSON object a line, each written through to the disk when it is there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from predictor.core.errors import HostError, InputError

Key = tuple[str, str, str, int]


class Table:
    """Finished rows of a run, kept at once: a kill loses the running row and nothing else.

    Args:
        path: of the file; a line that a kill cut short is dropped.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entries = list(read_entries(path)) if path.exists() else []

    def keys(self) -> set[Key]:
        """Return the keys of the rows that are there, measured or with a reason."""
        return {key_of(entry) for entry in self.entries if "network" in entry}

    @property
    def timed_s(self) -> float:
        """Timed seconds of all rows so far."""
        return sum(float(entry.get("timed_s", 0)) for entry in self.entries)

    def add(self, entry: dict[str, Any]) -> None:
        """Keep an entry.

        Raises:
            HostError: the disk is full, or the file cannot be written.
        """
        line = json.dumps(entry, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("r+b" if self._path.exists() else "x+b") as file:
                file.seek(_whole_bytes(self._path.read_bytes()))
                file.truncate()
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise HostError(
                str(self._path),
                f"the row cannot be kept ({error.strerror})",
                "make room and run again: finished rows are kept",
            ) from error
        self.entries.append(entry)


def _whole_bytes(data: bytes) -> int:
    return data.rfind(b"\n") + 1


def key_of(entry: dict[str, Any]) -> Key:
    """Return the key of a row."""
    return entry["network"], entry["runtime"], entry["precision"], entry["threads"]


def read_entries(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of a file.

    Raises:
        InputError: it cannot be read, or a line before the last is no entry.
    """
    try:
        data = path.read_bytes()
        for number, line in enumerate(data[: _whole_bytes(data)].splitlines(), 1):
            yield _entry(line, f"{path}, line {number}")
    except OSError as error:
        raise InputError(str(path), f"it cannot be read ({error.strerror})", "measure") from error


def _entry(line: bytes, place: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
        if "network" in entry:
            key_of(entry)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(place, f"it is no row ({error!r})", "move the file away") from error
    return dict(entry)
