"""The devices that a user can choose, and the search for one by a few typed letters."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Final

from predictor.core.errors import CtmError, InputError
from predictor.core.files import is_there
from predictor.core.records import Device
from predictor.devices.catalogue import THIS_ID, THIS_MACHINE_ID, shipped_devices
from predictor.devices.schema import read_device

# A cross-section from a board to a server card, one that many engineers can relate to per class.
DEFAULT_DEVICE_IDS: Final = (
    "rpi4",
    "rpi5",
    "jetson-orin-nano-gpu",
    "snapdragon-8-gen-3",
    "core-i7-1165g7",
    "rtx3060",
    "rtx4090",
    "a100-pcie-40gb",
)

_MAX_NAMES = 8
_SUGGESTED = 3
# difflib's own default refuses "a100x" for "a100-pcie-40gb"; a suggestion costs nothing.
_NEARNESS = 0.4
_THIS_MACHINE = frozenset(
    (
        *(THIS_ID, "thispc", "thismachine", "thiscomputer"),
        *("mypc", "mymachine", "mycomputer"),
    )
)
_CHOOSE = "name one device, or run `ctm devices list`"

ThisMachine = Callable[[Device | None], Device]


def _stored_or_detected(stored: Device | None) -> Device:
    """Return this machine as the user stored it, else as its system states it."""
    if stored is not None:
        return stored
    from predictor.services.devices.this_machine import (  # noqa: PLC0415 - most starts need none
        describe_this_machine,
    )

    return describe_this_machine()


class Catalogue:
    """Devices by id, sorted by id, with search and look-up.

    Args:
        devices: devices with unique ids.
        user_devices: reads the user's devices; called by ``find`` where no id of ``devices`` is
            named, so that the store is not opened for shipped ones.
        this_machine: gets this machine as the user stored it, or None, and returns it.
    """

    def __init__(
        self,
        devices: Iterable[Device],
        user_devices: Callable[[], Iterable[Device]] = tuple,
        this_machine: ThisMachine = _stored_or_detected,
    ) -> None:
        self._user_devices, self._this_machine = user_devices, this_machine
        self.devices: tuple[Device, ...] = tuple(sorted(devices, key=lambda device: device.id))
        self.by_id: Mapping[str, Device] = MappingProxyType({d.id: d for d in self.devices})
        if len(self.by_id) != len(self.devices):
            raise ValueError("two devices have one id")

    # Of these two most starts need neither.
    @cached_property
    def _keys(self) -> tuple[tuple[str, str], ...]:
        return tuple((_squash(d.id), _squash(d.name)) for d in self.devices)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(
            f"{d.id} {d.name} {d.vendor} {d.family.value} {d.system}".casefold()
            for d in self.devices
        )

    @property
    def cross_section(self) -> tuple[Device, ...]:
        """The default devices of a comparison, as far as they are in the catalogue."""
        return tuple(self.by_id[name] for name in DEFAULT_DEVICE_IDS if name in self.by_id)

    def find(self, text: str) -> Device:
        """Return the one device that ``text`` means.

        Args:
            text: an id, a name or a part of either that only one device has (case, spaces and
                punctuation do not count), ``this`` or ``this PC`` for this machine, or the path of
                a device file.

        Raises:
            InputError: when no device or more than one fits, with the nearest names; or when the
                device file is wrong.
            CtmError: when no shipped device fits and the user's cannot be read.
        """
        if text in self.by_id:
            return self.by_id[text]
        if means_this_machine(text):
            return self._this_machine(self._stored_machine())
        # Only a path with a separator: a file that is called rpi5 by chance hides no device.
        if text.casefold().endswith(".json") or (os.sep in text and is_there(text)):
            return read_device(text).device
        try:
            user_devices = tuple(self._user_devices())
        except CtmError as unreadable:
            # A shipped device is found also where the store is damaged or locked.
            try:
                return self._find_by_part(text)
            except InputError as no_match:
                raise unreadable from no_match
        device = (
            self.with_devices(user_devices).find(text) if user_devices else self._find_by_part(text)
        )
        return self._this_machine(device) if device.id == THIS_MACHINE_ID else device

    def _stored_machine(self) -> Device | None:
        try:
            return next(
                (device for device in self._user_devices() if device.id == THIS_MACHINE_ID), None
            )
        except CtmError:  # what this machine is does not depend on the store
            return None

    def with_devices(self, more: Iterable[Device]) -> Catalogue:
        """Return a catalogue with further devices; one whose id is in use gets a number added.

        That happens when a later version ships a device under the id of one of the user's.
        """
        from predictor.services.devices.user_devices import (  # noqa: PLC0415 - as above
            with_unused_ids,
        )

        return Catalogue((*self.devices, *with_unused_ids(more, self.by_id)))

    def search(self, words: str) -> tuple[Device, ...]:
        """Return the devices in which every one of the ``words`` occurs, in order of id.

        Id, name, vendor, family and system are searched; no word finds every device.
        """
        wanted = words.casefold().split()
        if not wanted:  # as at each start of the window
            return self.devices
        return tuple(
            device
            for device, text in zip(self.devices, self._words, strict=True)
            if all(word in text for word in wanted)
        )

    def _find_by_part(self, text: str) -> Device:
        wanted = _squash(text)
        if not wanted:
            raise InputError(text or "device", "names no device", _CHOOSE)
        pairs = tuple(zip(self.devices, self._keys, strict=True))
        # From the strictest match to the loosest; the plus of a "Model B+" counts in the first.
        fitting = (
            [device for device in self.devices if device.name.casefold() == text.casefold()]
            or [device for device, keys in pairs if wanted in keys]
            or [device for device, keys in pairs if any(wanted in key for key in keys)]
            or list(self.search(text))
        )
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise InputError(text, f"fits {len(fitting)} devices: {_names_text(fitting)}", _CHOOSE)
        nearest = self._nearest(wanted)
        hint = f"did you mean {' or '.join(nearest)}? {_CHOOSE}" if nearest else _CHOOSE
        raise InputError(text, "is no device of the catalogue", hint)

    def _nearest(self, wanted: str) -> list[str]:
        """Return the ids of the devices whose id or name is most like ``wanted``, best first."""
        scores: list[tuple[float, str]] = []
        # The second sequence is the one that is cached; autojunk is meant for long texts.
        matcher = difflib.SequenceMatcher(b=wanted, autojunk=False)
        for device, keys in zip(self.devices, self._keys, strict=True):
            best = 0.0
            for key in keys:
                matcher.set_seq1(key)
                # An upper bound of ratio(), which is quadratic in the lengths.
                if matcher.quick_ratio() > best:
                    best = max(best, matcher.ratio())
            scores.append((-best, device.id))
        return [name for score, name in sorted(scores)[:_SUGGESTED] if -score >= _NEARNESS]


def load_catalogue(
    user_devices: Callable[[], Iterable[Device]] = tuple,
    this_machine: ThisMachine = _stored_or_detected,
) -> Catalogue:
    """Load the shipped devices.

    Args:
        user_devices: reads the user's devices, which ``Catalogue.find`` finds too.
        this_machine: as ``Catalogue`` takes it.

    Raises:
        InputError: when a shipped file is damaged.
    """
    return Catalogue(shipped_devices(), user_devices, this_machine)


def means_this_machine(text: str) -> bool:
    """Whether a device's text means this machine: ``this``, ``this PC``, ``my computer``."""
    return _squash(text) in _THIS_MACHINE


def _squash(text: str) -> str:
    """Return the letters and digits of ``text`` in lower case: "RTX 3090" is "rtx3090"."""
    return "".join(character for character in text.casefold() if character.isalnum())


def _names_text(devices: list[Device]) -> str:
    names = [device.id for device in devices[:_MAX_NAMES]]
    rest = len(devices) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")
