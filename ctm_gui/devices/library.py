"""The devices of the window: shipped ones, and the user's own as the store has them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui.tasks.store_client import StoreClient, StoreRunner
from ctm_gui.undo import UndoStep
from ctm_gui.widgets.ordering import natural_key
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision
from predictor.devices.schema import DeviceFile
from predictor.presentation.wording import shown
from predictor.services.devices.catalogue import Catalogue
from predictor.services.devices.user_devices import copy_of, export_device, import_device, unused_id

# ``--device this`` and its like mean this machine.
RESERVED_IDS = frozenset({"this"})


@dataclass(frozen=True, slots=True)
class DeviceEntry:
    """One device of the list.

    Attributes:
        key: its identity in this session; its id may change, its key does not.
        file: the device, with the fields of other versions of its file.
        is_user: whether it is the user's; shipped ones cannot be changed.
    """

    key: str
    file: DeviceFile
    is_user: bool

    @property
    def device(self) -> Device:
        """The device itself."""
        return self.file.device


class DeviceLibrary(StoreClient):
    """Shipped and own devices. A change is shown once the store has it.

    ``changed`` is emitted when the entries change; ``catalogue_changed`` gives the Catalogue of
    all; ``made`` the key of a device that the user has just made or brought back; ``renamed`` an
    old and a new id.

    Args:
        shipped: the devices that ship.
        run: runs work with the open store.
        undo_stack: gets a command for each addition and deletion.
        parent: owner.
    """

    changed = Signal()
    catalogue_changed = Signal(object)
    made = Signal(str)
    renamed = Signal(str, str)

    def __init__(
        self,
        shipped: Catalogue,
        run: StoreRunner,
        undo_stack: QUndoStack,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(run, parent)
        self._shipped = shipped
        self._undo_stack = undo_stack
        self._retained: set[str] = set()  # keys
        self._user_devices: dict[str, DeviceEntry] = {}
        self._numbers = itertools.count(1)

    @cached_property
    def _shipped_entries(self) -> tuple[DeviceEntry, ...]:
        # Sorted at their first use: the first frame shows none of them.
        entries = (DeviceEntry(d.id, DeviceFile(d), is_user=False) for d in self._shipped.devices)
        return tuple(sorted(entries, key=_order))

    @property
    def entries(self) -> tuple[DeviceEntry, ...]:
        """The user's devices, then the shipped ones, both by name."""
        return (*sorted(self._user_devices.values(), key=_order), *self._shipped_entries)

    def entry(self, key: str) -> DeviceEntry | None:
        """Return the entry of a key; None where it was deleted."""
        if key in self._user_devices:
            return self._user_devices[key]
        return next((entry for entry in self._shipped_entries if entry.key == key), None)

    def key_of(self, device_id: str) -> str:
        """Return the key of a device; empty where there is none."""
        keys = (entry.key for entry in self.entries if entry.device.id == device_id)
        return next(keys, "")

    def by_id(self) -> dict[str, Device]:
        """Return all devices by id."""
        return {entry.device.id: entry.device for entry in self.entries}

    def used_ids(self, except_key: str = "") -> set[str]:
        """Return the ids that a new device must not have."""
        ids = {entry.device.id for entry in self.entries if entry.key != except_key}
        return ids | RESERVED_IDS

    def load(self) -> None:
        """Read the user's devices from the store; one that is there already is as it is there."""
        self._submit(lambda history: history.devices.all(), self._on_loaded)

    def make(self) -> str:
        """Make a device of the user's of which nothing is known. Returns its key."""
        runs = (Configuration("onnxruntime", Precision.FP32),)
        device = Device(
            id="my-device",
            name="My device",
            vendor="own",
            family=Family.CPU,
            metrics={},
            configurations=runs,
        )
        return self.add(DeviceFile(device))

    def duplicate(self, key: str, file: DeviceFile | None = None) -> None:
        """Make a copy of a device, or of ``file``, its unsaved state in the form."""
        entry = self.entry(key)
        if entry is not None:
            self.add(copy_of(file or entry.file, self.used_ids()))

    def add(self, file: DeviceFile) -> str:
        """Make a device of the user's; undo takes it away unless it was probed. Returns its key."""
        file = self._with_free_id(file)
        entry = DeviceEntry(f"own:{next(self._numbers)}", file, is_user=True)
        put, take = partial(self._put, entry), partial(self._take_back, entry)
        self._undo_stack.push(UndoStep(f"Add {shown(entry.device.name)}", put, take))
        return entry.key

    def delete(self, key: str) -> None:
        """Delete a device of the user's; undo brings it back."""
        entry = self._user_devices.get(key)
        if entry is not None:
            put, take = partial(self._put, entry), partial(self._take, entry)
            self._undo_stack.push(UndoStep(f"Delete {shown(entry.device.name)}", take, put))

    def save(self, key: str, file: DeviceFile) -> None:
        """Store a device of the user's as it is now, under another id where that has changed."""
        entry = self._user_devices.get(key)
        if entry is not None:
            self._submit(
                lambda history: history.devices.save(file, replacing=entry.device.id),
                partial(self._on_saved, key),
            )

    def import_files(self, paths: Sequence[str]) -> None:
        """Make a device of each file; a wrong one is reported in a sentence and left out."""
        for path in paths:
            self._submit(
                # Bound now: the loop goes on before the store's thread calls it.
                lambda _, path=path: import_device(path, ()),  # type: ignore[misc]
                self._on_read,
            )

    def export(self, key: str, path: str) -> None:
        """Write a device's file."""
        entry = self.entry(key)
        if entry is not None:
            self._submit(
                lambda _: export_device(entry.file, path),
                lambda _: self.done.emit(f"Wrote {shown(entry.device.name)} to {shown(path)}"),
            )

    def _put(self, entry: DeviceEntry) -> None:
        """Store a device that the list has not, and show it."""
        file = self._with_free_id(entry.file, entry.key)
        self._submit(lambda history: history.devices.save(file), partial(self._on_put, entry.key))

    def keep(self, device_id: str) -> None:
        """Never take a device away by undo: it was measured, which took minutes."""
        self._retained.add(self.key_of(device_id))

    def _take_back(self, entry: DeviceEntry) -> None:
        """Undo an addition."""
        if entry.key in self._retained:
            name = shown(entry.device.name)
            self.done.emit(f"{name} stays: it was probed. Delete it in Devices")
        else:
            self._take(entry)

    def _take(self, entry: DeviceEntry) -> None:
        """Forget a device."""
        # It may have been saved since, also under another id.
        now = self._user_devices.get(entry.key, entry)
        self._submit(
            lambda history: history.devices.delete(now.device.id), lambda _: self._on_removed(now)
        )

    def _on_loaded(self, files: tuple[DeviceFile, ...]) -> None:
        keys = {entry.device.id: key for key, entry in self._user_devices.items()}
        for file in files:
            key = keys.get(file.device.id) or f"own:{next(self._numbers)}"
            self._user_devices[key] = DeviceEntry(key, file, is_user=True)
            if file.device.id in self._shipped.by_id:
                # A newer program ships a device under the id of this one.
                self.save(key, self._with_free_id(file))
        if files:
            self._emit_changes()

    def _with_free_id(self, file: DeviceFile, key: str = "") -> DeviceFile:
        identity = unused_id(file.device.id, self.used_ids(except_key=key))
        return replace(file, device=replace(file.device, id=identity))

    def _on_read(self, file: DeviceFile) -> None:
        for warning in file.warnings:
            self.done.emit(f"{shown(file.device.name)}: {shown(warning)}")
        self.add(file)

    def _on_put(self, key: str, file: DeviceFile) -> None:
        self._user_devices[key] = DeviceEntry(key, file, is_user=True)
        self._emit_changes()
        self.made.emit(key)

    def _on_saved(self, key: str, file: DeviceFile) -> None:
        before = self._user_devices[key].device.id
        self._user_devices[key] = DeviceEntry(key, file, is_user=True)
        if before != file.device.id:
            self.renamed.emit(before, file.device.id)
        self._emit_changes()
        self.done.emit(f"Saved {shown(file.device.name)}")

    def _on_removed(self, entry: DeviceEntry) -> None:
        self._user_devices.pop(entry.key, None)
        self._emit_changes()
        self.done.emit(f"Deleted {shown(entry.device.name)}; undo brings it back")

    def _emit_changes(self) -> None:
        self.changed.emit()
        self.catalogue_changed.emit(
            self._shipped.with_devices(entry.device for entry in self._user_devices.values())
        )


def _order(entry: DeviceEntry) -> str:
    return natural_key(entry.device.name)
