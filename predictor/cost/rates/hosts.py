"""The pace of a chip's host: how many operators it starts in a time.

A framework that starts one operator after the other runs on one core of the host: a start takes as
many instructions everywhere, so its time falls with the clock and with the instructions that the
core decodes in a clock.
"""

from __future__ import annotations

import math
from typing import Final

from predictor.core.records import Device
from predictor.devices.architectures import architectures

_DESKTOP_GHZ: Final = 5.5
_DESKTOP_WIDTH: Final = 6.0
_USUAL_WIDTH: Final = 4.0  # of a host whose design is not known


def host_clock_ghz(device: Device) -> float | None:
    """Return the highest clock of the host, None where it is not stated."""
    return device.metric("host_clock_ghz")


def host_pace(device: Device) -> float:
    """Return how many starts the host makes while a current desktop makes one.

    1 where the clock of the host is not known. Half of the instructions that a wide core could
    decode find nothing to do, hence the root.
    """
    clock_ghz = host_clock_ghz(device)
    if clock_ghz is None:
        return 1.0
    design = architectures().get(device.host_architecture)
    width = _USUAL_WIDTH if design is None else design.numbers.get("decode_width", _USUAL_WIDTH)
    return clock_ghz * math.sqrt(width) / (_DESKTOP_GHZ * math.sqrt(_DESKTOP_WIDTH))
