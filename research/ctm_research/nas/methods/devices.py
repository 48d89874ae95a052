"""The devices of a search space as targets of the network: HCV of the catalogue, and batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ctm_research.nas.spaces.space import DeviceFacts
from ctm_research.network.batch import TargetBatch
from ctm_research.paper.hcv import HcvEncoder
from predictor.core.metrics import Family
from predictor.core.records import Device
from predictor.devices.catalogue import load_device_files


@dataclass(frozen=True, slots=True, eq=False)
class DeviceEncoder:
    """Turns devices into vectors; the statistics are those of the train devices.

    Attributes:
        hcv: of metrics and batch.
    """

    hcv: HcvEncoder

    @classmethod
    def fit(cls, devices: Sequence[DeviceFacts]) -> DeviceEncoder:
        """Fit on train devices.

        Raises:
            InputError: there is none.
        """
        return cls(HcvEncoder.fit([_device(d) for d in devices], [_batch(d) for d in devices]))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the M columns."""
        return self.hcv.names

    def encode(self, devices: Sequence[DeviceFacts]) -> TargetBatch:
        """Return D targets."""
        return self.hcv.encode([_device(d) for d in devices], [_batch(d) for d in devices])


def _device(facts: DeviceFacts) -> Device:
    """Return the device; of one that the catalogue does not have, nothing is known."""
    if not facts.device_id:
        return Device(id=facts.name, name=facts.name, vendor="", family=Family.GPU, metrics={})
    return _catalogue()[facts.device_id]


@cache
def _catalogue() -> dict[str, Device]:
    return {file.device.id: file.device for file in load_device_files()}


def _batch(facts: DeviceFacts) -> dict[str, float]:
    return {"batch": float(facts.batch)}
