"""Products by the name on the box, which stand for the devices of their chips."""

from __future__ import annotations

from typing import NamedTuple

from predictor.core.errors import InputError
from predictor.core.records import Device
from predictor.services.devices.catalogue import Catalogue

MAX_PRODUCTS = 40


class ProductMatch(NamedTuple):
    """One product of a search.

    Attributes:
        title: its name and chip, which distinguishes products of one name.
        sentence: on the devices that stand for it.
        units: names and devices of the units of its chip, CPU first; none where the catalogue lacks
            it.
    """

    title: str
    sentence: str
    units: tuple[tuple[str, Device], ...]


def find_products(catalogue: Catalogue, query: str) -> tuple[list[ProductMatch], int]:
    """Return the products of a search, the newest first, and how many more there are.

    Those that the catalogue lacks come last. Without words there are none.
    """
    if not query.strip():
        return [], 0
    # Loaded after the first frame: it takes about 10 ms.
    from predictor.services.devices.products import product_sentence

    try:
        matches = sorted(catalogue.products(query), key=lambda match: not match.devices)
    except InputError:  # the table is damaged, which is reported where it is read first
        return [], 0
    products = []
    for devices, product in matches[:MAX_PRODUCTS]:
        if product is None:
            continue
        region = f", {product.region}" if product.region else ""
        title = f"{product.name} ({product.chip}{region})"
        sentence = product_sentence(product, devices)
        if not devices:
            title += " · not in the catalogue"
            sentence = f"The catalogue does not have the {product.chip}."
        names = {identity: unit.value for unit, identity in product.device_ids.items()}
        units = tuple((names[device.id], device) for device in devices)
        products.append(ProductMatch(title, f"{sentence}\n{product.maker}, {product.year}", units))
    return products, max(0, len(matches) - MAX_PRODUCTS)
