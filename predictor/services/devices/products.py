"""Products by the name on the box, and the devices of their chips.

``resources/products/products.csv`` has a row for each product and chip that it is sold with,
``chips.csv`` the devices of each chip.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path
from string import punctuation
from typing import Final

from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.core.resources import resources_dir
from predictor.core.text import plural

NO_UNIT: Final = "-"  # of a chip that has no such unit; an empty cell: the catalogue lacks it
_MAX_NAMES = 5
_BETWEEN_WORDS: Final = {**dict.fromkeys(map(ord, f"{punctuation}–—·’"), " "), ord("+"): " plus "}


class ProductKind(StrEnum):
    """Kinds of products, as a user would call them."""

    PHONE = "phone"
    TABLET = "tablet"
    LAPTOP = "laptop"
    DESKTOP = "desktop"
    MINI_PC = "mini PC"
    HANDHELD = "handheld"
    BOARD = "board"
    KIT = "kit"
    ACCELERATOR = "accelerator"


class Unit(StrEnum):
    """Compute units of a chip, by the words that a user adds to a product."""

    CPU = "CPU"
    GPU = "GPU"
    NPU = "NPU"


@dataclass(frozen=True, kw_only=True)
class Product:
    """One product that is sold, and its chip.

    Attributes:
        name: on the box, without its maker.
        aliases: model numbers and further names.
        maker: company that sells it.
        kind: of product.
        year: of release.
        chip: name of its system on chip, processor or accelerator.
        region: where it has this chip, of a product that is sold with several; else empty.
        source: public page that states the chip.
        device_ids: of the units of its chip; an empty id for one that the catalogue lacks.
    """

    name: str
    aliases: tuple[str, ...]
    maker: str
    kind: ProductKind
    year: int
    chip: str
    region: str
    source: str
    device_ids: Mapping[Unit, str]

    @cached_property
    def keys(self) -> frozenset[str]:
        """Names that mean this product alone, as ``squashed`` writes them."""
        names = (self.name, f"{self.maker} {self.name}", *self.aliases)
        return frozenset(map(squashed, names))

    @cached_property
    def name_words(self) -> frozenset[str]:
        """Words of the name."""
        return frozenset(words_of(self.name))

    @cached_property
    def title(self) -> str:
        """Words of name, maker and kind, each with a space before it."""
        return _spaced(f"{self.name} {self.maker} {self.kind}")

    @cached_property
    def text(self) -> str:
        """All words that a search looks at, each with a space before it."""
        parts = (self.maker, self.name, self.kind, str(self.year), self.chip, self.region)
        return _spaced(" ".join((*parts, *self.aliases)))


@lru_cache(maxsize=1)
def shipped_products() -> tuple[Product, ...]:
    """Return the shipped products, the newest first, those of a year by name.

    Raises:
        InputError: when a table is damaged.
    """
    folder = resources_dir() / "products"
    chips = {row["chip"]: _units(row) for row in _rows(folder / "chips.csv")}
    path = folder / "products.csv"
    try:
        products = [_product(row, chips) for row in _rows(path)]
    except (LookupError, ValueError, AttributeError) as error:
        raise _damaged(path) from error
    return tuple(sorted(products, key=lambda product: (-product.year, product.name.casefold())))


def search_products(words: str, products: Iterable[Product]) -> tuple[Product, ...]:
    """Return the products in which every one of the ``words`` begins a word.

    Those that have all in name, maker and kind come first, else the order is that of ``products``.
    Year, chip, region and aliases are searched too; no word finds every product.
    """
    wanted = [f" {word}" for word in words_of(words)]
    matches = [p for p in products if all(word in p.text for word in wanted)]
    return tuple(sorted(matches, key=lambda p: not _is_titled(p, words)))


def titled_products(words: str, products: Iterable[Product]) -> tuple[Product, ...]:
    """Return the products that have all ``words`` in name, maker and kind, in their order."""
    return tuple(p for p in products if _is_titled(p, words))


def exact_products(text: str, products: Sequence[Product]) -> tuple[Product, ...]:
    """Return the products that ``text`` names, else those whose name and more it states.

    "Galaxy S22 Exynos" states the name of a product and its chip.
    """
    key, wanted = squashed(text), set(words_of(text))
    # Every key is a part of the text, which is made sooner than the keys.
    likely = [p for p in products if key in p.text.replace(" ", "")]
    return tuple(p for p in likely if key in p.keys) or search_products(
        text, (p for p in products if p.name_words <= wanted)
    )


def split_unit(text: str) -> tuple[str, Unit | None]:
    """Return ``text`` without the unit that it ends with, and that unit: "rock 5b npu"."""
    name, _, last = text.rstrip(" )").rpartition(" ")
    unit = last.strip("(").upper()
    return (name, Unit(unit)) if name and unit in list(Unit) else (text, None)


def squashed(text: str) -> str:
    """Return the words of ``text`` as one: "Galaxy S23+" is "galaxys23plus"."""
    return "".join(words_of(text))


def words_of(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, a plus sign as a word."""
    return text.casefold().translate(_BETWEEN_WORDS).split()


