"""The list of all devices: this machine, the user's own, products with their units, the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ctm_gui.devices.library import DeviceEntry
from ctm_gui.widgets.grid import Column, Grid, search_mask
from ctm_gui.widgets.ordering import BoolArray, natural_key, text_ranks
from predictor.core.errors import InputError
from predictor.presentation.metric_labels import FAMILY_WORDS
from predictor.presentation.wording import shown
from predictor.services.devices.catalogue import MACHINE_WORDS
from predictor.services.devices.products import (
    Product,
    search_products,
    shipped_products,
    split_unit,
)
from predictor.services.devices.this_machine import machine_title


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A row of the list.

    Attributes:
        entry: the device; of a product the first of its units.
        products: that are sold with it, the newest first.
        is_product: whether it is the row of the products, over those of their units.
        unit: name of the unit, under the row of its products; else empty.
    """

    entry: DeviceEntry
    products: tuple[Product, ...] = ()
    is_product: bool = False
    unit: str = ""


def device_rows(entries: Sequence[DeviceEntry]) -> list[DeviceRow]:
    """Return the rows of devices: the user's as they come, products, then the rest.

    A product with one unit in the catalogue is that device, which its names find too.
    """
    user_rows = [DeviceRow(entry) for entry in entries if entry.is_user]
    shipped = {entry.device.id: entry for entry in entries if not entry.is_user}
    groups = [_group(products, shipped) for products in _products_by_units(shipped)]
    several = sorted((g for g in groups if len(g) > 1), key=lambda g: natural_key(title_of(g[0])))
    grouped = {row.entry.device.id for group in several for row in group}
    single = {group[0].entry.device.id: group[0] for group in groups if len(group) == 1}
    rest = [single.get(id_, DeviceRow(e)) for id_, e in shipped.items() if id_ not in grouped]
    return [*user_rows, *(row for group in several for row in group), *rest]


def _products_by_units(shipped: Mapping[str, DeviceEntry]) -> list[list[Product]]:
    """Return the products whose units the same devices stand for, the newest first."""
    by_units: dict[tuple[str, ...], list[Product]] = {}
    try:
        products = shipped_products()
    except InputError:  # the table is damaged, which is reported where it is read first
        return []
    for product in products:
        ids = tuple(id_ for id_ in product.device_ids.values() if id_ in shipped)
        by_units.setdefault(ids, []).append(product)
    by_units.pop((), None)
    return list(by_units.values())


def _group(products: Sequence[Product], shipped: Mapping[str, DeviceEntry]) -> list[DeviceRow]:
    """Return the row of products of the same units and those of these; one row of one unit."""
    units = [(unit, shipped[id_]) for unit, id_ in products[0].device_ids.items() if id_ in shipped]
    sold = tuple(products)
    if len(units) == 1:
        return [DeviceRow(units[0][1], sold)]
    rows = [DeviceRow(entry, sold, unit=unit.value) for unit, entry in units]
    return [DeviceRow(rows[0].entry, sold, is_product=True), *rows]


def title_of(row: DeviceRow, searched: str = "") -> str:
    """Return the name of the newest product, of those searched for, how many more, and its chip."""
    matches = search_products(searched, row.products) if searched else row.products
    first = (matches or row.products)[0]
    more = len({product.name for product in row.products}) - 1
    also = f" and {more} more" if more else ""
    return f"{first.name}{also} ({first.chip})"


