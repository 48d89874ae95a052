"""The devices that a user can choose, and the search for one by a few typed letters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Final, NamedTuple

from predictor.core.errors import CtmError, InputError
from predictor.core.files import is_there
from predictor.core.records import Device
from predictor.devices.catalogue import (
    THIS_ID,
    THIS_MACHINE_ID,
    ShippedDevices,
    plugin_devices,
)
from predictor.devices.schema import read_device
from predictor.services.devices import products as product_table
from predictor.services.devices.products import Product, Unit
from predictor.services.devices.this_machine import describe_this_machine
from predictor.services.devices.user_devices import with_unused_ids

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

# Of this machine for a search, beside its name.
MACHINE_WORDS: Final = " this my pc machine computer"

_MAX_NAMES = 8
_SUGGESTED = 3
# difflib's own default refuses "a100x" for "a100-pcie-40gb"; a suggestion costs nothing.
_NEARNESS = 0.4
_THIS_MACHINE = frozenset(
    (
        THIS_ID,
        "thispc",
        "thismachine",
        "thiscomputer",
        "mypc",
        "mymachine",
        "mycomputer",
    )
)
_CHOOSE = "name one device, or run `ctm devices list`"

ThisMachine = Callable[[Device | None], Device]


class Match(NamedTuple):
    """A device that a text names, or a product with the devices of its chip, CPU first."""

    devices: tuple[Device, ...]
    product: Product | None = None


def _stored_or_detected(stored: Device | None) -> Device:
    """Return this machine as the user stored it, else as its system states it."""
    if stored is not None:
        return stored
    return describe_this_machine()


class Catalogue:
    """Devices by id, sorted by id, with search and look-up.

    Args:
        devices: devices with unique ids; by id, sorted, where not all of them are read yet.
        user_devices: reads the user's devices; called by ``find`` where no id of ``devices`` is
            named, so that the store is not opened for shipped ones.
        this_machine: gets this machine as the user stored it, or None, and returns it.
        products: reads the products; called where no device is named, so that most starts do not.
        machine_id: of the one of ``devices`` that is this machine; empty where none is.
        plugin_devices: reads the devices of plug-ins, where ``user_devices`` are read.
    """

    def __init__(
        self,
        devices: Iterable[Device] | ShippedDevices,
        user_devices: Callable[[], Iterable[Device]] = tuple,
        this_machine: ThisMachine = _stored_or_detected,
        products: Callable[[], Sequence[Product]] = product_table.shipped_products,
        machine_id: str = "",
        plugin_devices: Callable[[], Iterable[Device]] = tuple,
    ) -> None:
        self._plugin_devices = plugin_devices
        self._user_devices, self._this_machine = user_devices, this_machine
        self._products, self.machine_id = products, machine_id
        self.by_id: Mapping[str, Device] = (
            devices if isinstance(devices, ShippedDevices) else _by_id(devices)
        )

    # Of these three a start that names a device by its id needs none.
    @cached_property
    def devices(self) -> tuple[Device, ...]:
        """All devices, sorted by id."""
        return tuple(self.by_id.values())

    @cached_property
    def _keys(self) -> tuple[tuple[str, str], ...]:
        return tuple((_squash(d.id), _squash(d.name)) for d in self.devices)

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(
            f"{d.id} {d.name} {d.vendor} {d.family.value} {d.system}"
            f"{MACHINE_WORDS if d.id == self.machine_id else ''}".casefold()
            for d in self.devices
        )

    @property
    def machine(self) -> Device | None:
        """This machine; None where it is none of the devices."""
        return self.by_id.get(self.machine_id)

    @property
    def cross_section(self) -> tuple[Device, ...]:
        """The default devices of a comparison, as far as they are in the catalogue."""
        return tuple(self.by_id[name] for name in DEFAULT_DEVICE_IDS if name in self.by_id)

    def find(self, text: str) -> Device:
        """Return the one device that ``text`` means, as ``match`` takes it.

        Raises:
            InputError: as ``match``, and when ``text`` is a product with several devices.
            CtmError: as ``match``.
        """
        devices, product = self.match(text)
        if product is not None and len(devices) > 1:
            raise InputError(
                text,
                f"the {product.name} is {len(devices)} devices: {_names_text(devices)}",
                "name one of them",
            )
        return devices[0]

    def stored(self, identity: str) -> Device:
        """Return the device of an id that the store has.

        Raises:
            InputError: there is no such device, also where a part of another's name fits the id.
            CtmError: as ``match``.
        """
        device = self.find(identity)
        if device.id != identity:
            raise InputError(identity, "is no device of the catalogue", _CHOOSE)
        return device

    def match(self, text: str) -> Match:
        """Return the device or the product that ``text`` means.

        Args:
            text: an id, a name or a part of either that only one device has (case, spaces and
                punctuation do not count), ``this`` or ``this PC`` for this machine, or the path of
                a device file; where it means no device: a product by its name, a model number or
                words that only one has, with "CPU", "GPU" or "NPU" after it for one unit.

        Raises:
            InputError: when nothing or more than one fits, with the nearest names; when the
                catalogue has no device of the product; or when the device file is wrong.
            CtmError: when no shipped device fits and the user's cannot be read.
        """
        if (device := self._direct(text)) is not None:
            return Match((device,))
        try:
            user_devices = (*self._user_devices(), *self._plugin_devices())
        except CtmError as unreadable:
            # A shipped device is found also where the store is damaged or locked.
            try:
                return self._match_by_part(text)
            except InputError as no_match:
                raise unreadable from no_match
        if not user_devices:
            return self._match_by_part(text)
        match = self.with_devices(user_devices).match(text)
        if match.devices[0].id == THIS_MACHINE_ID:
            return Match((self._this_machine(match.devices[0]),))
        return match

    def _direct(self, text: str) -> Device | None:
        """Return the device of an id, a file or this machine; None for another text."""
        if text in self.by_id:
            return self.by_id[text]
        if means_this_machine(text):
            return self._this_machine(self._stored_machine())
        # Only a path with a separator: a file that is called rpi5 by chance hides no device.
        if text.casefold().endswith(".json") or (os.sep in text and is_there(text)):
            return read_device(text).device
        return None

    def products(self, words: str = "") -> tuple[Match, ...]:
        """Return the products in which every one of the ``words`` begins a word, newest first.

        Those that have all in name, maker and kind ("phone") come first. Model numbers, year and
        chip are searched too; no word finds all products. One whose chip the catalogue lacks has
        no devices.

        Raises:
            InputError: when the table of products is damaged.
        """
        return tuple(
            Match(product_table.devices_of(product, self.by_id), product)
            for product in product_table.search_products(words, self._products())
        )

    def _stored_machine(self) -> Device | None:
        try:
            return next(
                (device for device in self._user_devices() if device.id == THIS_MACHINE_ID), None
            )
        except CtmError:  # what this machine is does not depend on the store
            return None

    def with_devices(self, more: Iterable[Device], machine_id: str = "") -> Catalogue:
        """Return a catalogue with further devices; one whose id is in use gets a number added.

        That happens when a later version ships a device under the id of one of the user's.

        Args:
            more: the devices.
            machine_id: of the one that is this machine; empty where none is.
        """
        devices = (*self.devices, *with_unused_ids(more, self.by_id))
        return Catalogue(devices, products=self._products, machine_id=machine_id)

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

    def _match_by_part(self, text: str) -> Match:
        wanted = _squash(text)
        if not wanted:
            raise InputError(text or "device", "names no device", _CHOOSE)
        # From the strictest match to the loosest; the plus of a "Model B+" counts in the first.
        exact = [
            device for device in self.devices if device.name.casefold() == text.casefold()
        ] or [
            device for device, keys in zip(self.devices, self._keys, strict=True) if wanted in keys
        ]
        if len(exact) == 1:
            return Match((exact[0],))
        name, unit = product_table.split_unit(text)
        if products := product_table.exact_products(name, self._products()):
            return self._product(text, products, unit)
        fitting = exact or self._fitting(text, wanted)
        if len(fitting) == 1:
            return Match((fitting[0],))
        if fitting:
            reason = f"fits {len(fitting)} devices: {_names_text(fitting)}"
            if products := product_table.titled_products(name, self._products()):
                reason += f", and {product_table.products_text(products)}"
            raise InputError(text, reason, _CHOOSE)
        if products := product_table.search_products(name, self._products()):
            return self._product(text, products, unit)
        raise self._no_match(text, wanted)

    def _fitting(self, text: str, wanted: str) -> list[Device]:
        """Return the devices that have a part or all words of a text."""
        return [
            device
            for device, keys in zip(self.devices, self._keys, strict=True)
            if any(wanted in key for key in keys)
        ] or list(self.search(text))

    def _product(self, text: str, products: Sequence[Product], unit: Unit | None) -> Match:
        """Return the devices of the products that a text means, all of one chip, or of its unit."""
        product = products[0]
        if any(other.chip != product.chip for other in products):
            raise product_table.several_error(text, products)
        devices = product_table.devices_of(product, self.by_id, unit)
        if not devices:
            raise product_table.no_device_error(text, product, unit)
        return Match(devices, product)

    def _no_match(self, text: str, wanted: str) -> InputError:
        """Return the error of a text without a match, with the devices and products nearest it."""
        nearest = _nearest(
            wanted,
            [
                *zip((device.id for device in self.devices), self._keys, strict=True),
                *((product.name, product.keys) for product in self._products()),
            ],
        )
        hint = f"did you mean {' or '.join(nearest)}? {_CHOOSE}" if nearest else _CHOOSE
        return InputError(text, "is no device of the catalogue", hint)


def _by_id(devices: Iterable[Device]) -> Mapping[str, Device]:
    """Return devices by id, sorted.

    Raises:
        ValueError: two have one id.
    """
    ordered = sorted(devices, key=lambda device: device.id)
    by_id = {device.id: device for device in ordered}
    if len(by_id) != len(ordered):
        raise ValueError("two devices have one id")
    return MappingProxyType(by_id)


def load_catalogue(
    user_devices: Callable[[], Iterable[Device]] = tuple,
    this_machine: ThisMachine = _stored_or_detected,
) -> Catalogue:
    """Return the shipped devices, read where they are first used.

    Args:
        user_devices: reads the user's devices, which ``Catalogue.find`` finds too.
        this_machine: as ``Catalogue`` takes it.

    Raises:
        InputError: when their folder cannot be read; from a look-up, when a file is damaged.
    """
    return Catalogue(ShippedDevices(), user_devices, this_machine, plugin_devices=plugin_devices)


def means_this_machine(text: str) -> bool:
    """Whether a device's text means this machine: ``this``, ``this PC``, ``my computer``."""
    return _squash(text) in _THIS_MACHINE