def _is_titled(product: Product, words: str) -> bool:
    return all(f" {word}" in product.title for word in words_of(words))


def _spaced(text: str) -> str:
    return " " + " ".join(words_of(text))


def several_error(text: str, products: Sequence[Product]) -> InputError:
    """Return the error of a text that several products have, which says what differs in them."""
    first = products[0]
    if all(product.name == first.name for product in products):
        chips = " and ".join(
            f"{product.chip} ({product.region})" if product.region else product.chip
            for product in products
        )
        return InputError(
            text,
            f"the {first.name} is sold with {chips}",
            f'add the chip, such as "{first.name} {first.chip}"',
        )
    reason = f"fits {products_text(products)}"
    return InputError(text, reason, "name one of them, or run `ctm devices products`")


def products_text(products: Sequence[Product]) -> str:
    """Return how many products there are by name, and the names of the first."""
    names = list(dict.fromkeys(product.name for product in products))
    rest = len(names) - _MAX_NAMES
    more = f" and {rest} more" if rest > 0 else ""
    return f"{plural(len(names), 'product')}: {', '.join(names[:_MAX_NAMES])}{more}"


def devices_of(
    product: Product, by_id: Mapping[str, Device], unit: Unit | None = None
) -> tuple[Device, ...]:
    """Return the devices of a product that are in a catalogue, CPU first, or that of one unit."""
    ids = [id_ for name, id_ in product.device_ids.items() if unit in {None, name}]
    return tuple(by_id[id_] for id_ in ids if id_ in by_id)


def no_device_error(text: str, product: Product, unit: Unit | None) -> InputError:
    """Return the error of a product, or a unit of it, without a device in the catalogue."""
    chip = f"the {product.name} is built on the {product.chip}"
    if unit is not None and unit not in product.device_ids:
        return InputError(text, f"{chip}, which has no {unit}", "name another unit")
    lacking = (
        f"whose {unit} the catalogue does not have" if unit else "which the catalogue does not have"
    )
    return InputError(
        text, f"{chip}, {lacking}", "name another device, or describe it in a device file"
    )


def product_sentence(product: Product, devices: Sequence[Device]) -> str:
    """Return which devices stand for a product, and which units the catalogue lacks.

    Args:
        product: that a user named.
        devices: that it led to.
    """
    ids = [device.id for device in devices]
    is_all = len(ids) == sum(map(bool, product.device_ids.values()))
    lacking = [name for name, id_ in product.device_ids.items() if is_all and not id_]
    rest = f"; the catalogue does not have its {' and '.join(lacking)}" if lacking else ""
    return f"The {product.name} has the {product.chip}: {', '.join(ids)}{rest}."


def product_entry(product: Product, devices: Sequence[Device]) -> dict[str, object]:
    """Return a product's entry of ``ctm devices products --json``.

    Args:
        product: the product.
        devices: of its chip, that are in the catalogue.
    """
    return {
        "name": product.name,
        "aliases": list(product.aliases),
        "maker": product.maker,
        "kind": product.kind.value,
        "year": product.year,
        "chip": product.chip,
        "region": product.region,
        "devices": [device.id for device in devices],
        "source": product.source,
    }


def _units(row: Mapping[str, str]) -> dict[Unit, str]:
    cells = {unit: row[unit.lower()] for unit in Unit}
    return {unit: cell for unit, cell in cells.items() if cell != NO_UNIT}


def _product(row: Mapping[str, str], chips: Mapping[str, Mapping[Unit, str]]) -> Product:
    return Product(
        name=row["name"],
        aliases=tuple(row["aliases"].split(";")) if row["aliases"] else (),
        maker=row["maker"],
        kind=ProductKind(row["kind"]),
        year=int(row["year"]),
        chip=row["chip"],
        region=row["region"],
        source=row["source"],
        device_ids=chips[row["chip"]],
    )


def _rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table by its header."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        return [dict(zip(header, row, strict=True)) for row in rows]
    except (OSError, ValueError, csv.Error) as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> InputError:
    return InputError(str(path), "is no table of products", "install the program again")
