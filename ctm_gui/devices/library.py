"""The devices of the window: this machine, the user's own as the store has them, shipped ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from ctm_gui.tasks.store_client import StoreClient, StoreRunner
from ctm_gui.undo import UndoStep
from ctm_gui.widgets.ordering import natural_key, stable_order, text_ranks
from predictor.core.metrics import Family
from predictor.core.records import Configuration, Device, Precision
from predictor.devices.catalogue import THIS_MACHINE_ID, plugin_devices
from predictor.devices.schema import DeviceFile
from predictor.presentation.wording import shown
from predictor.services.devices.catalogue import Catalogue
from predictor.services.devices.this_machine import is_this_machine
from predictor.services.devices.user_devices import (
    copy_of,
    export_device,
    import_device,
    unused_id,
    with_unused_ids,
)

# ``--device this`` and its like mean this machine.
RESERVED_IDS = frozenset({"this"})


@dataclass(frozen=True, slots=True)
class DeviceEntry:
    """One device of the list.

    Attributes:
        key: its identity in this session; its id may change, its key does not.
        file: the device, with the fields of other versions of its file.
        is_user: whether it is the user's; those that ship and those of plug-ins cannot be changed.
        stored_id: its id in the store; empty where that has it not, as this machine until the user
            changes it. Another machine's description has a different id while this one stands in
            its place.
    """

    key: str
    file: DeviceFile
    is_user: bool
    stored_id: str = ""

    @property
    def device(self) -> Device:
        """The device itself."""
        return self.file.device


class DeviceLibrary(StoreClient):
    """This machine, own and shipped devices. A change is shown once the store has it.

    ``changed`` is emitted when the entries change; ``catalogue_changed`` gives the Catalogue of
    all; ``made`` the key of a device that the user has just made or brought back; ``renamed`` an
    old and a new id; ``saved`` the id of a device that the user saved.

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
    saved = Signal(str)

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
        self._new_keys: set[str] = set()
        self._user_devices: dict[str, DeviceEntry] = {}
        self._plugin_devices: tuple[Device, ...] = ()
        self._detected: DeviceEntry | None = None
        self._numbers = itertools.count(1)
        self._sources: object = None
        self._listing: dict[str, DeviceEntry] = {}

    @cached_property
    def _shipped_entries(self) -> tuple[DeviceEntry, ...]:
        # Sorted at their first use: the first frame shows none of them.
        devices = self._shipped.devices
        order = stable_order(text_ranks([device.name for device in devices]))  # a key each is slow
        entries = [DeviceEntry(d.id, DeviceFile(d), is_user=False) for d in devices]
        return tuple(entries[place] for place in order)

    @property
    def entries(self) -> tuple[DeviceEntry, ...]:
        """This machine, the user's devices, those of plug-ins, the shipped ones, all by name."""
        return tuple(self._by_key.values())

    @property
    def _by_key(self) -> dict[str, DeviceEntry]:
        """The entries in their order; a form asks for one forty times at each letter."""
        sources = (tuple(self._user_devices.values()), self._plugin_devices, self._detected)
        if sources != self._sources:
            self._sources = sources
            self._listing = {entry.key: entry for entry in self._sorted_entries()}
        return self._listing

    def _sorted_entries(self) -> Iterator[DeviceEntry]:
        machine, devices = self.machine, dict(self._user_devices)
        if machine is not None:
            devices.pop(machine.key, None)
            yield machine
        yield from sorted(devices.values(), key=_order)
        yield from self._plugin_entries
        yield from self._shipped_entries

    @property
    def _plugin_entries(self) -> list[DeviceEntry]:
        """The devices of plug-ins; one whose id the user has gets another, as ``ctm`` lists it."""
        used = {entry.device.id for entry in self._user_devices.values()}
        devices = with_unused_ids(self._plugin_devices, used | self._shipped.by_id.keys())
        return sorted(
            (DeviceEntry(d.id, DeviceFile(d), is_user=False) for d in devices), key=_order
        )

    @property
    def machine(self) -> DeviceEntry | None:
        """This machine: as the user stored it, else as detected; None before it is described."""
        stored = (e for e in self._user_devices.values() if e.stored_id == THIS_MACHINE_ID)
        described = (entry for entry in stored if self._is_machine(entry.device))
        return next(described, self._detected)

    def set_machine(self, machine: Device) -> None:
        """Show this machine as it was detected; a stored description of it stands instead."""
        key = self._new_key() if self._detected is None else self._detected.key
        file = DeviceFile(machine)
        self._detected = DeviceEntry(key, file, is_user=True)
        self._emit_changes()

    def entry(self, key: str) -> DeviceEntry | None:
        """Return the entry of a key; None where it was deleted."""
        return self._by_key.get(key)

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
        """Read the user's devices from the store, as they are there, and those of plug-ins."""
        self._submit(lambda _: plugin_devices(), self._on_plugins)
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
        key = self.add(DeviceFile(device))
        self._new_keys.add(key)
        return key

    def is_new(self, key: str) -> bool:
        """Whether a device was made in this session and never saved since."""
        return key in self._new_keys

    def duplicate(self, key: str, file: DeviceFile | None = None) -> None:
        """Make a copy of a device, or of ``file``, its unsaved state in the form."""
        entry = self.entry(key)
        if entry is not None:
            self.add(copy_of(file or entry.file, self.used_ids()))

    def add(self, file: DeviceFile) -> str:
        """Make a device of the user's; undo takes it away unless it was probed. Returns its key."""
        file = self._with_free_id(file)
        entry = DeviceEntry(self._new_key(), file, is_user=True)
        put, take = partial(self._put, entry), partial(self._take_back, entry)
        self._undo_stack.push(
            UndoStep(f"Add {shown(entry.device.name)}", put, take, page="devices")
        )
        return entry.key

    def delete(self, key: str) -> None:
        """Delete a device of the user's; undo brings it back."""
        entry = self._user_devices.get(key)
        if entry is not None:
            put, take = partial(self._put, entry), partial(self._take, entry)
            self._undo_stack.push(
                UndoStep(f"Delete {shown(entry.device.name)}", take, put, page="devices")
            )

    def save(self, key: str, file: DeviceFile, words: str = "") -> None:
        """Store a device of the user's as it is now, under another id where that has changed.

        Args:
            key: of the device.
            file: it as it is now.
            words: the sentence on it once it is stored; empty for the usual one.
        """
        entry = self.entry(key)
        if entry is not None and entry.is_user:
            self._keep_displaced(file)
            self._submit(
                lambda history: history.devices.save(file, replacing=entry.stored_id or None),
                partial(self._on_saved, entry, words),
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
        self._keep_displaced(file)
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
        stored_id = now.stored_id or now.device.id
        self._submit(
            lambda history: history.devices.delete(stored_id), lambda _: self._on_removed(now)
        )

    def _on_plugins(self, devices: tuple[Device, ...]) -> None:
        if devices != self._plugin_devices:
            self._plugin_devices = devices
            self._emit_changes()

    def _on_loaded(self, files: tuple[DeviceFile, ...]) -> None:
        keys = {entry.stored_id: key for key, entry in self._user_devices.items()}
        for file in files:
            key = keys.get(file.device.id) or self._new_key()
            self._user_devices[key] = _stored(key, file)
            if file.device.id in self._shipped.by_id:
                # A newer program ships a device under the id of this one.
                self.save(key, self._with_free_id(file))
        if files:
            self._emit_changes()

    def _with_free_id(self, file: DeviceFile, key: str = "") -> DeviceFile:
        used = self.used_ids(except_key=key)
        if self.machine is self._detected and self._is_machine(file.device):
            # A description of this machine takes the place of the detected one.
            used.discard(THIS_MACHINE_ID)
        return _with_id(file, unused_id(file.device.id, used))

    def _is_machine(self, device: Device) -> bool:
        """Whether a description of a machine is of this one, as far as that is clear yet."""
        return self._detected is None or is_this_machine(device, self._detected.device)

    def _keep_displaced(self, file: DeviceFile) -> None:
        """Store another machine's description under its present id: its former one is needed."""
        for entry in self._user_devices.values():
            if entry.stored_id == file.device.id != entry.device.id:
                self.save(entry.key, entry.file)

    def _displace_machines(self) -> None:
        """Give another machine's description another id: predictions of this one use the usual."""
        for key, entry in self._user_devices.items():
            if entry.device.id == THIS_MACHINE_ID and not self._is_machine(entry.device):
                identity = unused_id(THIS_MACHINE_ID, self.used_ids())
                self._user_devices[key] = replace(entry, file=_with_id(entry.file, identity))

    def _new_key(self) -> str:
        return f"own:{next(self._numbers)}"

    def _on_read(self, file: DeviceFile) -> None:
        for warning in file.warnings:
            self.done.emit(f"{shown(file.device.name)}: {shown(warning)}")
        self.add(file)

    def _on_put(self, key: str, file: DeviceFile) -> None:
        self._user_devices[key] = _stored(key, file)
        self._emit_changes()
        self.made.emit(key)

    def _on_saved(self, before: DeviceEntry, words: str, file: DeviceFile) -> None:
        key = before.key
        self._new_keys.discard(key)
        if self._detected is not None and key == self._detected.key:
            self._detected = replace(self._detected, key=self._new_key())
        self._user_devices[key] = _stored(key, file)
        if before.device.id != file.device.id:
            self.renamed.emit(before.device.id, file.device.id)
        self._emit_changes()
        self.done.emit(words or f"Saved {shown(file.device.name)}")
        if not words:
            self.saved.emit(file.device.id)

    def _on_removed(self, entry: DeviceEntry) -> None:
        self._user_devices.pop(entry.key, None)
        self._emit_changes()
        self.done.emit(f"Deleted {shown(entry.device.name)}; undo brings it back")

    def _emit_changes(self) -> None:
        self._displace_machines()
        self.changed.emit()
        machine = self.machine
        user = [entry for entry in self.entries if entry.is_user]
        devices = [entry.device for entry in (*user, *self._plugin_entries)]
        machine_id = "" if machine is None else machine.device.id
        self.catalogue_changed.emit(self._shipped.with_devices(devices, machine_id))


def _stored(key: str, file: DeviceFile) -> DeviceEntry:
    return DeviceEntry(key, file, is_user=True, stored_id=file.device.id)


def _with_id(file: DeviceFile, identity: str) -> DeviceFile:
    return replace(file, device=replace(file.device, id=identity))


def _order(entry: DeviceEntry) -> str:
    return natural_key(entry.device.name)