def _squash(text: str) -> str:
    """Return the letters and digits of ``text`` in lower case: "RTX 3090" is "rtx3090"."""
    return "".join(character for character in text.casefold() if character.isalnum())


def _nearest(wanted: str, names: Iterable[tuple[str, Iterable[str]]]) -> list[str]:
    """Return the names of which a key is most like ``wanted``, best first.

    Args:
        wanted: letters and digits in lower case.
        names: pairs of a name and its keys.
    """
    import difflib  # noqa: PLC0415  # 3 ms that a name which fits does not wait for

    scores: dict[str, float] = {}
    # The second sequence is the one that is cached; autojunk is meant for long texts.
    matcher = difflib.SequenceMatcher(b=wanted, autojunk=False)
    for name, keys in names:
        for key in keys:
            matcher.set_seq1(key)
            limit = max(scores.get(name, 0.0), _NEARNESS)
            # Upper bounds of ratio(), which is quadratic in the lengths.
            if matcher.real_quick_ratio() >= limit and matcher.quick_ratio() >= limit:
                scores[name] = max(scores.get(name, 0.0), matcher.ratio())
    close = [(-score, name) for name, score in scores.items() if score >= _NEARNESS]
    return [name for _, name in sorted(close)[:_SUGGESTED]]


def _names_text(devices: Sequence[Device]) -> str:
    names = [device.id for device in devices[:_MAX_NAMES]]
    rest = len(devices) - len(names)
    return ", ".join(names) + (f" and {rest} more" if rest else "")