class DevicesGrid(Grid):
    """A row for each device and for each product: name, owner, number of known metrics.

    The units of a product stand under it. Sorted by a column, the devices stand alone.

    Args:
        entries: the devices, in the order before any sorting.
        is_modified: whether a key's device has something that is not saved.
        machine: the entry of this machine; None before it is described.
    """

    def __init__(
        self,
        entries: Sequence[DeviceEntry],
        is_modified: Callable[[str], bool],
        machine: DeviceEntry | None = None,
    ) -> None:
        self.rows, self._machine = device_rows(entries), machine
        self._names = [self._name(row.entry, is_modified(row.entry.key)) for row in self.rows]
        # A unit of several products stands under each, and counts once.
        counted: set[str] = set()
        self._is_device = np.zeros(len(self.rows), dtype=np.bool_)
        for n, row in enumerate(self.rows):
            self._is_device[n] = not row.is_product and row.entry.key not in counted
            counted |= set() if row.is_product else {row.entry.key}
        self._searched_for = ""
        self._matches: BoolArray = np.ones(len(self.rows), dtype=np.bool_)
        columns = (
            Column(
                key="name",
                title="Device",
                text=self._text,
                sort_keys=lambda: text_ranks(self._names),
                help="This PC, then devices of your own, stand first, then products with their "
                "units; edited: not saved yet.",
            ),
            Column(
                key="facts",
                title="Facts",
                numeric=True,
                text=lambda row: "" if self.rows[row].is_product else str(self._facts[row]),
                sort_keys=lambda: np.array(self._facts, dtype=np.float64),
                help="How many hardware metrics are known.",
            ),
        )
        self._facts = [len(row.entry.device.metrics) for row in self.rows]
        super().__init__(len(self.rows), columns)

    @property
    def counts(self) -> tuple[int, int]:
        """The number of devices that are shown, and of all."""
        return int(self._is_device[self.order].sum()), int(self._is_device.sum())

    @cached_property
    def search_texts(self) -> Sequence[str]:
        """Every word of the devices that a search may be for."""
        return [
            f"{_searched(row)}{MACHINE_WORDS if self._is_machine(row.entry) else ''}"
            for row in self.rows
        ]

    def search(self, words: str) -> BoolArray:
        """Return a mask of the rows that hold every word, and of their products, bool [N].

        The name of a product, and its unit after it, finds the devices of its chip.
        """
        name, unit = split_unit(words)
        self._searched_for = name if unit else words
        if not words.strip():  # as after each change of the library: the words are not read
            return np.ones(len(self.rows), dtype=np.bool_)
        mask = search_mask(self.search_texts, words)
        product, is_named = 0, False
        for row, of in enumerate(self.rows):
            if of.is_product or not of.unit:
                product, mask[row] = row, mask[row] and not of.is_product
                is_named = bool(search_products(self._searched_for, of.products))
            mask[row] |= is_named and not of.is_product and unit in {None, of.unit}
            mask[product] |= mask[row]
        return mask

    def show_only(self, visible: BoolArray) -> None:
        """Show the rows where ``visible`` (bool [N]) is true, in the present order."""
        self._matches = visible
        super().show_only(self._visible_now())

    def sort(self, column: int | None, *, descending: bool = False) -> None:
        """Sort the devices by a column; None for the order with products."""
        super().sort(column, descending=descending)
        super().show_only(self._visible_now())

    def row_of(self, key: str) -> int | None:
        """Return the row of a device; None where it is not there."""
        rows = (n for n, row in enumerate(self.rows) if row.entry.key == key and not row.is_product)
        return next(rows, None)

    def _visible_now(self) -> BoolArray:
        return self._matches if self.sort_column is None else self._matches & self._is_device

    def _is_machine(self, entry: DeviceEntry) -> bool:
        return self._machine is not None and entry.key == self._machine.key

    def _name(self, entry: DeviceEntry, modified: bool) -> str:
        is_machine = self._is_machine(entry)
        name = shown(machine_title(entry.device) if is_machine else entry.device.name)
        if modified:
            return f"{name} · edited"
        return f"{name} · own" if entry.stored_id else name

    def _text(self, row: int) -> str:
        """Return a product's title, a unit under it, or a device's name."""
        of = self.rows[row]
        if of.is_product:
            return title_of(of, self._searched_for)
        name = self._names[row]
        if not of.unit or self.sort_column is not None:
            return name
        short = name.removeprefix(f"{of.entry.device.vendor} ").replace(f" ({of.unit})", "")
        return f"      {of.unit}: {short}"


def _searched(row: DeviceRow) -> str:
    return " ".join(_words(row)).casefold()


def _words(row: DeviceRow) -> Iterator[str]:
    device = row.entry.device
    yield from (device.id, device.name, device.vendor, device.family.value, device.system)
    yield from (device.chip, device.architecture, *(c.architecture for c in device.clusters))
    yield from (FAMILY_WORDS[device.family], "own" if row.entry.is_user else "shipped")
