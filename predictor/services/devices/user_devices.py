"""The devices that the user describes: stored, imported from files and exported to them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from predictor.core.files import write_text
from predictor.core.records import Device
from predictor.devices import schema
from predictor.devices.configurations import with_implied
from predictor.devices.fields import MAX_ID
from predictor.devices.inference import stated_part, with_inferred
from predictor.store import devices as device_records
from predictor.store.database import Database, has_store, open_database

_REPEAT = re.compile(r"-([0-9]+)$")


class UserDevices:
    """The user's devices in an open store.

    Args:
        database: opened on this thread.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> tuple[schema.DeviceFile, ...]:
        """Return all of them, by id."""
        unknown = device_records.unknown_metrics(self._database)
        return tuple(
            schema.DeviceFile(_completed(device), unknown.get(device.id, {}))
            for device in device_records.load_all(self._database)
        )

    def save(self, entry: schema.DeviceFile, replacing: str | None = None) -> schema.DeviceFile:
        """Store a device, checked as a file of it would be, and return it as stored.

        Args:
            entry: the device; one with its id is replaced.
            replacing: the id that it had until now, where that is another.

        Raises:
            InputError: a field is wrong; nothing is stored.
            HostError: the store cannot be written.
        """
        # Through the file format, so that what is stored can always be exported and read again.
        content = schema.device_to_object(with_implied(entry.device), entry.unknown_metrics)
        checked = schema.device_from_object(content, entry.device.id)
        stated = stated_part(checked.device)
        device_records.put(self._database, stated, checked.unknown_metrics, replacing)
        return checked

    def keep(self, device: Device) -> bool:
        """Make a device the user's, unless it is; return whether it was made."""
        if any(entry.device.id == device.id for entry in self.all()):
            return False
        self.save(schema.DeviceFile(device))
        return True

    def delete(self, device_id: str) -> None:
        """Forget a device; predictions and measurements on it stay.

        Raises:
            HostError: the store cannot be written.
        """
        device_records.remove(self._database, device_id)


def stored_devices(path: Path | None = None) -> tuple[Device, ...]:
    """Return the user's devices of the store at ``path``; a store is not made for them.

    Args:
        path: the store's file; None for that of CTM_STORE, else the one in the user's folder.

    Raises:
        InputError: the file is not a store, or a newer program's.
        HostError: the store cannot be read.
    """
    if not has_store(path):
        return ()
    with closing(open_database(path)) as database:
        return tuple(map(_completed, device_records.load_all(database)))


def _completed(device: Device) -> Device:
    """Return a stored device with what its names imply, and the configurations of these facts."""
    return with_implied(with_inferred(device))


def user_devices_of(path: str | Path | None) -> Callable[[], Sequence[Device]]:
    """Return a reader of the user's devices, called on first use; see ``stored_devices``."""
    return lambda: stored_devices(Path(path) if path else None)


def import_device(path: str | os.PathLike[str], used_ids: Container[str]) -> schema.DeviceFile:
    """Read a device file, ours or NeuSight's, under an unused id.

    Args:
        path: the file.
        used_ids: of the existing devices.

    Raises:
        InputError: the file is damaged or a field of it is wrong.
    """
    entry = schema.read_device(path)
    return replace(entry, device=replace(entry.device, id=unused_id(entry.device.id, used_ids)))


def export_device(entry: schema.DeviceFile, path: str | os.PathLike[str]) -> None:
    """Write a device's file; an existing one is replaced as a whole or not at all.

    Raises:
        HostError: the file cannot be written.
    """
    content = schema.device_to_json(entry.device, entry.unknown_metrics)
    write_text(path, content, "the device file")


def copy_of(entry: schema.DeviceFile, used_ids: Container[str]) -> schema.DeviceFile:
    """Return a duplicate of a device under an id of its own, its name marked as a copy."""
    device = entry.device
    return replace(
        entry,
        device=replace(
            device,
            # Cut so that "-copy" and a number still fit into the longest id.
            id=unused_id(f"{device.id[: MAX_ID - 10].rstrip('-_.')}-copy", used_ids),
            name=f"{device.name[:100]} (copy)",
        ),
    )


def unused_id(wanted: str, used_ids: Container[str]) -> str:
    """Return ``wanted``, or with the first number behind it that no device has: ``board-2``."""
    if wanted not in used_ids:
        return wanted
    # After board-2 comes board-3, not board-2-2.
    stem = _REPEAT.sub("", wanted)
    number = 2
    while (candidate := f"{stem[: MAX_ID - 8].rstrip('-_.')}-{number}") in used_ids:
        number += 1
    return candidate


def with_unused_ids(devices: Iterable[Device], used_ids: Iterable[str]) -> Iterator[Device]:
    """Yield ``devices``; one whose id is in use, also by one before it, gets another id."""
    used = set(used_ids)
    for device in devices:
        identity = unused_id(device.id, used)
        used.add(identity)
        yield device if identity == device.id else replace(device, id=identity)
