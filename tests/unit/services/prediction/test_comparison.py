from __future__ import annotations

from predictor.services.devices.catalogue import Catalogue, load_catalogue
from predictor.services.prediction.comparison import DEFAULT_DEVICE_IDS, default_devices


def test_every_default_device_is_in_the_catalogue() -> None:
    devices = default_devices(load_catalogue())

    assert tuple(device.id for device in devices) == DEFAULT_DEVICE_IDS
    assert len({device.family for device in devices}) >= 3, "a cross-section of classes"


def test_a_catalogue_without_them_gives_none() -> None:
    assert default_devices(Catalogue([])) == ()
