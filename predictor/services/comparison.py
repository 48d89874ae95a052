"""The devices that a comparison starts with when the user names none."""

from __future__ import annotations

from predictor.core.records import Device
from predictor.services.catalogue import Catalogue

# A cross-section from a board to a server card, one that many engineers can relate to per class.
DEFAULT_DEVICE_IDS = (
    "rpi4",
    "rpi5",
    "jetson-orin-nano-gpu",
    "snapdragon-8-gen-3",
    "core-i7-1165g7",
    "rtx3060",
    "rtx4090",
    "a100-pcie-40gb",
)


def default_devices(catalogue: Catalogue) -> tuple[Device, ...]:
    """Return the default cross-section, as far as the catalogue has it."""
    return tuple(catalogue.by_id[name] for name in DEFAULT_DEVICE_IDS if name in catalogue.by_id)
