"""Prices an hour of cards, as a user states them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from predictor.core.errors import InputError

_OPTION: Final = "--price-per-hour"


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices an hour of one card, in any currency.

    Attributes:
        usual: of devices without a price of their own; 0 where none is stated.
        of_device: by the device's id.
    """

    usual: float = 0.0
    of_device: Mapping[str, float] = field(default_factory=dict)

    def of(self, device_id: str) -> float:
        """Return the price of a device, 0 where none is stated."""
        return self.of_device.get(device_id, self.usual)


def stated_prices(
    texts: Sequence[str], device_id: Callable[[str], str], max_cost: float | None
) -> Prices:
    """Return the prices of texts such as ``2.5`` and ``h100-sxm=2.5``.

    Args:
        texts: as they were stated.
        device_id: returns the id of a device by a name.
        max_cost: limit that needs a price.

    Raises:
        InputError: one is no price, of no device or stated twice, or the limit has none.
    """
    usual, of_device = 0.0, dict[str, float]()
    for text in texts:
        name, _, value = text.rpartition("=")
        price = _price(text, value)
        key = device_id(name) if name else ""
        if key in of_device or (not name and usual):
            raise InputError(f"{_OPTION} {text}", "it is stated twice", "leave one out")
        if name:
            of_device[key] = price
        else:
            usual = price
    if max_cost and not usual and not of_device:
        raise InputError("--max-cost", "no price is stated", f"add {_OPTION} 2.5")
    return Prices(usual, of_device)


def _price(text: str, value: str) -> float:
    try:
        price = float(value)
    except ValueError:
        price = math.nan
    if not 0 < price < math.inf:
        raise InputError(
            f"{_OPTION} {text}",
            f"{value!r} is no price over 0",
            "write 2.5, or h100-sxm=2.5 for one device",
        )
    return price
