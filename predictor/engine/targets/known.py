"""Devices as they were first asked about: what is remembered of them serves their copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from predictor.core.records import Device, Target

_DEVICES: Final = 4096


class KnownDevices:
    """The last devices by their ids: a copy with equal facts is taken for the first of them.

    Copies arise where a device is read, sent or unpickled again. To compare their facts takes some
    microseconds, to look a target up a hundred times as long.
    """

    def __init__(self) -> None:
        """Know none."""
        self._by_id: dict[str, Device] = {}

    def first(self, targets: Sequence[Target]) -> Sequence[Target]:
        """Return the targets with the first of equal devices."""
        devices = [self._first(target.device) for target in targets]
        return [
            target if target.device is device else Target(device, target.configuration)
            for target, device in zip(targets, devices, strict=True)
        ]

    def _first(self, device: Device) -> Device:
        first = self._by_id.get(device.id)
        if first is device or first == device:
            return first
        while len(self._by_id) >= _DEVICES:
            self._by_id.pop(next(iter(self._by_id)), None)
        self._by_id[device.id] = device
        return device
